# SPDX-License-Identifier: MIT
"""Questions to the tables and rules about versions.

    ask("isa", 88) == "12090"
    ask_all([("isa", 88), ("isa", 90)]) == ["12090", "13000"]
"""
import pathlib
import subprocess
import sys

import build

HERE = pathlib.Path(__file__).resolve().parent
SOURCES = build.room("stubs/base", "link/tables")

NONE, UNKNOWN = 0, -1
PTX, CUBIN, LTOIR = 1, 2, 3
NVRTC, NVJITLINK, DRIVER = range(3)             # enum lk_tool
ON_NVJITLINK, ON_DRIVER = 1, 2                  # enum lazycuda_backend
BEST_EFFORT, STRICT, OFF = range(3)
ACROSS_MAJORS, FORWARD_COMPATIBLE = 1, 4


def cuda(text):
    """12090 for "12.9"."""
    major, minor = text.split(".")
    return 1000 * int(major) + 10 * int(minor)


class Asked:
    """A running ask."""

    def __init__(self, **env):
        tables = build.shared(SOURCES[0], *SOURCES[1:], "-D_GNU_SOURCE", "-ldl", name="libtables.so")
        env = build.environment(sys.executable, {"PYTHONPATH": build.PYTHON, **env})
        self.process = subprocess.Popen(
            [sys.executable, HERE / "ask.py", tables], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, env=env)

    def ask(self, *question):
        self.process.stdin.write("\t".join(map(str, question)) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, self.process.stderr.read()
        return line.rstrip("\n")

    def end(self):
        _, said = self.process.communicate()
        assert self.process.returncode == 0, said


# One for all tests of a run; conftest.py ends it, and then a leak is told.
_running = []


def ask(*question):
    if _running and _running[0].process.poll() is not None:
        _running.clear()        # it failed a test, and only that
    if not _running:
        _running.append(Asked())
    return _running[0].ask(*question)


def ask_all(questions):
    return [ask(*question) for question in questions]


def end():
    while _running:
        _running.pop().end()
