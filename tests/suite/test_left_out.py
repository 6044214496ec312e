# SPDX-License-Identifier: MIT
"""What `make test` leaves to `make test-all` is a list without dead rows, and is told of."""
import json
import re
import subprocess
import sys

import pytest

import build
import left_out

SOME = [build.TESTS / name for name in ("progress", "wheels", "hardening")]


@pytest.fixture
def runner(monkeypatch):
    """tests/run.py"""
    monkeypatch.syspath_prepend(build.TESTS)
    import run
    return run


@pytest.mark.parametrize("row", left_out.LEFT_OUT, ids=lambda row: row[0])
def test_a_row_of_the_table_is_about_a_test(row):
    file, _, function = row[0].partition("::")
    assert (build.TESTS / file).exists()
    assert not function or f"\ndef {function}(" in (build.TESTS / file).read_text()


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


def test_all_needs_have_a_meaning_and_a_place(runner):
    assert set(left_out.NEEDS) == set(runner.needs())
    assert {row[1] for row in left_out.LEFT_OUT} <= set(left_out.NEEDS)


@pytest.mark.parametrize("name, need", [
    ("wheels/test_release.py::test_the_commands_of_the_page", "minute"),
    ("audit/test_verdicts.py::test_the_loader_does_what_the_tables_say[cudart-12.0]", "versions"),
    ("audit/test_verdicts.py::test_the_loader_does_what_the_tables_say[cudart-12.9]", None),
    ("hardening/test_hardening.py::test_distributions_flags_are_kept_too", None),
    ("sandbox/test_sandbox.py::test_the_environment_is_empty", None),
])
def test_what_the_table_says(name, need):
    assert left_out.need(name) == need


@pytest.mark.parametrize("arguments, rule", [
    ([], True), (["-x"], True), (["-n", "1", "--durations=5"], True), (["-k", "race"], False),
    (["-m", "network"], False), ([str(SOME[0])], False),
    ([f"{SOME[0]}/test_progress.py::test_a_narrow_terminal_gets_what_fits"], False)])
def test_who_names_tests_gets_them(runner, arguments, rule):
    assert runner.names_tests(arguments) != rule


def test_the_closing_lines_say_what_was_left_out(runner, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(runner, "LEFT_OUT", tmp_path / "left")
    runner.say_what_was_left_out()
    assert capsys.readouterr().out == ""
    (tmp_path / "left").write_text(json.dumps({"network": ["a"], "minute": ["b", "c"]}))
    runner.say_what_was_left_out()
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("tests: 3 tests were left out") and "make test-all" in said[0]
    assert [line.split(":")[1].split() for line in said[1:]] == [["1", "network"], ["2", "minute"]]


def test_the_makefile_runs_them_all():
    said = build.output("env", "-u", "MAKEFLAGS", "-u", "CONFIGURATIONS",
                        "make", "-s", "-n", "-C", build.ROOT, "test-all")
    assert re.search(r"tests/run\.py --all plain asan tsan", said)
    said = build.output("env", "-u", "MAKEFLAGS", "-u", "CONFIGURATIONS",
                        "make", "-s", "-n", "-C", build.ROOT, "test-release")
    assert re.search(r"tests/run\.py --release plain asan tsan", said)


def test_an_old_python_is_told_what_is_needed(runner, monkeypatch, capsys):
    needed = "{}.{}".format(*runner.PYTHON)
    for page in ("README.md", "docs/packaging.md"):
        line, = [line for line in (build.ROOT / page).read_text().splitlines()
                 if line.startswith("|") and "Python" in line and "tests" in line]
        assert f" {needed}" in line, page
    monkeypatch.setattr(runner, "PYTHON", (99, 0))
    monkeypatch.setattr(sys, "argv", ["run.py"])
    assert runner.main() == 1
    assert "the tests need Python 99.0 or later" in capsys.readouterr().out


def test_what_they_take_can_be_fetched_before(runner, monkeypatch, tmp_path):
    fetched = []
    of_another_run = tmp_path / "left"
    of_another_run.touch()
    monkeypatch.setattr(runner, "BUILD", tmp_path)
    monkeypatch.setattr(runner, "LEFT_OUT", of_another_run)
    monkeypatch.setattr(runner.prepare, "python", lambda: sys.executable)
    monkeypatch.setattr(runner.prepare, "fetch", fetched.append)
    monkeypatch.setattr(runner, "run_all", lambda *_: pytest.fail("tests were run"))
    monkeypatch.setattr(sys, "argv", ["run.py", "--all", "--fetch", str(build.TESTS / "gen")])
    assert runner.main() == 0 and fetched == [[str(build.TESTS / "gen")]]
    monkeypatch.setattr(runner.prepare, "python", lambda: None)
    assert runner.main() == 1 and len(fetched) == 1
    assert of_another_run.exists()


def test_the_list_can_be_asked_for(tmp_path):
    done = subprocess.run([sys.executable, build.TESTS / "run.py", "--help"], text=True,
                          capture_output=True)
    assert done.returncode == 0 and "--left-out" in done.stdout


def test_a_reader_may_stop_reading_it():
    done = subprocess.run(f"{sys.executable} {build.TESTS / 'run.py'} --help | sed q", shell=True,
                          text=True, capture_output=True)
    assert done.stdout.startswith("Run the tests") and not done.stderr
