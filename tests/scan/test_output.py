# SPDX-License-Identifier: MIT
"""The list is written whole or not at all, and the same each time."""
import os

import pytest

import build


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
    hints = "    node libthing.so.0 1   # a comment\n    companion libthing-more.so.%M.%m\n"
    assert toolkits.add("1.0", "void thingF(void);").derive(hints).text == """\
# One.
#
# Two.

toolkits 1.0

library thing
    stub libthing_stub.so
    soname libthing.so.1 1.0-
    node libthing.so.0 1
    folder lib 1.0-
    variable LAZYCUDA_THING
    companion libthing-more.so.%M.%m
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
    toolkits.head.unlink()
    done = toolkits.run("    hook thingF\n")
    assert done.returncode == 2 and "No such file" in done.stderr
    assert toolkits.list.read_text() == "old"


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


@pytest.mark.parametrize("words, why", [
    ((), "scan: an option is missing\nusage: "), (("--hnts", "a"), "scan: unknown option --hnts\nusage: "),
    (("--check", "list"), "scan: unknown option --check\nusage: "),
    (("--own", "--missing"), "lazycuda stub: a value is missing after --missing\n`lazycuda stub --help`"),
])
def test_wrong_usage(scan, words, why):
    done = scan(*words)
    assert done.returncode == 2 and done.stderr.startswith(why)


# ---- what scan writes gen reads, and what the one refuses the other does: both have one reader ----

@pytest.fixture
def gen(tmp_path):
    """gen(list) makes stubs of it."""
    def run(path):
        (tmp_path / "made").mkdir(exist_ok=True)
        return build.run(build.sanitized_gen(), "-o", tmp_path / "made", path)
    return run


def test_what_gen_would_refuse_is_not_put_in_place(toolkits, gen):
    # One SONAME for two majors: nobody could tell their callers apart.
    toolkits.list.write_text("as before\n")
    for version in ("1.0", "2.0"):
        toolkits.add(version, "void thingA(int);")
    said = toolkits.run().stderr
    left, line, column, why = said.strip().split(":", 3)
    assert why == " libthing.so.1 is the soname of majors 1 and 2"
    assert open(left).readlines()[int(line) - 1] == "    soname libthing.so.1 1.0-\n"
    assert toolkits.list.read_text() == "as before\n"
    done = gen(left)
    assert (done.returncode, done.stderr) == (2, said)


@pytest.mark.parametrize("word, letters, carried", [
    # Of what holds nothing yet, letters and conversions take no notice: in both by one rule.
    ("spare", "AAB", "{ 0, 0, 4 }"), ("", "ABC", "{ 0, 0, 12 }")])
def test_what_is_reserved_is_so_for_both(toolkits, gen, tmp_path, word, letters, carried):
    for version, fields in (("1.0", "int a, spare, in_spare1;"), ("1.1", "int a; short b, c; int in_spare1;"),
                            ("1.2", "int a, spare, in_spare1; long more;")):
        toolkits.add(version, f"struct s {{ {fields} }}; void thingA(struct s *);".replace("in_", ""))
    derived = toolkits.derive(f"    reserved {word}\n" if word else "")
    assert "".join(size.split()[3] for size in derived.sizes("s")) == letters
    assert (f"reserved {word}" in derived.blocks["library thing"]) == bool(word)
    done = gen(toolkits.list)
    assert (done.returncode, done.stderr) == (0, "")
    made = (tmp_path / "made" / "libthing_stub.layouts.h").read_text()
    conversion = made[made.index(f"LC_CONVERSION(s_{letters[2]}, s_A) = {{"):]
    copies = conversion[conversion.index(".copies"):conversion.index(".lost")]
    assert carried in copies and copies.count("{ ") == 2, copies
