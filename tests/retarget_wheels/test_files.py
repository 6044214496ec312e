# SPDX-License-Identifier: MIT
"""`lazycuda retarget FILE`: what it makes of each kind of file."""
import filecmp
import importlib
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

import build
import elf
from importer import importer, patch, real
from world import World


def module(folder, soname="libcudart.so.12", node="libcudart.so.12", names=("cudaMalloc",), **more):
    return importer(folder, *names, link=[real(folder, soname, *names, node=node)],
                    **more)


def nodes(file):
    """{file that a version need names: its nodes}"""
    found, current = {}, None
    for line in elf.readelf("-V", file).partition("Version needs section")[2].splitlines():
        if "File: " in line:
            current = line.split("File: ")[1].split()[0]
        elif "Name: " in line:
            found.setdefault(current, []).append(line.split("Name: ")[1].split()[0])
    return found


@pytest.mark.parametrize("soname, node", [
    ("libcudart.so.12", "libcudart.so.12"),
    # As auditwheel renames, and as others do.
    ("libcudart-09529672.so.12.6.77", "libcudart.so.12"),
    ("libcudart.782fcab0.so.11.0", "libcudart.so.11.0")])
def test_the_need_and_the_version_need_are_replaced(retarget, tmp_path, soname, node):
    file = module(tmp_path, soname, node)
    before = file.read_bytes(), file.stat().st_mtime_ns
    # Each of these means something in LD_LIBRARY_PATH.
    (tmp_path / "of:a;$LIB").mkdir()
    said, = retarget(file, env={"TMPDIR": str(tmp_path / "of:a;$LIB")}).files
    assert said["outcome"] == "retargeted" and said["loaded"] is True
    assert (file.read_bytes(), file.stat().st_mtime_ns) == before
    assert said["replaced"] == [{"library": "cudart", "needed": soname,
                                 "stub": "libcudart_stub.so", "imports": 1, "first": False}]
    made = retarget.out / "module.so"
    assert elf.dynamic(made)["NEEDED"] == ["libcudart_stub.so", "libc.so.6"]
    assert nodes(made)["libcudart_stub.so"] == [node] and soname not in nodes(made)
    assert said["output"] == str(made)
    # BFD tools see what the dynamic linker sees.
    assert {(s.name, s.node) for s in elf.imports(made)} >= {("cudaMalloc", node)}


def test_a_node_of_an_older_minor(retarget, tmp_path):
    file = importer(tmp_path, "nvrtcVersion", link=[
        real(tmp_path, "libnvrtc.so.11.1", "nvrtcVersion", node="libnvrtc.so.11.1")])
    said, = retarget(file).files
    assert said["replaced"][0]["stub"] == "libnvrtc_stub.so" and said["loaded"]


@pytest.mark.parametrize("renamed", [False, True])
def test_a_version_need_without_the_library(retarget, tmp_path, renamed):
    """onnxruntime-gpu 1.15.1: ld.so wants that name among the loaded objects.  Or the library has
    another name: auditwheel and patchelf of an age renamed one and not the other."""
    file = patch(module(tmp_path), "--remove-needed", "libcudart.so.12")
    if renamed:
        shutil.copy(tmp_path / "libcudart.so.12", tmp_path / "libcudart-00c0ffee.so.12.1")
        patch(file, "--add-needed", "libcudart-00c0ffee.so.12.1")
    said, = retarget(file).files
    made = retarget.out / "module.so"
    assert [name for name in elf.dynamic(made)["NEEDED"] if "cudart" in name] == ["libcudart_stub.so"]
    assert set(nodes(made)) - {"libc.so.6"} == {"libcudart_stub.so"} and said["loaded"]
    assert renamed or "has a version need of libcudart.so.12 but no DT_NEEDED" in said["notes"][0]


def test_imports_without_a_version(retarget, tmp_path):
    file = module(tmp_path, node=None)
    said, = retarget(file).files
    assert "imports without a version (cudaMalloc)" in said["notes"][0] and said["loaded"]


@pytest.mark.parametrize("name, node, code", [
    ("cudaMemAdvise", None, "UNVERSIONED"), ("cudaOfTomorrow", None, "NO_NAME"),
    ("cudaOfTomorrow", "libcudart.so.12", "NO_NAME")])
def test_an_import_that_the_stub_does_not_serve_is_refused(retarget, tmp_path, name, node, code):
    said, = retarget("--only", "cudart", module(tmp_path, node=node, names=[name]), status=1).files
    assert said["code"] == code and name in said["error"]
    assert not list(retarget.out.iterdir())


