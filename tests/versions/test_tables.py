# SPDX-License-Identifier: MIT
"""What belongs to which toolkit, row by row, and what lies beside the rows."""
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


@pytest.mark.parametrize("isa, version", [
    (96, "13.6"), (99, "13.9"), (100, "14.0"), (101, "14.1"),      # newer than the table
    (79, "12.0"), (89, "13.0"),                                    # between two rows
    (63, "11.0"), (10, "11.0")])                                   # older than all
def test_an_isa_that_is_not_in_the_table(isa, version):
    assert ask("isa", isa) == str(cuda(version))


@pytest.mark.parametrize("version, isa", [("13.6", 96), ("13.9", 99), ("13.12", 99), ("14.0", 100),
                                          ("14.3", 103), ("12.10", 88), ("11.9", 78)])
def test_the_newest_isa_of_a_version_that_is_not_in_the_table(version, isa):
    assert ask("newest-isa", cuda(version)) == str(isa)


@pytest.mark.parametrize("version", [10020, 0, -1])
def test_what_is_older_than_the_table_or_no_version_knows_no_isa(version):
    assert ask("newest-isa", version) == "0"


@pytest.mark.parametrize("container, ir, version", [
    (1067, 2132, "13.6"), (1068, 2131, "13.6"), (2000, 3000, "13.6"),     # newer than the table
    (1059, 2059, "12.3"), (1057, 2052, "12.1"),         # between two rows: the first that reads it
    (1061, 2051, "12.4"),                               # the container decides, if it is newer
    (1054, 2001, "11.7")])                              # older than all
def test_ltoir_that_is_not_in_the_table(container, ir, version):
    assert ask("ltoir", container, ir) == str(cuda(version))


def test_ltoir_whose_ir_is_hidden_is_of_no_known_toolkit():
    assert ask("ltoir", 1061, 0) == "0"


@pytest.mark.parametrize("container, oldest, newest", [
    (1054, "11.7", "11.8"), (1057, "12.0", "12.1"), (1059, "12.2", "12.2"),
    (1060, "12.3", "12.3"), (1061, "12.4", "12.5"), (1062, "12.6", "12.6"),
    (1064, "12.8", "12.9"), (1065, "13.0", "13.0"), (1066, "13.1", "13.2"),
    (1067, "13.3", "13.5"),
    (1063, "12.8", "12.8"), (1068, "13.6", "13.6"), (1000, "11.7", "11.7")])
def test_the_toolkits_of_a_container(container, oldest, newest):
    assert ask("container", container) == f"{cuda(oldest)} {cuda(newest)}"


@pytest.mark.parametrize("branch, version", [(450, "11.0"), (471, "11.4"), (505, "11.5"),
                                             (579, "12.9"), (611, "13.3"), (700, "13.4")])
def test_a_branch_between_two_rows_has_the_version_of_the_lower(branch, version):
    assert ask("branch", branch) == str(cuda(version))


@pytest.mark.parametrize("branch", [390, 440, 0, -1])
def test_a_branch_before_the_table_has_no_version(branch):
    assert ask("branch", branch) == "0"


@pytest.mark.parametrize("major, branch", [(11, 450), (12, 525), (13, 580), (10, 0), (14, 0)])
def test_the_branch_that_minor_version_compatibility_needs(major, branch):
    assert ask("needed-branch", major) == str(branch)
