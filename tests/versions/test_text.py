# SPDX-License-Identifier: MIT
"""Versions and constraints as text."""
import pytest

from questions import ask, cuda


@pytest.mark.parametrize("text, version", [("12.9", 12090), ("12", 12000), ("13.0", 13000),
                                           ("12.9.86", 12090), ("11.8.999999", 11080),
                                           ("12.10", 12100), ("012.09", 12090), ("999.99", 999990)])
def test_a_version_is_read(text, version):
    assert ask("parse", text) == f"1 {version}"


@pytest.mark.parametrize("text", [
    "", " ", "x", "v12", "12.", ".9", "12..9", "12.9.", "12.9.86.1", "12.9 ", " 12.9", "12.9a",
    "12,9", "-12", "+12", "12.-1", "0.9", "0", "1000.0", "12.100", "12.9.1000000",
    "99999999999999999999", "12.99999999999999999999", "1e3", "0x12", "12.*", "１２"])
def test_what_is_no_version_is_refused_and_nothing_is_written(text):
    assert ask("parse", text) == "0 -2"


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