def test_nvrtcs_builtins_are_not_nvrtc(retarget, tmp_path):
    builtins = "libnvrtc-builtins-a1d5fce3.so.12.6.85"
    file = importer(tmp_path, "nvrtcVersion", link=[
        real(tmp_path, "libnvrtc-d7c32a86.so.12.6.85", "nvrtcVersion", node="libnvrtc.so.12"),
        real(tmp_path, builtins, "getBuiltins")])
    said, = retarget(file).files
    assert said["needed_removed"] == [builtins] and said["loaded"]
    assert [name for name in elf.dynamic(retarget.out / "module.so")["NEEDED"]
            if "nvrtc" in name] == ["libnvrtc_stub.so"]


def test_builtins_alone_are_left(retarget, tmp_path):
    file = importer(tmp_path, link=[real(tmp_path, "libnvrtc-builtins.so.12.6", "getBuiltins")])
    assert retarget(file).files[0]["outcome"] == "nothing"


@pytest.mark.parametrize("soname, why", [
    ("libcudart-1b201d85.so.10.1.243", "alone, and not of libcudart-1b201d85.so.10.1.243"),
    ("libcudart.so.14", "its stub is of libcudart.so.13, ")])
def test_a_major_that_the_stubs_do_not_stand_for(retarget, tmp_path, soname, why):
    file = module(tmp_path, soname, "libcudart.so." + soname.split(".so.")[1])
    said, = retarget(file).files
    assert said["outcome"] == "nothing" and soname in said["libraries"][0]["needed"]
    assert why in said["libraries"][0]["reasons"][0]
    retarget("--strict", file, status=1)


def test_what_ends_like_a_library_of_cuda_is_none(retarget, tmp_path):
    file = importer(tmp_path, "mine", link=[
        real(tmp_path, "my_cuda.so", "mine", node=None)])
    assert not retarget("--strict", file).files[0]["libraries"]


def test_a_library_to_leave_may_have_any_number(retarget, tmp_path):
    assert not retarget("--leave", "libcudart.so.10.2", module(tmp_path)).files[0]["replaced"]


def test_a_static_runtime_with_a_table_of_sections_and_without(retarget, tmp_path):
    file = importer(tmp_path, link=[], text="/cudart.shm.%x.%x.%llx")
    assert "linked statically" in retarget(file).files[0]["notes"][0]
    head = bytearray(file.read_bytes())
    head[40:48], head[58:64] = bytes(8), bytes(6)       # where it is, and how much is in it
    file.write_bytes(head)
    said, = retarget(file).files
    assert said["outcome"] == "nothing" and "linked statically" in said["notes"][0]


def test_what_has_nothing_to_do_with_cuda(retarget, tmp_path):
    file = importer(tmp_path, link=[])
    assert retarget(file).files[0]["outcome"] == "nothing"
    assert (retarget.out / file.name).read_bytes() == file.read_bytes()


def test_the_second_time_there_is_nothing_to_do(retarget, tmp_path):
    retarget("--in-place", module(tmp_path))
    before = (tmp_path / "module.so").read_bytes()
    said, = retarget("--in-place", tmp_path / "module.so").files
    assert said["outcome"] == "already" and (tmp_path / "module.so").read_bytes() == before


def test_a_real_library_itself_is_refused(retarget, tmp_path):
    library = real(tmp_path, "libcudart.so.12", "cudaMalloc", node="libcudart.so.12")
    assert retarget(library, status=1).files[0]["code"] == "LIBRARY"


def test_a_program(retarget, tmp_path):
    library = real(tmp_path, "libcudart.so.12", "cudaDeviceReset", node="libcudart.so.12")
    program = build.program(build.text("int cudaDeviceReset(void);\nint main(void) { return cudaDeviceReset() != 303; }\n",
                                       "c"), library, name="program")
    said, = retarget("--bundle", program).files
    assert said["loaded"] and said["added"] == ["libcudart_stub.so"]
    World(tmp_path).run(retarget.out / "program")


def test_stubs_are_without_symbols_for_a_debugger(retarget, tmp_path, plain):
    """As strip(1) makes them: for nm, patchelf, auditwheel and gdb they are what they were."""
    whole = build.stub("cudart")
    assert ".symtab" in elf.readelf("-S", whole)
    said, = retarget("--bundle", plain).files
    beside = retarget.out / whole.name
    assert any("symbols and debug information of libcudart_stub.so are" in note for note in said["notes"])
    dynamic = [build.output("nm", "-D", "--with-symbol-versions", path) for path in (beside, whole)]
    assert dynamic[0] == dynamic[1] and ".symtab" not in elf.readelf("-S", beside)
    assert beside.stat().st_size <= whole.stat().st_size / 3
    # What has none is copied as it is, and nothing is said.
    bare = tmp_path / "bare"
    bare.mkdir()
    shutil.copy(beside, bare)
    said, = retarget("--bundle", "--stubs", bare, plain).files
    assert not said["notes"] and filecmp.cmp(beside, bare / whole.name, shallow=False)
    patch(beside, "--set-rpath", "$ORIGIN/a/path/that/needs/more/room/than/there/was")
    assert build.output("nm", "-D", "--with-symbol-versions", beside) == dynamic[0]


