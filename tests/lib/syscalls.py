# SPDX-License-Identifier: MIT
"""What a program asks of the kernel, as strace says it."""
import re
import shutil

import pytest

from world import way


def traced(world, *command):
    """(what the command said, its system calls)"""
    if not shutil.which("strace"):
        pytest.skip("there is no strace")
    if way() == "proot":
        pytest.skip("proot traces the program here, and strace cannot")
    log = world.root / "strace.log"
    said = world.run("strace", "-f", "-s", "4096", "-o", log, *command, check=False)
    if said.status and "ptrace" in said.err:
        pytest.skip(f"strace cannot trace here: {said.err.splitlines()[0]}")
    assert said.status == 0, said.err
    return said, log.read_text()


def system_calls(world, *command):
    return traced(world, *command)[1]


def between(calls, first, last):
    """The calls between two markers that the program has written to stderr."""
    return re.search(rf'write\(2, "{first}".*?\n(.*)^[^"]*write\(2, "{last}"', calls, re.S | re.M)[1]


def files_opened(calls):
    return re.findall(r'\bopen(?:at)?\(.*?"(.*?)".* = \d', calls)
