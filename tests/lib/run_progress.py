# SPDX-License-Identifier: MIT
"""Where a run is: on a terminal one line that is written again and again, in a log a line
now and then; a test that fails is named at once.

    tests: 35 %, 1234 of 3502 in 1:40, 1 failed; now threads/test_races.py, gen/test_list.py
"""
import threading
import time

import pytest

import toolkits     # which puts tools/upkeep where Python looks  # noqa: F401
import progress_line  # noqa: E402

EVERY = 60      # seconds between two lines of a log
TICK = 1


def clock(seconds):
    minutes, seconds = divmod(int(seconds), 60)
    return f"{minutes}:{seconds:02}"


class Progress:
    """Takes the place of pytest's dots."""

    def __init__(self, line, now=time.monotonic):
        self.line = line
        self.now = now
        self.lock = threading.RLock()
        self.ended = threading.Event()
        self.started = self.written = now()
        self.total = self.done = self.failed = 0
        self.running = {}

    # ---- what pytest tells ----

    def pytest_sessionstart(self):
        threading.Thread(target=self.tick, daemon=True).start()

    def pytest_collection_finish(self, session):
        self.total = len(session.items) or self.total

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids):
        self.total = len(ids)

    def pytest_runtest_logstart(self, nodeid):
        first = not self.running and not self.done
        self.running[nodeid] = None     # in the order in which they started
        # While a test runs in this very process, pytest has what is written.
        self.redraw(at_once=first and self.line.live)

    def pytest_runtest_logreport(self, report):
        if report.failed:
            self.failed += 1
            self.announce(f"FAILED {report.nodeid}: {why(report)}")

    def pytest_runtest_logfinish(self, nodeid):
        self.running.pop(nodeid, None)
        self.done += 1
        self.redraw()

    @pytest.hookimpl(wrapper=True)
    def pytest_report_teststatus(self):
        category, letter, word = yield
        return (category, letter, word) if self.ended.is_set() else (category, "", "")

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self):
        self.ended.set()
        with self.lock:
            self.line.clear()

    # ---- what is written ----

    def text(self):
        share = 100 * self.done // self.total if self.total else 0
        failed = f", {self.failed} failed" if self.failed else ""
        now = [name if self.line.live else name.partition("::")[0] for name in self.running]
        return (f"tests: {share} %, {self.done} of {self.total} in "
                f"{clock(self.now() - self.started)}{failed}"
                + (f"; now {', '.join(dict.fromkeys(now))}" if now else ""))

    def tick(self):
        while not self.ended.wait(TICK):
            self.redraw()

    def redraw(self, at_once=False):
        with self.lock:
            if self.ended.is_set() or not self.total:
                return
            passed = self.now() - self.written
            if at_once or passed >= (progress_line.AGAIN if self.line.live else EVERY):
                self.written = self.now()
                self.line.show(self.text())
                self.line.log(self.text())

    def announce(self, text):
        with self.lock:
            self.written = self.now()
            self.line.say(text)
            self.redraw(at_once=self.line.live)


def why(report):
    """The first line of what is wrong."""
    crash = getattr(report.longrepr, "reprcrash", None)
    text = crash.message if crash else report.longreprtext
    where = "" if report.when == "call" else f"({report.when}) "
    return where + (text.strip().splitlines() or ["it says nothing"])[0]


def install(config):
    """Unless pytest was told how much to say."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if hasattr(config, "workerinput") or reporter is None or config.option.verbose or \
            config.option.collectonly or config.getoption("capture") == "no":
        return
    # No names of files, no percentages of its own.
    reporter.showfspath = False
    reporter._show_progress_info = False
    line = progress_line.Line(config.get_terminal_writer()._file)
    config.pluginmanager.register(Progress(line), "progress")