# Where it looks for the stubs.

OLD = "$ORIGIN/../nvidia/lib:/opt/there"


@pytest.mark.parametrize("words, flags, kind, path", [
    (["--bundle"], ["--force-rpath", "--set-rpath", OLD], "RPATH", f"$ORIGIN:{OLD}"),
    (["--bundle"], ["--set-rpath", OLD], "RUNPATH", f"$ORIGIN:{OLD}"),
    # Where there was none it is of the kind that auditwheel makes.
    (["--bundle"], [], "RPATH", "$ORIGIN"), ([], ["--set-rpath", OLD], "RUNPATH", OLD)])
def test_bundled_stubs_come_first_and_the_old_path_stays(retarget, tmp_path, words, flags, kind, path):
    file = module(tmp_path)
    if flags:
        patch(file, *flags)
    retarget(*words, file)
    assert elf.dynamic(retarget.out / "module.so")[kind] == [path]
    assert {path.name for path in retarget.out.iterdir()} == {"module.so", *(["libcudart_stub.so"] if words else [])}
    assert not words or (retarget.out / "libcudart_stub.so").exists()


# How it is written.

def test_in_place_the_mode_stays_and_a_link_stays_one(retarget, tmp_path):
    file = module(tmp_path)
    file.chmod(0o550)
    (tmp_path / "links").mkdir()
    link = tmp_path / "links" / "link.so"
    link.symlink_to("../module.so")
    retarget("--in-place", link)
    assert link.is_symlink() and file.stat().st_mode & 0o777 == 0o550
    assert "libcudart_stub.so" in elf.dynamic(file)["NEEDED"]


def test_it_refuses_to_overwrite_the_input(retarget, tmp_path):
    file = module(tmp_path)
    done = retarget("-o", tmp_path, file, status=2)
    assert "--in-place" in done.err and "libcudart.so.12" in elf.dynamic(file)["NEEDED"]


def test_one_refusal_and_nothing_is_written(retarget, tmp_path):
    good, other = module(tmp_path), tmp_path / "other"
    other.mkdir()
    bad = module(other, names=["cudaOfTomorrow"], name="bad.so")
    done = retarget("--in-place", "--only", "cudart", good, bad, status=1)
    assert [file["outcome"] for file in done.files] == ["retargeted", "refused"]
    assert "libcudart.so.12" in elf.dynamic(good)["NEEDED"] and done.files[0]["output"] is None
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".lazycuda")]


@pytest.mark.parametrize("arguments", [
    ["--in-place", "-o", ".", "module.so"], ["--in-place", "--build-tag", "1", "module.so"],
    ["-o", ".", "--stubs-in", "../x", "a.whl"], ["-o", ".", "--build-tag", "x-1", "a.whl"],
    ["-o", ".", "a/x.so", "b/x.so"], ["nothing.so"], ["."]])
def test_wrong_usage(retarget, tmp_path, arguments):
    assert retarget(*arguments, status=2, json_wanted=False).err


@pytest.mark.parametrize("content, word", [
    (b"", "is empty"), (b"text\n", "is not an ELF file"), (b"\177ELF" + bytes(60), "64-bit")])
def test_what_is_not_an_elf_file(retarget, tmp_path, content, word):
    (tmp_path / "x.so").write_bytes(content)
    said, = retarget(tmp_path / "x.so", status=2).files
    assert said["code"] == "UNREADABLE" and word in said["error"]


