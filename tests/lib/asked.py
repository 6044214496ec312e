# SPDX-License-Identifier: MIT
"""A Python program that loads what is tested, and answers lines, each with a line."""
import os
import subprocess
import sys

import build


def environment(**more):
    """For a program that imports lazycuda, or from here."""
    return build.environment(sys.executable, {
        **os.environ, "PYTHONPATH": f"{build.PYTHON}:{build.TESTS / 'lib'}",
        "LAZYCUDA_LINK_LIBRARY": str(build.STUBS / "liblazycuda_link.so"), **more})


def starving():
    """What is preloaded for starving.py."""
    return build.shared(build.TESTS / "lib" / "starving.c", *(["-DSANITIZED"] if build.SANITIZER else []))


class Asked:
    """Begins when it is asked, and again where it ended: it failed a test, and only that."""

    def __init__(self, *command, **env):
        self.command, self.env, self.process = command, env, None

    def ask(self, line):
        if not self.process or self.process.poll() is not None:
            self.process = subprocess.Popen(
                [sys.executable, *self.command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, text=True, env=environment(**self.env))
        print(line, file=self.process.stdin, flush=True)
        said = self.process.stdout.readline()
        assert said, self.process.stderr.read()
        return said.rstrip("\n")

    def end(self):
        if self.process:
            _, said = self.process.communicate()
            assert self.process.returncode == 0, said
