# SPDX-License-Identifier: MIT
"""What belongs to which toolkit, row by row, and what lies beside the rows; versions and constraints as text."""
import pytest

from questions import ask, cuda

# Toolkit, PTX ISA, branch of the display driver, container and IR of LTO-IR.
TOOLKITS = [
    ("11.0", 70, 445, 0, 0), ("11.1", 71, 455, 0, 0), ("11.2", 72, 460, 0, 0),
    ("11.3", 73, 465, 0, 0), ("11.4", 74, 470, 0, 0), ("11.5", 75, 495, 0, 0),
    ("11.6", 76, 510, 0, 0), ("11.7", 77, 515, 1054, 2047), ("11.8", 78, 520, 1054, 2048),
    ("12.0", 80, 525, 1057, 2051), ("12.1", 81, 530, 1057, 2053), ("12.2", 82, 535, 1059, 2058),
    ("12.3", 83, 545, 1060, 2063), ("12.4", 84, 550, 1061, 2071), ("12.5", 85, 555, 1061, 2083),
    ("12.6", 85, 560, 1062, 2084), ("12.7", 86, 565, 0, 0), ("12.8", 87, 570, 1064, 2089),
    ("12.9", 88, 575, 1064, 2093), ("13.0", 90, 580, 1065, 2098), ("13.1", 91, 590, 1066, 2107),
    ("13.2", 92, 595, 1066, 2114), ("13.3", 93, 610, 1067, 2115), ("13.4", 94, 615, 1067, 2120),
    ("13.5", 95, 0, 1067, 2131),
]
VERSIONS = [row[0] for row in TOOLKITS]


@pytest.mark.parametrize("version, isa, branch, container, ir", TOOLKITS)
def test_a_row(version, isa, branch, container, ir):
    assert ask("newest-isa", cuda(version)) == str(isa)
    assert ask("isa", isa) == str(cuda("12.5" if isa == 85 else version))       # that of 12.6, too
    assert not branch or ask("branch", branch) == str(cuda(version))
    assert not ir or ask("ltoir", container, ir) == str(cuda(version))


# Questions, and the answer to all of them.
BESIDE = [
    # A PTX ISA that is newer than the table, between two rows, or older than all.
    ("isa", "13.6", 96), ("isa", "13.9", 99), ("isa", "14.0", 100), ("isa", "14.1", 101), ("isa", "12.0", 79),
    ("isa", "13.0", 89), ("isa", "11.0", 63, 10),
    # LTO-IR: newer; between two rows, of the first that reads it; the container decides, if it is newer; older.
    ("ltoir", "13.6", (1067, 2132), (1068, 2131), (2000, 3000)), ("ltoir", "12.3", (1059, 2059)),
    ("ltoir", "12.1", (1057, 2052)), ("ltoir", "12.4", (1061, 2051)), ("ltoir", "11.7", (1054, 2001)),
    # Its IR is hidden: of no known toolkit.
    ("ltoir", 0, (1061, 0)),
    # A branch between two rows has the version of the lower; before the table, none.
    ("branch", "11.0", 450), ("branch", "11.4", 471), ("branch", "11.5", 505), ("branch", "12.9", 579),
    ("branch", "13.3", 611), ("branch", "13.4", 700), ("branch", 0, 390, 440, 0, -1),
    # What is older than the table or no version knows no ISA; that of newer ones follows from theirs.
    ("newest-isa", 0, 10020, 0, -1), ("newest-isa", 96, cuda("13.6")), ("newest-isa", 99, cuda("13.9"), cuda("13.12")),
    ("newest-isa", 100, cuda("14.0")), ("newest-isa", 103, cuda("14.3")), ("newest-isa", 88, cuda("12.10")),
    ("newest-isa", 78, cuda("11.9")),
    # The branch that minor-version compatibility needs.
    ("needed-branch", 450, 11), ("needed-branch", 525, 12), ("needed-branch", 580, 13), ("needed-branch", 0, 10, 14)]


@pytest.mark.parametrize("question, answer, given", [(row[0], row[1], row[2:]) for row in BESIDE])
def test_what_lies_beside_the_rows(question, answer, given):
    answer = cuda(answer) if isinstance(answer, str) else answer
    for numbers in given:
        assert ask(question, *(numbers if isinstance(numbers, tuple) else (numbers,))) == str(answer)


