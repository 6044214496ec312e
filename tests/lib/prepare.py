# SPDX-License-Identifier: MIT
"""What tests/run.py makes and fetches before pytest starts: build/venv, and of the real
CUDA libraries what the tests that will run take."""
import pathlib
import platform
import re
import shutil
import subprocess
import sys

import build
import toolkits
from toolkits import ROOT       # which puts tools/upkeep where Python looks

import fetch as fetcher  # noqa: E402
import run_pip  # noqa: E402

TESTS = ROOT / "tests"
BUILD = ROOT / "build"
VENV = BUILD / "venv"
PYTHON = VENV / "bin" / "python"
REQUIREMENTS = TESTS / "requirements.txt"
# Without these nothing runs.
NEEDED = ("pytest", "pytest-xdist")
# Tests call pip themselves, and before Python 3.12 it wants distutils, which Debian leaves
# out and setuptools has.
FIRST = ("setuptools", "pip")
LIBCLANG = "build/libclang/clang/native/libclang.so"
# What the files of a folder say whose tests take these, where they are there; all others run on
# fakes.  Pages have commands that take all of it.
TOOLKITS = r"\b(toolkits?|real|pages)\b"
LIBRARIES = r"^\s*import (real_libraries|pages)\b"
LIBCLANG_TAKEN = r"\blibclang\b|^\s*import pages\b"


class Failed(Exception):
    """What cannot be had; what that means is for the caller to say."""


def say(text):
    print(f"tests: {text}", flush=True)


def has(python, module):
    return subprocess.run([python, "-c", f"import {module}"], stdin=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL).returncode == 0


# ---- build/venv ----

def requirements():
    """Lines of requirements.txt, by the name of the package."""
    lines = [line.partition("#")[0].strip() for line in REQUIREMENTS.read_text().splitlines()]
    found = {}
    for line in filter(None, lines):
        found.setdefault(line.partition("==")[0], []).append(line)
    return found


def install(lines, *options):
    """Into build/venv; None, or why it could not be done."""
    with fetcher.ended_in_order():
        done = run_pip.run(["install", "--no-input", *options, *lines], PYTHON,
                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    return run_pip.reason(done.stderr) if done.returncode else None


def install_each(groups, *options):
    """Each as far as it goes; {what could not be installed: why}."""
    missing = {}
    for lines in groups:
        why = install(lines, *options)
        if why:
            missing[lines[0]] = why
        if isinstance(why, run_pip.Unreachable):
            break
    return missing


def add_distutils(environment):
    """Before Python 3.10 pip does not take that of setuptools.  What build/pip has needed goes
    before what the Python of this environment has of it."""
    if not (run_pip.PIP / "distutils").is_dir():
        return
    own = environment / "lib" / "distutils-of-pip"
    shutil.copytree(run_pip.PIP / "distutils", own / "distutils")
    for packages in environment.glob("lib/python*/site-packages"):
        (packages / "distutils-of-pip.pth").write_text(
            f"import sys; sys.path.insert(0, {str(own)!r})\n")


def fill_venv():
    """What could not be installed, as install_each() says it.  Raises Failed without pytest."""
    wanted = requirements()
    say("making build/venv")
    shutil.rmtree(VENV, ignore_errors=True)
    # With symlinks as venv's own command does it; pip is put there below.
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", VENV], check=True,
                   stdin=subprocess.DEVNULL)
    add_distutils(VENV)
    # What lies beside pip in build/pip is not in the environment.
    why = install([text for name in NEEDED for text in wanted.pop(name)], "--ignore-installed")
    if why:
        raise Failed(why)
    missing = install_each([wanted.pop(name, [name]) for name in FIRST], "--ignore-installed")
    rest = list(wanted.values())
    if rest and install([text for lines in rest for text in lines]):
        missing.update(install_each(rest))
    return missing


