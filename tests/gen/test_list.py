# SPDX-License-Identifier: MIT
"""Every malformed list is refused with the place and the reason, and nothing is written."""
import re
import subprocess

import pytest

import elf
import lists

BASE = f"""\
toolkits 1.0 1.1 2.0 2.1

library thing
    stub libthing_stub.so
    soname libthing.so.1 1.0-1.1
    soname libthing.so.2 2.0-
    variable THING
{lists.ERRORS}    status thingStatus

enum thingStatus
    thingOk 0 1.0-

struct box
    size 8 1.0-1.1 layout A
    size 12 2.0- layout B
    .a i32 0 1.0-
    .b i32 4 1.0-
    .c i32 8 2.0-

struct late
    size 8 2.0- layout A
    .a i64 0 2.0-

functions
    first 1.0- (i32)
    second 1.0- (box)
    third 2.0- (i32)
"""

# What is replaced, by what, and what gen says.  ^ marks where, and is removed.
CASES = [
    # words
    ("    first 1.0- (i32)", "    first 1.0- (i32)^\r", "a carriage return"),
    ("    first 1.0- (i32)", "    fi^\0rst 1.0- (i32)", "a NUL byte"),
    ("    first 1.0- (i32)", "    first 1.0- (" + "i32, " * 3273 + "   ^i32)",
     "this line is longer than 16384 bytes"),
    ("    third 2.0- (i32)\n", "    third 2.0- (i32)^", "the file ends within a line"),
    # blocks
    ("toolkits 1.0 1.1 2.0 2.1", "^", "`library` where `toolkits` is expected", 2),
    ("toolkits 1.0 1.1 2.0 2.1", "toolkits^", "the line ends where a version is expected"),
    ("toolkits 1.0 1.1 2.0 2.1", "toolkits 1.0 2.0 ^1.1 2.1", "from the oldest to the newest"),
    ("toolkits 1.0 1.1 2.0 2.1", "toolkits " + " ".join(f"1.{n}" for n in range(63)) + " ^2.0",
     "more than 63 toolkits"),
    ("library thing", "toolkits 1.0", "the toolkits are named on line 1 already", (3, 1)),
    ("library thing", "    ^library thing", "a row that belongs to no block"),
    ("functions", "functions\n^functions", "has its functions on line 29 already"),
    ("struct late", "struct ^box", "struct box is on line 18 already"),
    ("enum thingStatus", "enum thingStatus\nenum ^thingStatus", "is on line 15 already"),
    ("    third 2.0- (i32)\n", "    third 2.0- (i32)\nlibrary ^thing\n",
     "library thing is on line 3 already"),
    # library
    ("    stub libthing_stub.so\n", "", "library thing has no row `stub`"),
    ("    stub libthing_stub.so", "    stub ^libthing_stub.dll", "a stub's file name ends in .so"),
    ("    stub libthing_stub.so", "    stub lib^/thing_stub.so", "unexpected `/` in a file name"),
    ("    stub libthing_stub.so", "    stub a.so\n    ^stub b.so", "this was given on line 4 already"),
    ("    variable THING", "    ^veriable THING", "no row `veriable` in a library"),
    ("    variable THING", "    variable ^TH-ING", "`TH-ING` is not a name"),
    ("    error driver 4", "    error ^drivers 14", "no error `drivers`"),
    ("    error driver 4", "    ^error driver 0", "an error cannot be 0"),
    ("    error driver 4", "    error driver 4\n    ^error driver 4", "on line 11 already"),
    ("    error driver 4", "    error driver 4 2.0-", "no row `error driver` for 1.0"),
    ("    error driver 4", "    ^error driver 4 1.1-\n    error driver 5 1.0",
     "an error for some of major 1, and not for 1.0"),
    ("    status thingStatus", "    status ^thingStates", "no enum thingStates"),
    ("    soname libthing.so.2 2.0-", "    soname ^libthing.so.2 1.1-", "majors 1 and 2"),
    ("    soname libthing.so.2 2.0-", "    soname ^libthing.so.1 2.0-", "is on line 5 already"),
    ("    soname libthing.so.1 1.0-1.1", "    soname libthing.so.1 1.0\n    soname ^so.b 1.1",
     "major 1 has soname libthing.so.1 already"),
    ("    variable THING", "    variable THING\n    node ^libthing.so.0 3", "has no major 3"),
    ("    variable THING", "    variable THING\n    node ^libthing.so.2 2", "is the soname on line 6"),
    ("    variable THING", "    variable THING\n    folder a 1.0-\n    folder ^a 2.0-",
     "folder: line 8 covers 2.0 already"),
    ("    first 1.0- (i32)", "    first ^1.2- (i32)", "no toolkit 1.2: line 1 does not name it"),
    ("    first 1.0- (i32)", "    first 1.0-2.0,^1.1 (i32)", "begins before the one before it has ended"),
    ("    first 1.0- (i32)", "    first^", "the line ends where a range of versions is expected"),
    ("    first 1.0- (i32)", "    first 1.0- (i32)\n    ^first 2.0- (i64)", "line 30 covers 2.0 already"),
    ("    soname libthing.so.2 2.0-", "    soname libthing.so.2 2.0-2.1",
     "library thing has no soname in versions later than 2.1", (30, 11)),
    ("    soname libthing.so.1 1.0-1.1\n", "", "library thing has no soname in 1.0", (29, 11)),
    # enum
    ("    thingOk 0 1.0-", "    thingOk ^zero 1.0-", "`zero` is not a number"),
    ("    thingOk 0 1.0-", "    thingOk 0 1.0-\n    ^thingOk 1 2.0", "line 16 covers 2.0 already"),
    ("    .a i32 0 1.0-", "    ^a i32 0 1.0-", "`a` where `size` or a .FIELD is expected"),
    ("    .a i32 0 1.0-", "    .a^..b i32 0 1.0-", "unexpected `.` in a field's name"),
    ("    .a i32 0 1.0-", "    .a ^void 0 1.0-", "a value cannot be void"),
    ("    .a i32 0 1.0-", "    .a ^*i32 0 1.0-", "a pointer to a scalar is ptr"),
    ("    .a i32 0 1.0-", "    .a i32^[0] 0 1.0-", "a count such as [16] is expected"),
    ("    .a i32 0 1.0-", "    .a ^nobody 0 1.0-", "no struct nobody in library thing"),
    ("    .a i32 0 1.0-", "    ^.a i32 8 1.0-", ".a ends past the 8 bytes that the struct has in 1.0"),
    ("    .b i32 4 1.0-", "    ^.a i32 4 1.0-", ".a: line 21 covers 1.0 already"),
    ("    .a i64 0 2.0-", "    ^.a i64 0 1.0-", "struct late has no size in 1.0"),
    ("    size 8 2.0- layout A", "    size ^0 2.0- layout A", "the size is 0, and must be from 1"),
    ("    size 12 2.0- layout B", "    ^size 12 1.1- layout B", "size: line 19 covers 1.1 already"),
    ("    size 12 2.0- layout B", "    ^size 12 2.0- layout A", "layout A has 12 bytes here and 8 on line 19"),
    ("    size 8 2.0- layout A\n    .a i64 0 2.0-\n", "", "struct late has no size", (25, 8)),
    # functions
    ("    first 1.0- (i32)", "    first 1.0- ^i32", "`i32` where `(` is expected"),
    ("    first 1.0- (i32)", "    first 1.0- (i32^", "the line ends where `,` or `)` is expected"),
    ("    first 1.0- (i32)", "    first 1.0- (i32 ^i32)", "`i32` where `,` or `)` is expected"),
    ("    first 1.0- (i32)", "    first 1.0- (i32,^)", "`)` is not a type"),
    ("    first 1.0- (i32)", "    first 1.0- (out ^nobody)", "no struct nobody in library thing"),
    ("    first 1.0- (i32)", "    first 1.0- (out ^late)", "struct late has no size in 1.0"),
    ("    first 1.0- (i32)", "    first 1.0- (i32) ^hooks", "unexpected `hooks`"),
    ("    first 1.0- (i32)", "    first 1.0- (i32) ^slow", "unexpected `slow`"),
    ("    first 1.0- (i32)", "    ^first 1.0- (?)", "is not marked `undeclared`"),
    ("    first 1.0- (i32)", "    first 1.0- (?) ^hook undeclared", "a hook needs a prototype"),
    ("    first 1.0- (i32)", "    first 1.0- (i32) ^text", "a text needs a prototype with `->"),
    ("    first 1.0- (i32)", "    first 1.0- (i32) ^negative", "with `-> i32` or `-> i64`"),
    ("    first 1.0- (i32)", "    first 1.0- (i32) family^", "where the family's name is expected"),
    ("    third 2.0- (i32)", "    third 1.0 (i32)\n    third 2.0- (i64) family ^first",
     "third is of family first here, and of family third on line 32"),
    ("    third 2.0- (i32)", "    third 2.0- (i32) family ^fourth\n"
     "    fourth 1.0- (i32) family first", "fourth is of family first itself"),
    ("    third 2.0- (i32)", "    third 1.0- (^empty)\nstruct empty\n    size 4 1.0- layout A",
     "struct empty has no fields, and so cannot be passed by value"),
    ("    third 2.0- (i32)", "    third 1.0- (^odd)\nstruct odd\n    size 8 1.0- layout A\n"
     "    .a i32 2 1.0-", "cannot be passed by value with .a as it is on line 35"),
    ("    third 2.0- (i32)", "    third 1.0- (^both)\nstruct both\n    size 4 1.0- layout A\n"
     "    .a i32 0 1.0-\n    .b f32 0 1.0-", "it has floating-point numbers and a union"),
]


