# SPDX-License-Identifier: MIT
"""Libraries that come with the driver: in no toolkit, with one interface for good."""
import pytest

PLAIN = """\
library thing
    stub libthing_stub.so
    status thingStatus
    include include 1.0-
    parse c thing.h
    soname libthing.so.1
    majors none
    witness thingA
    home /a/b /c
    variable LAZYCUDA_THING
    error missing 1
    error absent 2
"""


def derive(toolkits, hints="", **more):
    return toolkits.derive(hints, base=PLAIN, **more)


def test_it_exports_what_the_headers_declare(toolkits):
    toolkits.add("1.0", "void thingA(int);", ["thingOther"])
    toolkits.add("2.0", "void thingA(int); void thingB(int);", ["thingOther"])
    derived = derive(toolkits)
    assert derived.functions == ["thingA 1.0- (i32) -> void", "thingB 2.0- (i32) -> void"]
    assert derived.blocks["library thing"][:6] == [
        "stub libthing_stub.so", "soname libthing.so.1 1.0-", "majors none", "witness thingA",
        "home /a/b", "home /c"]


@pytest.mark.parametrize("header, hints, functions", [
    # Every way to read the headers counts.
    ("#ifdef OTHER\n#define thingA thingA_v2\n#endif\nvoid thingA(int);", "    parse c -DOTHER thing.h\n",
     ["thingA 1.0- (i32) -> void", "thingA_v2 1.0- (i32) -> void"]),
    # What real ones export beside that.
    ("void thingA(int);", "    exported 1.1- thingX thingY\n    declared thingY (i32)\n",
     ["thingA 1.0- (i32) -> void", "thingX 1.1- (?) undeclared", "thingY 1.1- (i32)"])])
def test_what_hints_say_of_its_functions(toolkits, header, hints, functions):
    toolkits.add("1.0", header).add("1.1", header)
    assert derive(toolkits, hints).functions == functions


def test_an_exported_name_that_a_header_declares_is_a_stale_hint(toolkits):
    toolkits.add("1.0", "void thingA(int);")
    assert "applies to nothing: thingA" in toolkits.refuse("    exported 1.0- thingA\n", base=PLAIN)


STRUCT = "struct s { int a; long b; int c; };"


@pytest.mark.parametrize("old, new, at, why", [
    ("void thingA(int);", "void thingA(long);", "3:6",
     "thing: thingA changes its interface: 1.0 (i32) -> void, 1.1- (i64) -> void"),
    ("void thingA(int);", "#define thingZ thingA\nvoid thingZ(long);", "4:6",
     "thing: thingA changes its interface: 1.0 (i32) -> void, 1.1- (i64) -> void"),
    # What makes a layout another one is in test_layouts.py.
    (f"{STRUCT}\nvoid thingA(struct s *);", "struct s { int a; double b; int c; };\nvoid thingA(struct s *);", "3:8",
     "thing: struct s, which thingA takes, changes its layout in 1.1-"),
    # Behind a pointer.
    (f"{STRUCT} struct t {{ struct s *s; }};\nvoid thingA(struct t *);",
     "struct s { int a; }; struct t { struct s *s; };\nvoid thingA(struct t *);", "3:29",
     "thing: struct t, which thingA takes, changes its layout in 1.1-"),
])
def test_an_interface_that_changes_is_refused(toolkits, old, new, at, why):
    toolkits.add("1.0", "\n" + old).add("1.1", "\n" + new)
    header = toolkits.folder / "1.1" / "x86_64" / "include" / "thing.h"
    assert toolkits.refuse(base=PLAIN) == f"{header}:{at}: {why}"


@pytest.mark.parametrize("old, new, sizes", [
    # A union gets another member, and what was reserved is used.
    ("int kind; union { long a; int room[8]; } u;", "int kind; union { long a; double b; int room[8]; } u;",
     ["40 1.0 layout A", "40 1.1- layout A union"]),
    ("int a, reserved[3];", "int a, b, reserved[2];", ["16 1.0 layout A", "16 1.1- layout A tail"])])
def test_a_layout_that_may_change(toolkits, old, new, sizes):
    for version, fields in (("1.0", old), ("1.1", new)):
        toolkits.add(version, f"struct s {{ {fields} }}; void thingA(struct s *);")
    assert derive(toolkits, "    reserved reserved\n" if "reserved" in old else "").sizes("s") == sizes