def make_venv():
    """build/venv, with what requirements.txt names; what could not be had of it.

    Raises Failed where there is no pytest in it."""
    stamp = VENV / "requirements.txt"
    with build.locked(BUILD / "venv.lock"):
        if not (stamp.exists() and stamp.read_text() == REQUIREMENTS.read_text()
                and has(PYTHON, "pytest")):
            missing = fill_venv()
            (VENV / "missing.txt").write_text("".join(
                f"{what}: {why}\n" for what, why in missing.items()))
            if not any(isinstance(why, run_pip.Unreachable) for why in missing.values()):
                shutil.copy(REQUIREMENTS, stamp)
    missing = VENV / "missing.txt"
    return missing.read_text().splitlines() if missing.exists() else []


def python():
    """The Python to run pytest with; None if there is none, and that has been said."""
    try:
        missing = make_venv()
    except (run_pip.NoPip, Failed, OSError, subprocess.CalledProcessError) as why:
        if has(sys.executable, "pytest"):
            say(f"build/venv could not be made ({why}): the tests run with this Python's own "
                "pytest, and those that need what tests/requirements.txt names are skipped")
            return sys.executable
        say(f"there is no pytest, and none could be installed: {why}. Without it no test runs: "
            "mend that, or install pytest (Debian, Ubuntu, Fedora: python3-pytest)")
        return None
    if missing:
        say(f"tests that need these are skipped, pip could not install them: {'; '.join(missing)}")
    return PYTHON


# ---- real libraries ----

def folders(paths):
    """Names of the folders of tests that will run; None: all."""
    found = set()
    for path in paths:
        path = pathlib.Path(str(path).partition("::")[0]).resolve()
        if TESTS not in path.parents:
            return None
        found.add(path.relative_to(TESTS).parts[0])
    return found or None


def wants(selected, words):
    return selected is None or any(re.search(words, file.read_text(), re.M) for folder in selected
                                   for file in (TESTS / folder).rglob("*.py"))


def fetch_libclang():
    """What derives symbols.txt reads headers with it.  A line of failure, or none."""
    done = subprocess.run(["make", "-s", "-C", ROOT, f"PYTHON={PYTHON}", LIBCLANG],
                          stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    said = "\n".join(line for line in done.stderr.splitlines() if not line.startswith("make"))
    return [] if done.returncode == 0 else [f"libclang==18.1.1: {run_pip.reason(said)}"]


def fetch_libraries():
    """Those that docs/reference/own-library.md makes stubs for: all, or the smallest."""
    if not toolkits.requested() or platform.machine() != "x86_64":
        return []
    some = None if toolkits.all_requested() else ["libcurand", "cudart", "crt"]
    table = ROOT / "tools" / "upkeep" / "libraries.txt"
    return fetcher.fetch(BUILD / "libraries", fetcher.toolkits(table), some, table=table)


def fetch_toolkits():
    """Those that are asked for, and for aarch64 those that can be run here."""
    jobs = [(toolkits.requested(), platform.machine())]
    if toolkits.can_run_aarch64():
        jobs.append((toolkits.requested_aarch64(), "aarch64"))
    # With all versions symbols.txt is derived again: that takes NVML's header, too.
    some = None if toolkits.all_requested() else ["cudart", "nvrtc", "nvjitlink", "nvfatbin", "crt"]
    return [why for versions, arch in jobs
            for why in fetcher.fetch(BUILD / "toolkits", versions, some, arch)]


def fetch(paths):
    """What the tests in these folders and files take; all tests, if there are none.  What
    fails is left to the tests to report."""
    selected = folders(paths)
    failures = []
    if wants(selected, TOOLKITS):
        failures += fetch_toolkits()
    if wants(selected, LIBRARIES):
        failures += fetch_libraries()
    for why in fetcher.summary(failures):
        say(f"not fetched, so tests of it are skipped and all others run on fakes: {why}")
    toolkits.FAILURES.write_text("\n".join(failures))
    if wants(selected, LIBCLANG_TAKEN):
        for why in fetch_libclang():
            say(f"tests that need it are skipped: {why}")