# The same of a library without majors.
WITHOUT_MAJORS = f"{lists.OTHER}\n{lists.WITHOUT_MAJORS}"
CASES_WITHOUT_MAJORS = [
    ("    majors none", "    majors ^two", "`two` where `none` or `own` is expected"),
    ("    majors none", "    majors none\n    ^majors none", "this was given on line 24 already"),
    ("    majors none\n", "", "library thing has no row `error refused`"),
    ("    witness thingA\n", "", "library thing has no row `witness`"),
    ("    witness thingA", "    witness ^thingX", "there is no function thingX"),
    ("    home /one", "    home ^one", "`one` is not an absolute path"),
    ("    error absent 22", "    error absent 22\n    ^error refused 23", "no such error"),
    ("    home /one", "    home /one\n    node ^libthing.so.0 1", "without majors has no nodes"),
    ("    home /one", "    home /one\n    folder ^lib 1.0-", "is in no toolkit"),
    ("    thingB 1.1-1.1 (i32)", "    thingB 1.1-1.1 (i32)\n    ^thingB 2.0- (i64)",
     "has another interface on line"),
    ("    thingB 1.1-1.1 (i32)", "    ^thingB 1.1-1.1 (i32) apart", "no majors to keep apart"),
    ("    variable OTHER", "    variable OTHER\n    home ^/usr", "only a library without majors"),
    ("    variable OTHER", "    variable OTHER\n    witness ^other", "only a library without majors"),
]


