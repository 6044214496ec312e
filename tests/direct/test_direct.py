# SPDX-License-Identifier: MIT
"""Situations of processes, run both ways: a program that works if it is linked directly to the
real library works through the stub, too, in the same world.

A situation is one line here and one source beside this file.  situation.py says what a row
may have, tests/lib/sanitizer_skips.py which rows mean nothing under a sanitizer.
"""
import dataclasses

import pytest

import situation
from situation import Outcome, Real, Row

LINKERS = ("12.9", "13.5")

ROWS = [
    *[Row(f"an exit handler registered after the first call, nvJitLink {version}",
          "late_handler.c", (Real("nvJitLink", version),)) for version in LINKERS],
    *[Row(f"Python's atexit calls an extension, nvJitLink {version}", "at_exit.py",
          (Real("nvJitLink", version),), extensions=("extension.c",), arguments=("extension",))
      for version in LINKERS],
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_situation(row, tmp_path, real):
    situation.check(row, tmp_path, real)


# ---- the comparison itself ----

DIFFERENT = Row("who serves", "who_serves.c", (Real("nvJitLink", "12.9"),))


@pytest.mark.parametrize("row, holds", [
    (DIFFERENT, False),
    (dataclasses.replace(DIFFERENT, differs=Outcome("0 stub\n")), True),
    (dataclasses.replace(DIFFERENT, differs=Outcome("0 other\n")), False),
    (dataclasses.replace(DIFFERENT, better=lambda direct, stub: "stub" in stub.out), True),
    (dataclasses.replace(DIFFERENT, better=lambda direct, stub: "real" in stub.out), False),
    (dataclasses.replace(DIFFERENT, status=1, differs=Outcome("0 stub\n")), False),
])
def test_a_difference_is_seen(row, holds, tmp_path, real):
    if holds:
        situation.check(row, tmp_path, real)
        return
    with pytest.raises(AssertionError):
        situation.check(row, tmp_path, real)