def test_nothing_in_a_file_is_trusted(retarget, tmp_path):
    # Whatever is cut off or overwritten: a typed answer, no traceback.
    good = module(tmp_path).read_bytes()
    bad = tmp_path / "bad.so"
    for at in range(16, 64 * 14, 24):
        data = bytearray(good)
        data[at:at + 8] = b"\xff" * 8
        bad.write_bytes(data)
        check_answer(bad)
    for size in range(64, len(good), len(good) // 20):
        bad.write_bytes(good[:size])
        check_answer(bad)


def check_answer(file):
    """Decides in this process, for it is asked often."""
    repoint, reader = inside("repoint"), inside("elf")
    stubs = repoint.read_stubs(build.STUBS, (), [])
    try:
        repoint.look(reader.read(file), stubs, {})
    except (reader.ElfError, repoint.Refused) as refused:
        assert str(refused)


def inside(name):
    """A module of it."""
    return importlib.import_module(f"lazycuda.{name}")


def test_functions_are_bound_when_it_is_loaded_not_only_variables(tmp_path):
    # What the decision before lets through none of, ld.so has to find by itself.
    source = tmp_path / "call.c"
    source.write_text("void cudaOfTomorrow(void); void call(void) { cudaOfTomorrow(); }")
    library = real(tmp_path, "libcudart.so.12", "cudaOfTomorrow", node="libcudart.so.12")
    build.output(*build.CC, "-shared", "-fPIC", "-o", tmp_path / "call.so", source, library)
    inside("repoint").read_stubs(build.STUBS, (), [])       # which says what is ours
    stub = pathlib.Path(shutil.copy(build.stub("cudart"), tmp_path))
    patch(tmp_path / "call.so", "--replace-needed", "libcudart.so.12", stub.name)
    with pytest.raises(inside("repoint").Refused, match="cudaOfTomorrow"):
        inside("load").check(tmp_path / "call.so", {"cudart"}, {stub.name}, tmp_path, ["."])


@pytest.mark.parametrize("number, machine, says", [
    (183, "aarch64", ("--platform manylinux2014_aarch64", "--stubs DIR/lazycuda/lib")),
    (243, "machine 243", ("lazycuda has none for machine 243",))])
def test_a_file_for_another_machine_says_which_stubs_it_wants(retarget, tmp_path, number, machine,
                                                              says):
    data = bytearray(module(tmp_path).read_bytes())
    data[18:20] = number.to_bytes(2, "little")
    (tmp_path / "arm.so").write_bytes(data)
    said, = retarget(tmp_path / "arm.so", status=1).files
    assert said["code"] == "MACHINE" and f"is for {machine}, and" in said["error"]
    assert all(each in said["error"] for each in says)


def test_text_output(retarget, tmp_path):
    done = retarget(module(tmp_path), json_wanted=False)
    assert done.out.splitlines()[:2] == [
        f"{tmp_path}/module.so: written to {retarget.out}/module.so",
        "    libcudart.so.12 -> libcudart_stub.so (1 name)"]


@pytest.fixture
def command(world):
    """Runs the command in C with such a PATH."""
    return lambda path, *arguments, **options: world.run(
        shutil.which("env"), f"PATH={path}", build.TOOL, "retarget",
        *arguments, **options)


def test_without_python_it_says_so(command, tmp_path):
    done = command(tmp_path, "--in-place", "x.so", check=False)
    assert done.status == 2 and "python3 cannot be run" in done.err


def test_the_command_runs_it_and_takes_no_modules_from_where_it_is_called(command, tmp_path, patchelf):
    file = module(tmp_path)
    (tmp_path / "zipfile.py").write_text("raise SystemExit(99)")
    command(os.environ["PATH"], "--in-place", file)
    assert "libcudart_stub.so" in elf.dynamic(file)["NEEDED"]


# ---- when functions are looked up ----

def flags(file):
    return " ".join(line for line in elf.readelf("-d", file).splitlines() if "FLAGS" in line)


@pytest.mark.parametrize("linker", [["-Wl,-z,lazy", "-Wl,--spare-dynamic-tags=0"], ["-Wl,-z,now"],
                                    ["-Wl,-z,origin"]])
def test_every_function_is_bound_when_the_file_is_loaded(retarget, tmp_path, linker):
    # A file that is bound lazily changes sides when a real library becomes global.
    library = real(tmp_path, "libcudart.so.12", "cudaMalloc", node="libcudart.so.12")
    file = importer(tmp_path, "cudaMalloc", link=[library, *linker])
    before = flags(file)
    done, = retarget(file).files
    assert done["outcome"] == "retargeted"
    after = flags(retarget.out / "module.so")
    if "lazy" in " ".join(linker) and "RELACOUNT" not in elf.readelf("-d", file):
        # Nothing that ld.so can do without, in what old clangs put into every file.
        assert "NOW" not in after and any("bound lazily" in note for note in done["notes"])
        return
    assert "NOW" in after
    assert "ORIGIN" in after or "ORIGIN" not in before


def calls(folder, *names, link=()):
    """A module that needs libcudart.so.12 and calls functions that nothing it links has."""
    source = folder / "calls.c"
    source.write_text("".join(f"void {name}(void);\n" for name in ("cudaMalloc", *names)) +
                      f"void call(void) {{ {' '.join(f'{name}();' for name in names)} }}\n"
                      "void (*const imported)(void) = cudaMalloc;\n")
    build.output(*build.CC, "-w", "-shared", "-fPIC", "-fno-builtin", "-Wl,-z,lazy",
                 "-Wl,--no-as-needed", "-o", folder / "calls.so", source, *link,
                 real(folder, "libcudart.so.12", "cudaMalloc", node="libcudart.so.12"))
    return folder / "calls.so"


def loads(file, how):
    done = subprocess.run([sys.executable, "-c", "import ctypes, os, sys; "
                           f"ctypes.CDLL(sys.argv[1], os.{how})", file], capture_output=True,
                          text=True, env={**os.environ, "LD_LIBRARY_PATH": str(build.STUBS)})
    return done.returncode == 0 or done.stderr.splitlines()[-1]


def test_a_library_that_is_called_and_not_needed_has_its_stub(retarget, tmp_path):
    # transformer-engine: its Python code is to load nvrtc before.
    said, = retarget(calls(tmp_path, "nvrtcVersion", "nvrtcGetPTX")).files
    made = retarget.out / "calls.so"
    assert said["needed_added"] == ["libnvrtc_stub.so"] and said["loaded"]
    assert {"library": "nvrtc", "needed": None, "stub": "libnvrtc_stub.so", "imports": 2, "first": False} in \
        said["replaced"]
    assert {"libcudart_stub.so", "libnvrtc_stub.so"} <= set(elf.dynamic(made)["NEEDED"])
    assert any(re.match(r"imports of nvrtc \(nvrtc\w+, nvrtc\w+\), which it does not need", note)
               for note in said["notes"])
    assert "NOW" in flags(made) and loads(made, "RTLD_NOW") is True
    told = retarget(tmp_path / "calls.so", json_wanted=False).out
    assert "not in DT_NEEDED -> libnvrtc_stub.so (2 names)" in told


@pytest.mark.parametrize("major", [12, 13])
def test_what_is_called_and_not_needed_is_of_the_files_own_cuda(retarget, tmp_path, major):
    # The libraries of the majors have other nppGetStreamContext(), and a stub shows the newest.
    soname = f"libnpps.so.{major}"
    said, = retarget(importer(tmp_path, "nppsMalloc_8u", "nppGetStreamContext", link=[
        real(tmp_path, soname, "nppsMalloc_8u", node=soname)])).files
    assert said["needed_added"] == (["libnppc_stub.so"] if major == 13 else [])
    assert said["outcome"] == ("retargeted" if major == 13 else "nothing")


@pytest.mark.parametrize("only", [[], ["--only", "cudart"], ["--leave", "nvrtc"]])
def test_a_stub_is_not_added_where_another_may_have_its_functions(retarget, tmp_path, only):
    # Older libtorch_cuda.so have a NCCL in them, for other files as well.
    link = [] if only else [real(tmp_path, "libother.so.1", "nvrtcVersion")]
    said, = retarget(calls(tmp_path, "nvrtcVersion", link=link), *only).files
    assert said["needed_added"] == []
    assert not any("nvrtc" in name for name in elf.dynamic(retarget.out / "calls.so")["NEEDED"])


def test_what_nobody_has_stays_bound_lazily(retarget, tmp_path):
    # It is loaded before what has it, or is never called.
    file = calls(tmp_path, "somebody_has_this")
    said, = retarget(file).files
    made = retarget.out / "calls.so"
    assert "NOW" not in flags(made) and loads(made, "RTLD_LAZY") is True
    assert "somebody_has_this" in loads(made, "RTLD_NOW")
    assert any("bound lazily; no library that it needs has somebody_has_this" in note
               for note in said["notes"])
    assert said["not_loaded"] == "nothing that it needs has somebody_has_this"


@pytest.mark.parametrize("node, why", [
    ("OTHER_1", "nothing that it needs has other_of_tomorrow"), ("OTHER_2", "not here: version `OTHER_1'")])
def test_a_library_may_be_older_here(retarget, tmp_path, node, why):
    other = real(tmp_path, "libother.so.1", "other_of_tomorrow", node="OTHER_1")
    file = calls(tmp_path, "other_of_tomorrow", link=[other])
    real(tmp_path, "libother.so.1", "other_of_today", node=node)
    said, = retarget(file, env={"LD_LIBRARY_PATH": str(tmp_path)}).files
    assert said["not_loaded"] == why


def test_what_python_has_is_bound_at_once(retarget, tmp_path):
    said, = retarget(calls(tmp_path, "PyErr_Clear", "_PyObject_New")).files
    assert said["loaded"] and "NOW" in flags(retarget.out / "calls.so")