@pytest.mark.parametrize("container, oldest, newest", [
    (1054, "11.7", "11.8"), (1057, "12.0", "12.1"), (1059, "12.2", "12.2"),
    (1060, "12.3", "12.3"), (1061, "12.4", "12.5"), (1062, "12.6", "12.6"),
    (1064, "12.8", "12.9"), (1065, "13.0", "13.0"), (1066, "13.1", "13.2"),
    (1067, "13.3", "13.5"),
    (1063, "12.8", "12.8"), (1068, "13.6", "13.6"), (1000, "11.7", "11.7")])
def test_the_toolkits_of_a_container(container, oldest, newest):
    assert ask("container", container) == f"{cuda(oldest)} {cuda(newest)}"


# Of what is refused nothing is written.
@pytest.mark.parametrize("text, said", [
    *[(text, f"1 {version}") for text, version in (
        ("12.9", 12090), ("12", 12000), ("13.0", 13000), ("12.9.86", 12090), ("11.8.999999", 11080),
        ("12.10", 12100), ("012.09", 12090), ("999.99", 999990))],
    *[(text, "0 -2") for text in (
        "", " ", "x", "v12", "12.", ".9", "12..9", "12.9.", "12.9.86.1", "12.9 ", " 12.9", "12.9a", "12,9",
        "-12", "+12", "12.-1", "0.9", "0", "1000.0", "12.100", "12.9.1000000", "99999999999999999999",
        "12.99999999999999999999", "1e3", "0x12", "12.*", "１２")]])
def test_a_version_is_read(text, said):
    assert ask("parse", text) == said


@pytest.mark.parametrize("version, text", [(12090, "12.9"), (13000, "13.0"), (12100, "12.10"),
                                           (0, "none"), (-1, "unknown"), (-7, "unknown"),
                                           (2147483647, "2147483.64")])
def test_a_version_is_written(version, text):
    assert ask("text", version) == text


@pytest.mark.parametrize("constraint, holds, fails", [
    (">=13.2,<14", "13.2 13.9", "13.1 14.0 12.9"),
    ("==12.9", "12.9", "12.8 13.0"),
    ("==12", "12.0", "12.1 11.8"),
    ("==12.*", "12.0 12.9 12.10", "11.8 13.0"),
    ("!=12.9", "12.8 13.0", "12.9"),
    ("!=12.*", "11.8 13.0", "12.0 12.9"),
    (">=12.4", "12.4 13.0", "12.3"),
    ("<12.4", "12.3", "12.4 12.5"),
    (">12.4", "12.5 13.0", "12.4 12.3"),
    ("<13", "12.9", "13.0 13.1"),
    (">12", "12.1 13.0", "12.0"),
    ("~=12.4", "12.4 12.9", "12.3 13.0"),
    # The third number is not looked at, but that ~= makes the second fixed.
    ("~=12.4.1", "12.4", "12.5 12.3"),
    (">=12.4.127", "12.4", "12.3"),
    (" >= 12.4 , < 13 ", "12.4", "13.0"),
    ("\t>=12.4,\t!=12.6,!=12.8", None, None),
    (">=12,<13,!=12.5,!=12.6", "12.4 12.8", "12.5 12.6 13.0"),
    ("==12.*,==13.*", "", "12.0 13.0"),
    ("", "11.8 12.0", ""),
    ("  ", "11.8", "")])
def test_a_constraint_holds(constraint, holds, fails):
    if holds is None:       # a tab separates fields here
        constraint, holds, fails = constraint.replace("\t", " "), "12.4 12.9", "12.6 12.8 12.3"
    assert [version for version in (holds + " " + fails).split()
            if ask("constraint", cuda(version), constraint).split()[0] == "1"] == holds.split()


@pytest.mark.parametrize("constraint, place", [
    ("=13.2", 0), ("===13.2", 2), ("=>13.2", 0), ("x", 0), (">=", 2), (">= ", 3), (">=x", 2),
    (">=13.2x", 6), (">=13.2rc1", 6), (">=13.2.1.1", 8), (">=13,", 5), (">=13,,<14", 5),
    (">=13 <14", 5), ("==*", 2), (">=12.*", 4), ("~=12", 2), ("==12.*.1", 6), ("==12.x", 4),
    ("==1000.0", 2), ("!13", 0), (">=-1", 2)])
def test_a_malformed_constraint_is_told_with_its_place(constraint, place):
    assert ask("constraint", 13000, constraint) == f"-1 {place}"
