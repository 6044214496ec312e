# SPDX-License-Identifier: MIT
"""What distributions ask of every file that is installed."""
import re
import shutil

import pytest

import build
import elf
import installed

STUBS = [build.stub_name(library) for library in build.STUBBED]
NEEDED = {"libc.so.6", "libdl.so.2", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    return installed.install(tmp_path_factory.mktemp("hardened"), "COMPAT=11,12,13", prefix="/usr")


def everything(tree):
    """Every ELF file but the import libraries, which nobody loads."""
    return [tree.prefix / "bin" / "lazycuda", *sorted(tree.libdir.glob("*.so")),
            *sorted(tree.libdir.glob("lazycuda/compat*/*"))]


def test_nothing_was_left_out(tree):
    assert len(everything(tree)) == 1 + 6 + 8


def test_full_relro_and_immediate_binding(tree):
    for path in everything(tree):
        dynamic = elf.dynamic(path)
        assert "GNU_RELRO" in elf.segments(path), path
        assert "BIND_NOW" in dynamic.get("FLAGS", [""])[0] or "NOW" in dynamic.get(
            "FLAGS_1", [""])[0], path


def test_no_executable_stack_and_no_writable_code(tree):
    for path in everything(tree):
        assert elf.segments(path)["GNU_STACK"] == "RW", path
        assert "RWE" not in re.findall(r"LOAD .* (R[W ]E) ", elf.readelf("-l", path)), path


def test_no_run_path_and_no_text_relocation(tree):
    for path in everything(tree):
        assert not {"RPATH", "RUNPATH", "TEXTREL"} & set(elf.dynamic(path)), path


def test_the_command_is_position_independent(tree):
    assert "DYN" in elf.readelf("-h", tree.prefix / "bin" / "lazycuda")


def test_only_libc_is_needed(tree):
    for path in everything(tree):
        own = {f"{name}" for name in (*STUBS, "liblazycuda_link.so")}
        allowed = NEEDED if path.name.startswith(("libcuda", "libnv")) else NEEDED | own
        assert set(elf.dynamic(path)["NEEDED"]) <= allowed, path


def test_one_constructor_at_most(tree):
    # A stub has one of its own; the compiler's frame_dummy and __do_global_dtors_aux are one each.
    for path in everything(tree):
        if path.name == "lazycuda":
            continue
        dynamic = elf.dynamic(path)
        for tag in ("INIT_ARRAYSZ", "FINI_ARRAYSZ"):
            assert int(dynamic.get(tag, ["0 (bytes)"])[0].split()[0]) <= 8, (path, tag)
        assert "PREINIT_ARRAY" not in dynamic


def test_import_libraries_need_nothing_and_have_no_executable_stack(tree):
    found = sorted(tree.libdir.glob("lazycuda/cuda*/*.so"))
    assert len(found) == 8 + 2 * 3
    for path in found:
        assert not {"NEEDED", "RPATH", "RUNPATH", "INIT_ARRAY"} & set(elf.dynamic(path))
        assert elf.segments(path)["GNU_STACK"] == "RW"


# ---- landing pads ----

def entries(stub, tools=""):
    """{name: first instruction} of every exported function"""
    text = build.output(f"{tools}objdump", "-d", "--no-show-raw-insn", stub)
    first, address = {}, None
    for line in text.splitlines():
        head = re.match(r"([0-9a-f]+) <.*>:$", line)
        if head:
            address = int(head[1], 16)
        elif address is not None and "\t" in line:
            first.setdefault(address, line.split("\t", 1)[1].strip())
            address = None
    found = {}
    for symbol in elf.exports(stub):
        if symbol.name != "lazycuda_stub_1":      # data
            found[f"{symbol.name}@{symbol.node}"] = first.get(symbol.address, "nothing")
    return found


def check_pads(folder, pad, tools=""):
    paths = [*(folder / name for name in STUBS), *folder.glob("compat*/*")]
    assert len(paths) > 3
    for path in paths:
        without = {name: code for name, code in entries(path, tools).items()
                   if not re.match(pad, code)}
        assert without == {}, path


@pytest.mark.skipif(build.ARCH != "x86_64", reason="CET is of x86-64")
def test_every_entry_has_a_landing_pad_for_cet():
    if not shutil.which("gcc"):
        pytest.skip("there is no gcc")
    folder = build.BUILD / "tests" / "cet"
    build.make(build.made_at(folder), "CC=gcc", "CFLAGS=-O2 -fcf-protection=full", "COMPAT=12")
    check_pads(folder / "lib", "endbr64")
    # The linker says so of a library if all objects do, and the C library's have to.
    for path in sorted((folder / "obj").rglob("*.o")):
        said = build.run("readelf", "-nW", path).stdout
        assert re.search(r"x86 feature: IBT, SHSTK", said), path


def test_every_entry_has_a_landing_pad_for_bti():
    if not shutil.which("aarch64-linux-gnu-gcc"):
        pytest.skip("there is no aarch64-linux-gnu-gcc")
    folder = build.BUILD / "tests" / "bti"
    build.make(build.made_at(folder), "CC=aarch64-linux-gnu-gcc",
               "CFLAGS=-O2 -mbranch-protection=standard", "COMPAT=12")
    check_pads(folder / "lib", r"bti\s+(c|j|jc)|paciasp|hint\s+#(34|36|38|0x22)",
               "aarch64-linux-gnu-")


@pytest.mark.skipif(build.ARCH != "x86_64", reason="CET is of x86-64")
def test_distributions_flags_are_kept():
    # What Debian builds with; the entries leave out what has no place in a jump.
    folder = build.BUILD / "tests" / "debian"
    flags = "-O2 -g -fstack-protector-strong -D_FORTIFY_SOURCE=2 -Wformat -Werror=format-security"
    build.make(build.made_at(folder), f"CFLAGS={flags}", "LDFLAGS=-Wl,-z,relro -Wl,-z,now")
    used = {s.name for s in elf.imports(folder / "lib" / "libcudart_stub.so")}
    assert "__stack_chk_fail" in used and any(name.endswith("_chk") for name in used)


def test_another_libc_is_refused_by_name():
    """The first of what make compiles says so; what lacks there says nothing to a user."""
    done = build.run(*build.CC, "-ffreestanding", "-fsyntax-only", "-x", "c",
                     build.ROOT / "stubs" / "entry" / "stub.h")
    assert done.returncode and "lazycuda needs glibc" in done.stderr, done