def apply(base, old, new, message, *place):
    """(the list, the place, the message); without ^ it is that of the library, unless told."""
    assert base.count(old) == 1 or old in ("functions",), old
    at = base.index(old)
    if "^" in new:
        before = base[:at] + new[:new.index("^")]
        new = new.replace("^", "", 1)
    else:
        before = base[:base.index("library thing")] + "library "
    line, column = before.count("\n") + 1, len(before.encode()) - (before.encode().rfind(b"\n") + 1) + 1
    if place and isinstance(place[0], int):		# lines further down
        line, column = line + place[0], 1
    elif place:
        line, column = place[0]
    return base[:at] + new + base[at + len(old):], (line, column), message


@pytest.mark.parametrize("base, case", [*((BASE, case) for case in CASES),
                                        *((WITHOUT_MAJORS, case) for case in CASES_WITHOUT_MAJORS)],
                         ids=lambda case: case[2].replace(" ", "-")[:40] if isinstance(case, tuple) else "")
def test_malformed(gen, tmp_path, out, base, case):
    text, (line, column), message = apply(base, *case)
    done = gen(text, out)
    assert done.returncode == 2 and not done.stdout
    first, rest = done.stderr.split("\n", 1)
    assert first.startswith(f"{tmp_path / 'list.txt'}:{line}:{column}: "), first
    assert message in first and not rest
    assert list(out.iterdir()) == []


