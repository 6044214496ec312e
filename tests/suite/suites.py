# SPDX-License-Identifier: MIT
"""Small suites that are run as the tests themselves are."""
import os
import pty
import subprocess
import sys

import build


def command(folder, *arguments):
    return [sys.executable, "-m", "pytest", "-c", build.TESTS / "pytest.ini", "-p", "conftest",
            "-p", "no:cacheprovider", f"--rootdir={folder}", f"--junitxml={folder}/results.xml",
            *arguments, folder]


def environment():
    paths = [build.TESTS, *(build.TESTS / name for name in ("lib", "fakes"))]
    return {**os.environ, "PYTHONPATH": ":".join(map(str, paths)), "TERM": "xterm",
            "COLUMNS": "200"}


def run(folder, *arguments):
    """What is printed into a log."""
    return subprocess.run([str(word) for word in command(folder, *arguments)], text=True,
                          capture_output=True, env=environment(), stdin=subprocess.DEVNULL).stdout


def run_on_a_terminal(folder, *arguments):
    master, slave = pty.openpty()
    process = subprocess.Popen([str(word) for word in command(folder, *arguments)], stdout=slave,
                               stderr=slave, stdin=subprocess.DEVNULL, env=environment())
    os.close(slave)
    said = b""
    try:
        while chunk := os.read(master, 65536):
            said += chunk
    except OSError:     # all have closed it
        pass
    process.wait()
    os.close(master)
    return said.decode(errors="replace")
