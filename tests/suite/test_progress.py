# SPDX-License-Identifier: MIT
"""Who waits for the tests sees where they are, and at once what failed."""
import re
import types

import pytest

import suites
from run_progress import EVERY, Progress, progress_line, why

SUITE = """
import time
def test_first(): time.sleep(0.3)
def test_wrong():
    assert 1 == 2, "on purpose"
def test_last(): time.sleep(0.3)
"""


@pytest.fixture
def suite(tmp_path):
    (tmp_path / "test_some.py").write_text(SUITE)
    return tmp_path


def test_a_terminal_has_one_line_that_says_what_is_running(suite):
    said = suites.run_on_a_terminal(suite, "-p", "no:xdist")
    written = [part for part in said.split("\r") if part.endswith("\033[K")]
    assert any(re.search(r"tests: 33 %, 1 of 3 in 0:\d\d, 1 failed; now \S*::test_wrong", part)
               for part in written), said
    assert any(re.search(r"tests: \d+ %, . of 3 in 0:\d\d; now \S*::test_first", part)
               for part in written), said
    # Before the last test ends, and once more with all that pytest says of it.
    failed = said.index("FAILED test_some.py::test_wrong: AssertionError: on purpose")
    assert failed < said.index("3 of 3") < said.index("= FAILURES =")
    # Nothing is left of the line.
    assert re.search(r"\r\033\[K(\r?\n)*[^\n]*= FAILURES =", said)


def test_a_log_has_no_such_line(suite):
    said = suites.run(suite, "-p", "no:xdist")
    assert "\r" not in said and "\033" not in said
    assert said.count("test_some.py::test_wrong: AssertionError: on purpose") == 1
    assert "1 failed, 2 passed" in said


def test_with_several_processes_it_is_the_same(suite):
    pytest.importorskip("xdist")
    said = suites.run_on_a_terminal(suite, "-n", "2", "--dist", "loadscope")
    assert re.search(r"tests: \d+ %, \d of 3 in ", said)
    assert "FAILED test_some.py::test_wrong: AssertionError: on purpose" in said
    assert "1 failed, 2 passed" in re.sub(r"\033\[\d*m", "", said)


# ---- by a clock that is set ----

class Clock:
    seconds = 0.0

    def __call__(self):
        return self.seconds


@pytest.fixture
def log():
    clock, lines = Clock(), []
    stream = types.SimpleNamespace(write=lines.append, flush=lambda: None, isatty=lambda: False)
    made = Progress(progress_line.Line(stream), clock)
    made.total = 100
    return types.SimpleNamespace(progress=made, clock=clock, lines=lines)


def test_a_log_has_a_line_a_minute(log):
    for number in range(100):
        log.progress.pytest_runtest_logstart(f"gen/test_list.py::test_{number}")
        log.clock.seconds += EVERY / 5
        log.progress.pytest_runtest_logfinish(f"gen/test_list.py::test_{number}")
    assert len(log.lines) == 20
    assert log.lines[0] == "tests: 5 %, 5 of 100 in 1:00\n"


def test_a_test_that_hangs_is_named(log):
    log.progress.pytest_runtest_logstart("threads/test_races.py::test_rounds[x]")
    log.clock.seconds = 3 * EVERY
    log.progress.redraw()
    assert log.lines == ["tests: 0 %, 0 of 100 in 3:00; now threads/test_races.py\n"]


@pytest.mark.parametrize("text, when, said", [
    ("first\nsecond", "call", "first"), ("", "call", "it says nothing"),
    ("E   x", "setup", "(setup) E   x")])
def test_why_a_test_failed(text, when, said):
    report = types.SimpleNamespace(longrepr=text, longreprtext=text, when=when)
    assert why(report) == said
