# SPDX-License-Identifier: MIT
"""What is done to every wheel from PyPI."""
import re
import sys

import pytest

import elf
import published
import wheel_files

REAL = re.compile(
    r"lib(cudart|nvrtc|nvJitLink|nvrtc-builtins|cuda|nvidia-ml)([-.][0-9a-f]{8})?\.so")
OURS = re.compile(r"lib(cudart|nvrtc|nvJitLink|cuda|nvidia-ml)_stub")


def fetched(wheel):
    """The file, for this Python."""
    why = published.fetch(wheel)
    if why:
        pytest.skip(f"{wheel} could not be fetched: {why}")
    return published.file(wheel)


def for_this_python(wheel):
    python = "cp{}{}".format(*sys.version_info)
    return wheel.name.split("-")[-3] in (python, "py3", "py2.py3") or "-abi3-" in wheel.name


def retargeted(retarget, wheel, *options):
    """The new wheel, and what was said of it."""
    said, = retarget(*options, wheel).wheels
    made = retarget.out / wheel.name
    wheel_files.check_record(made)
    assert said["files"] and said["outcome"] == "retargeted"
    return made, said


def check_files(files, installed, said, left=False):
    """Each needs stubs, and of the real libraries there is what the report says comes with the
    wheel; with `left` some of the others need theirs, too."""
    kept = {note.split()[0].rpartition("/")[2] for note in said["notes"]
            if "is the real" in note and "and stays" in note}
    there = [path for path in installed.rglob("lib*.so*")
             if REAL.match(path.name) and path.name not in kept]
    stubs = {path.name for path in there if b"LAZYCUDA_1" in path.read_bytes()}
    for file in files:
        needed = elf.dynamic(file)["NEEDED"]
        assert stubs.issuperset(filter(REAL.match, {*needed} - kept))
        assert [name for name in needed if name in stubs or OURS.match(name)]
        assert elf.imports(file)        # what BFD tools see
    assert left or all(path.name in stubs for path in there)
