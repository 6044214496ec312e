# SPDX-License-Identifier: MIT
"""Wheels from PyPI, fetched when a test wants them and kept below build/."""
import pathlib
import tempfile

import build
import run_pip

# Built for 11, 12 and 13; with the libraries of others, renamed ones, copies of
# their own, and with none.  The names are those of the whole wheels.
WHEELS = """
bitsandbytes-cuda110==0.26.0.post2 bitsandbytes-cuda117==0.26.0.post2 torchaudio==2.0.2
torchvision==0.15.2 torchaudio==2.8.0 torchvision==0.21.0 cumm-cu120==0.6.3
faiss-gpu-cu12==1.14.1.post1 torch-memory-saver==0.0.10 torchao==0.18.0 torchaudio==2.11.0
torchcodec==0.17.0 torchvision==0.29.2
""".split()
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
