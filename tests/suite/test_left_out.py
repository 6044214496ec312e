# SPDX-License-Identifier: MIT
"""What `make test` leaves to `make test-all` is a list without dead rows, and is told of."""
import json
import re
import sys

import pytest

import build
import left_out
import sanitizer_skips

SOME = [build.TESTS / name for name in ("progress", "wheels", "hardening")]


@pytest.fixture
def runner(monkeypatch):
    """tests/run.py"""
    monkeypatch.syspath_prepend(build.TESTS)
    import run
    return run


def test_each_row_of_the_tables_is_about_a_test():
    for row in (*left_out.LEFT_OUT, *sanitizer_skips.SKIPPED):
        file, _, function = row[0].partition("[")[0].partition("::")
        assert (build.TESTS / file).exists(), row
        defined = function and re.findall(rf"def ({function}\w*)", (build.TESTS / file).read_text())
        assert not function or defined and (row in sanitizer_skips.SKIPPED or any(
            left_out.begins(name, function) for name in defined)), row


def collected(*arguments):
    said = build.output(sys.executable, "-m", "pytest", "-c", build.TESTS / "pytest.ini", "-q",
                        "-p", "no:xdist", "-p", "no:cacheprovider", "--collect-only", *arguments)
    return [line for line in said.splitlines() if "::" in line]


def test_every_test_is_in_the_default_or_left_out_for_a_reason(tmp_path, runner):
    everything = collected(*SOME)
    default = collected(*runner.leaving(left_out.NEEDS, tmp_path / "left"), *SOME)
    left = json.loads((tmp_path / "left").read_text())
    assert set(left) <= set(runner.needs())
    names = [name for some in left.values() for name in some]
    assert names and sorted([*names, *default]) == sorted(everything)
    # And each case that the table keeps is there.
    for start, _, *kept in left_out.LEFT_OUT:
        cases = [name.partition("[")[2][:-1] for name in default if left_out.begins(name, start)]
        if start.startswith(("progress/", "hardening/")):
            assert all(any(re.fullmatch(one, case) for case in cases) for one in kept), start


def test_what_another_run_has_passed_is_not_run_again(tmp_path):
    everything = collected(*SOME)
    passed, skipped, failed = [name.partition("::")[2] for name in everything
                               if name.startswith("hardening/test_hardening.py")][:3]
    (tmp_path / "results.xml").write_text("<testsuites>{}</testsuites>".format("".join(
        f'<testcase classname="hardening.test_hardening" name="{name}">{end}</testcase>'
        for name, end in ((passed, "<properties/>"), (skipped, "<skipped/>"), (failed, "<failure/>")))))
    left = collected("--passed", tmp_path / "results.xml", *SOME)
    assert set(everything) - set(left) == {f"hardening/test_hardening.py::{passed}"}
    assert collected("--passed", tmp_path / "none", *SOME) == everything


def test_a_path_that_is_not_there_is_said(runner, monkeypatch, capsys):
    """pytest-xdist keeps it to itself."""
    monkeypatch.setattr(sys, "argv", ["run.py", "tests/nowhere"])
    assert runner.main() == 2 and capsys.readouterr().out == "tests: there is no tests/nowhere\n"
