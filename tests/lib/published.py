# SPDX-License-Identifier: MIT
"""Wheels from PyPI, fetched when a test wants them and kept below build/."""
import pathlib
import tempfile

import build
import run_pip

TAGS = ("manylinux1", "manylinux2014", "manylinux_2_17", "manylinux_2_24", "manylinux_2_26",
        "manylinux_2_27", "manylinux_2_28", "manylinux_2_34")
PYTHON = "3.11"     # what wheels for one Python are fetched for


def folder(wheel):
    return build.BUILD / "tests" / "wheels" / wheel


def fetch(wheel):
    """None, or why it could not be had."""
    target = folder(wheel)
    if list(target.glob("*.whl")):
        return None
    target.mkdir(parents=True, exist_ok=True)
    platforms = [word for tag in TAGS for word in ("--platform", f"{tag}_x86_64")]
    # Put there whole: another test may look for the same.
    with tempfile.TemporaryDirectory(dir=target) as part:
        try:
            pip = run_pip.run(["download", "--quiet", "--no-deps", "--only-binary=:all:",
                               "--python-version", PYTHON, *platforms, "--platform", "any",
                               "--dest", part, wheel], capture_output=True, text=True)
        except run_pip.NoPip as why:
            return str(why)
        if pip.returncode:
            return run_pip.reason(pip.stderr)
        made, = pathlib.Path(part).iterdir()
        made.replace(target / made.name)
    return None


def file(wheel):
    """What was fetched."""
    return next(folder(wheel).glob("*.whl"))
