# SPDX-License-Identifier: MIT
"""The list is written whole or not at all, and the same each time."""
import os



def files(folder):
    return sorted(path.name for path in folder.iterdir())


def test_same_input_same_bytes(toolkits):
    header = "struct s { int a; void *p; }; enum thingStatus thingF(struct s *); void thingG(int);"
    toolkits.add("1.0", header).add("1.1", header)
    first = toolkits.derive().text
    assert toolkits.derive().text == first
    # Nor does it depend on where things are, or what they are called.
    moved = toolkits.folder.rename(toolkits.folder.with_name("elsewhere"))
    toolkits.folder = os.path.relpath(moved)
    assert toolkits.derive().text == first


def test_the_head_stands_at_the_top(toolkits):
    toolkits.head.write_text("# One.\n#\n# Two.\n")
    assert toolkits.add("1.0", "void thingF(void);").derive().text == """\
# One.
#
# Two.

toolkits 1.0

library thing
    stub libthing_stub.so
    soname libthing.so.1 1.0-
    folder lib 1.0-
    variable LAZYCUDA_THING
    error missing 1
    error absent 2
    error refused 3
    error driver 4
    error incoherent 5
    status thingStatus

enum thingStatus
    thingOk                                              0   1.0-

functions
    thingF                                               1.0-           () -> void
"""


def test_a_failure_leaves_the_old_list(toolkits):
    toolkits.add("1.0", "void thingF(void);")
    toolkits.list.write_text("old")
    before = files(toolkits.list.parent)
    for hints in ("    hook thingX\n", "    nonsense\n"):
        assert toolkits.run(hints).returncode == 2
        assert toolkits.list.read_text() == "old"
    toolkits.head.unlink()
    done = toolkits.run()
    assert done.returncode == 2 and "No such file" in done.stderr
    assert toolkits.list.read_text() == "old"
    assert set(files(toolkits.list.parent)) <= {*before, "hints.txt"}


def test_a_toolkit_without_its_library(toolkits):
    toolkits.add("1.0", "void thingF(void);").add("1.1", "void thingF(void);")
    next((toolkits.folder / "1.1" / "x86_64" / "lib").iterdir()).unlink()
    assert "toolkit 1.1 (x86_64) has no libthing.so" in toolkits.refuse()


def test_a_library_that_a_toolkit_need_not_have(toolkits):
    toolkits.add("1.0", "void thingF(void);").add("1.1", "void thingF(void);")
    next((toolkits.folder / "1.0" / "x86_64" / "lib").iterdir()).unlink()
    derived = toolkits.derive(base=toolkits.base.replace("folder lib 1.0-", "folder lib 1.1-"))
    assert derived.functions == ["thingF 1.1- () -> void"]


def test_two_libraries_in_a_folder(toolkits, thing):
    toolkits.add("1.0", "void thingF(void);")
    (toolkits.folder / "1.0" / "x86_64" / "lib" / "libthing.so.2").symlink_to(thing(["thingF"]))
    assert "holds more than one libthing.so.*" in toolkits.refuse()


def test_a_toolkit_without_headers(toolkits):
    toolkits.add("1.0", "void thingF(void);")
    (toolkits.folder / "1.0" / "x86_64" / "include" / "thing.h").unlink()
    assert "'thing.h' file not found" in toolkits.refuse()
    (toolkits.folder / "1.0" / "x86_64" / "include").rmdir()
    assert "is missing: it should hold headers of thing" in toolkits.refuse()
