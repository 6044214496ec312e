# SPDX-License-Identifier: MIT
"""Which names a stub exports under which versions, and what linking makes of them."""
import ctypes
import re
import shutil

import pytest

import build
import dlopen_notes
import elf

THING = (build.ROOT / "tests" / "gen" / "thing.txt").read_text()


@pytest.fixture(scope="module")
def stub(cc, thing, tmp_path_factory):
    return cc.stub(thing, tmp_path_factory.mktemp("stub") / "libthing_stub.so")


def versions(library):
    """{name: {node or @@node, or "any" for one that is hidden and has no version}}"""
    found = {}
    for symbol in elf.exports(library):
        found.setdefault(symbol.name, set()).add(
            "@" * symbol.default + symbol.node if symbol.node else "any")
    return found


def test_the_nodes_in_order(stub):
    # The stub's own comes first: it is what unversioned references bind to.
    nodes = elf.defined_nodes(stub)
    assert nodes[:5] == ["LAZYCUDA_1", "libthing.so.0", "libthing.so.1", "libthing.so.2",
                         "libthing.so.3"]
    assert set(nodes[5:]) <= {"LAZYCUDA_LOCAL"}


@pytest.mark.parametrize("name, wanted", [
    # One interface: the newest major is the default.
    ("plain", {"libthing.so.0", "libthing.so.1", "libthing.so.2", "@libthing.so.3"}),
    ("gone", {"libthing.so.0", "@libthing.so.1"}),
    ("new_v2", {"@libthing.so.2"}),
    ("hooked", {"libthing.so.0", "libthing.so.1", "libthing.so.2", "@libthing.so.3"}),
    # Another prototype, another layout, another one inside a major: no default, but dlsym() finds
    # one without a version.
    ("changed", {"libthing.so.0", "libthing.so.1", "libthing.so.2", "libthing.so.3", "any"}),
    ("fills", {"libthing.so.0", "libthing.so.1", "libthing.so.2", "libthing.so.3", "any"}),
    ("shrinks", {"libthing.so.0", "libthing.so.1", "libthing.so.2", "libthing.so.3", "any"}),
    # Declared nowhere: none either, but where there is only one major.
    ("unknown", {"libthing.so.0", "libthing.so.1", "libthing.so.2", "libthing.so.3", "any"}),
    ("unknown_new", {"@libthing.so.3"}),
])
def test_versions(stub, name, wanted):
    assert versions(stub)[name] == wanted


def test_a_chosen_abi_is_the_default(cc, gen, tmp_path, out):
    assert gen(THING, out, "--abi", "2").returncode == 0
    made = versions(cc.stub(out, tmp_path / "libthing_stub.so"))
    assert made["changed"] == {"libthing.so.0", "libthing.so.1", "@libthing.so.2", "libthing.so.3"}
    assert made["unknown"] == {"libthing.so.0", "libthing.so.1", "@libthing.so.2", "libthing.so.3"}
    # Names with one interface keep the newest; one that major 2 has not has none.
    assert "@libthing.so.3" in made["plain"] and "@libthing.so.1" in made["gone"]


# ---- linking ----

def link(folder, name, *libraries):
    source = folder / f"{name}.c"
    source.write_text(f"int {name}(int, long); int main(void) {{ return {name}(1, 2); }}\n")
    return build.run(*build.CC, source, *libraries, "-o", folder / name, "-Wl,--allow-shlib-undefined")


def test_import_libraries_have_the_functions_of_lazycuda_h():
    """What the real stubs export of their own, the import libraries have."""
    for name in build.LIBRARIES:
        wanted = {s.name for s in elf.exports(build.stub(name)) if s.node == "LAZYCUDA_1"}
        wanted.discard("lazycuda_stub_1")	# data, for other stubs
        for major in build.MAJORS:
            library = build.import_library(name, major)
            if library.exists():
                assert {s.name for s in elf.exports(library)
                        if s.node == "LAZYCUDA_1"} == wanted