def test_a_struct_that_says_what_it_is_may_change(toolkits):
    toolkits.add("1.0", "struct s { int version, a; }; void thingA(struct s *);")
    toolkits.add("1.1", "struct s { int version; long a, b; }; void thingA(struct s *);")
    assert derive(toolkits, "    tag version\n").function("thingA") == ["1.0- (ptr) -> void"]


def test_elements_without_a_name_get_one(toolkits):
    toolkits.add("1.0", "struct s { int count; struct { int x; } sensor[3]; };"
                        " void thingA(struct s *);")
    derived = derive(toolkits)
    assert derived.fields("s") == [".count i32 0 1.0-", ".sensor s_sensor[3] 4 1.0-"]
    assert derived.fields("s_sensor") == [".x i32 0 1.0-"]


def test_a_soname_and_no_majors_go_together(toolkits):
    toolkits.add("1.0", "void thingA(int);")
    for row in ("    majors none\n", "    soname libthing.so.1\n"):
        assert "`majors none`" in toolkits.refuse(base=PLAIN.replace(row, ""))


LIST = """\
toolkits 1.0
library thing
    stub libthing_stub.so
    soname libthing.so.1 1.0-
    variable LAZYCUDA_THING
    error missing 1
    error absent 2
{}functions
    thingA 1.0- ()
"""
SOURCE = "int thingData = 1;\nint thingA(void) { return 0; }\n"


def test_check_wants_no_versions_of_it_and_passes_over_data(scan, thing, tmp_path):
    plain = thing(["thingA"], node="{ global: *; };", source=SOURCE)
    (tmp_path / "list").write_text(LIST.format("    majors none\n    witness thingA\n"))
    done = scan("--check", tmp_path / "list", plain)
    assert (done.returncode, done.stderr) == (0, "") and "1 names, as listed" in done.stdout
    (tmp_path / "list").write_text(LIST.format("    error refused 3\n    error driver 4\n    error incoherent 5\n"))
    done = scan("--check", tmp_path / "list", plain)
    assert done.returncode == 2 and "has no symbol versions" in done.stderr


@pytest.mark.parametrize("names, status, said", [
    # As the newest version that it has all of; what is newer in the list, or in the library, is
    # no difference, since a driver goes by its own numbers.
    (["thingA", "thingB"], 0, ["2 names, as listed"]),
    (["thingA", "thingB", "thingC"], 0, ["3 names, as listed"]),
    (["thingA", "thingB", "thingD"], 0, ["1.0", "3 names, as listed"]),
    # Headers declare what no driver has: said, and all right.
    (["thingB"], 0, ["1 differ", "    - thingA"]),
    # The list lacks it: the stub would.
    (["thingA", "thingB", "thingX"], 1, ["1 differ", "    + thingX"]),
])
def test_check_of_a_driver(scan, thing, tmp_path, names, status, said):
    rows = "    thingB 1.0- ()\n    thingC 2.0- ()\n    thingD 3.0- ()\n"
    (tmp_path / "list").write_text(
        LIST.format("    majors none\n    witness thingA\n").replace("toolkits 1.0", "toolkits 1.0 2.0 3.0") + rows)
    done = scan("--check", tmp_path / "list", thing(names, node="{ global: *; };"))
    assert done.returncode == status, done.stdout
    assert all(word in done.stdout for word in said), done.stdout
    assert done.stdout.count("\n    ") == len([word for word in said if word.startswith("    ")])


OWN = LIST.format("""\
    majors own
    error refused 3
    status thingStatus
    advice Ask for it.
{}
enum thingStatus
    thingOk 0 1.0-

""") + "    thingB 1.0- ()\n"


def test_check_of_a_library_with_majors_of_its_own(scan, thing, tmp_path):
    # These are majors: a name that the library lacks is a difference, as is a library without
    # versions, unless the list says that it has none.
    (tmp_path / "list").write_text(OWN.format(""))
    done = scan("--check", tmp_path / "list", f"{thing(['thingA'])}=1.0")
    assert done.returncode == 1 and "    - thingB" in done.stdout
    assert scan("--check", tmp_path / "list", f"{thing(['thingA', 'thingB'])}=1.0").returncode == 0
    plain = thing(["thingA", "thingB"], node="{ global: *; };")
    done = scan("--check", tmp_path / "list", f"{plain}=1.0")
    assert done.returncode == 2 and "has no symbol versions" in done.stderr
    (tmp_path / "list").write_text(OWN.format("    nodes none\n"))
    assert scan("--check", tmp_path / "list", f"{plain}=1.0").returncode == 0