@pytest.mark.parametrize("text, message", [
    ("", ":1:1: the file ends where `library` is expected"),
    ("# nothing\ntoolkits 1.0\n", ":3:1: the file ends where `library` is expected"),
    ("\n\n    x\n", ":3:5: a row that belongs to no block"),
])
def test_nothing_there(gen, tmp_path, out, text, message):
    done = gen(text, out)
    assert done.returncode == 2 and done.stderr == f"{tmp_path / 'list.txt'}{message}\n"


def test_comments_blanks_and_order_do_not_matter(gen, tmp_path):
    """Structs may stand behind the functions that use them, rows in any order."""
    head, functions = BASE.split("functions\n")
    library, structs = head.split("struct box")
    shuffled = (library + "functions\n" + "\t# comment \xe9\n\n" +
                "".join(f"\t{line.strip()}   # why\n" for line in reversed(functions.splitlines())) +
                "struct box" + structs)
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    assert gen(BASE, tmp_path / "a").returncode == 0
    assert gen(shuffled, tmp_path / "b").returncode == 0
    for file in (tmp_path / "a").iterdir():
        assert file.read_bytes() == (tmp_path / "b" / file.name).read_bytes()


@pytest.mark.parametrize("row, fits, what", [
    ("    f{} 1.0- (ptr)\n", 65535, "interfaces"),
    # A hole in a range makes two providers of one name.
    ("    f{} 1.0,2.0- (ptr)\n", 32767, "providers of its interfaces")])
def test_more_than_a_stub_can_count(optimized, tmp_path, row, fits, what):
    path = tmp_path / "list.txt"
    for count in (fits, fits + 1):
        path.write_text(BASE.partition("    first")[0] + "".join(map(row.format, range(count))))
        done = subprocess.run([optimized, "-o", tmp_path, path], capture_output=True, text=True)
        assert done.returncode == 2 * (count > fits)
    assert f"library thing has 65536 {what}, and a stub has room for 65535" in done.stderr


def test_no_refusal_is_a_success(gen, out):
    assert gen(WITHOUT_MAJORS, out).returncode == 0
    text = (out / "libthing_stub.c").read_text()
    assert re.findall(r"\[(LC_[A-Z]+)\] = (\d+)", text) == [
        ("LC_MISSING", "21"), ("LC_ABSENT", "22"), ("LC_REFUSED", "21"), ("LC_DRIVER", "21"),
        ("LC_INCOHERENT", "21")]


def test_its_names_have_no_version(gen, out, cc, tmp_path):
    assert gen(WITHOUT_MAJORS, out).returncode == 0
    loader = tmp_path / "loader.c"
    loader.write_text('#include "libthing_stub.h"\n'
                      "int32_t lc_slow(unsigned slot) { return (int32_t)slot; }\n")
    symbols = elf.exports(cc.stub(out, tmp_path / "libthing_stub.so", loader=loader))
    assert {(s.name, s.node) for s in symbols if s.name.startswith("thing")} == {
        ("thingA", None), ("thingB", None), ("thingC", None)}
    assert not [s.name for s in symbols if s.name.startswith("lc_")]