def test_a_reference_without_a_version(cc, stub, tmp_path):
    """An old, unversioned link gets a default if there is one, else what the loader takes for such
    callers; never by accident the oldest interface."""
    bare = cc(tmp_path / "libthing_stub.so", "-xc", "-fPIC", "-shared", "-nostdlib",
               "-Wl,-soname,libthing_stub.so", build.text(
                   "int plain(void *p, long n) { return 0; } int changed(int a, long b) { return 0; }", "c"))
    for name in ("plain", "changed"):
        assert link(tmp_path, name, bare).returncode == 0
        assert [s.node for s in elf.imports(tmp_path / name) if s.name == name] == [None]
        done = build.run(tmp_path / name, env={"LD_LIBRARY_PATH": stub.parent})
        assert done.returncode == 11, done.stderr


def test_a_prototype_that_changes_inside_a_major_needs_assembly(cc, gen, tmp_path, out):
    text = THING.replace("    changed            1.0-1.1          (i32, i64)",
                         "    changed  1.0  (i32)\n    changed  1.1  (i32, i64)")
    assert gen(text, out).returncode == 0
    source = (out / "libthing_stub.c").read_text()
    assert re.search(r"LC_UNDECLARED\(changed_1, \d+, 0\)", source)
    assert "LC_FORWARD(int32_t, changed_2," in source
    cc.stub(out, tmp_path / "libthing_stub.so")


# ---- linkers ----

@pytest.mark.parametrize("linker", ["bfd", "gold", "lld"])
def test_other_linkers(cc, thing, stub, tmp_path, linker):
    if not shutil.which(f"ld.{linker}"):
        pytest.skip(f"there is no ld.{linker}")
    library = cc(tmp_path / "libthing_stub.so", "-std=gnu11", "-O2", "-fPIC",
                 "-fvisibility=hidden", f"-I{build.ROOT / 'stubs'}", f"-I{thing}", "-shared",
                 thing / "libthing_stub.c", build.ROOT / "tests" / "gen" / "loader.c",
                 f"-fuse-ld={linker}", "-Wl,-z,relro,-z,now,-z,defs", "-ldl",
                 f"-Wl,--version-script={thing / 'libthing_stub.map'}")
    assert versions(library) == versions(stub)
    # The slots become read-only: they lie within the RELRO segment.
    start, size = next((int(address, 16), int(size, 16)) for name, address, size in re.findall(
        r"^  (\w+) +0x\w+ 0x(\w+) 0x\w+ 0x\w+ 0x(\w+)", elf.readelf("-l", library), re.M)
        if name == "GNU_RELRO")
    table, length = next((int(line.split()[1], 16), int(line.split()[2]))
                         for line in elf.readelf("-s", library).splitlines()
                         if line.endswith(" lc_slots"))
    assert start <= table and table + length <= start + size


# ---- a stub under the real name ----

@pytest.mark.parametrize("major", [1, 2, 3])
def test_a_compat_stub_has_one_majors_names_as_defaults(stub, thing, compiler, tmp_path, major):
    node = f"libthing.so.{major}"
    made = compiler.stub(thing, tmp_path / node, f'-DLC_COMPAT="{node}"',
                         script=f"libthing_stub.compat{major}.{node}.map")
    assert elf.defined_nodes(made)[:2] == ["LAZYCUDA_1", node]
    ordinary = {name for name, found in versions(stub).items()
                if {node, f"@{node}"} & found}
    found = {name: nodes for name, nodes in versions(made).items() if not nodes & {"@LAZYCUDA_1"}}
    assert found == {name: {f"@{node}"} for name in ordinary}


def test_a_compat_stub_calls_itself_by_its_name(cc, thing, tmp_path):
    made = cc.stub(thing, tmp_path / "libthing.so.2", '-DLC_COMPAT="libthing.so.2"',
                   script="libthing_stub.compat2.libthing.so.2.map")
    library = ctypes.CDLL(made).lazycuda_library
    library.restype = ctypes.POINTER(ctypes.c_char_p)
    assert library()[:2] == [b"thing", b"libthing.so.2"]


# ---- what packaging tools read ----

def test_the_note_names_sonames_and_companions_newest_first(stub):
    real, companions = dlopen_notes.by_section(stub)
    assert real["soname"] == ["libthing.so.3", "libthing.so.2", "libthing.so.1"]
    assert companions["soname"] == [f"libthing-data.so.{version}"
                                    for version in ("3.0", "2.1", "2.0", "1.1", "1.0")]
    assert {entry["feature"] for entry in (real, companions)} == {"thing"}
