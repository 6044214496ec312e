# SPDX-License-Identifier: MIT
"""A short run of the fuzzers; `make fuzz` is the long one."""
import pathlib
import re
import shutil
import sys

import pytest

import build

HERE = pathlib.Path(__file__).resolve().parent
# What takes some seconds of each.
RUNS = {"inspect": 200_000, "versions": 200_000, "object": 100_000, "image": 100_000,
        "ldcache": 200_000, "packages": 200_000, "settings": 100_000, "places": 20_000, "wheel": 100_000,
        "symbols": 30_000, "metadata": 20_000}


def run_of(target, runs):
    if not shutil.which("clang"):
        pytest.skip("clang is not installed, and it alone has libFuzzer")
    # All of them in one folder: what several need is compiled once.
    done = build.run(sys.executable, HERE / "fuzz.py", "--runs", str(runs), "--target", target, "--jobs", "1",
                     "--folder", build.BUILD / "tests" / "fuzz")
    # What clang or the linker says without it; an undefined reference is a mistake here.
    if done.returncode == 2 and re.search(r"unsupported.*fuzzer|cannot find.*libclang_rt|"
                                          r"libclang_rt.*No such file", done.stderr):
        pytest.skip(f"this clang has no libFuzzer: {done.stderr.splitlines()[-1]}")
    assert done.returncode == 0, done.stdout + done.stderr
    executions, findings = re.match(rf"{target}: (\d+) executions, (\d+) findings",
                                    done.stdout).groups()
    assert int(executions) >= runs and int(findings) == 0


@pytest.mark.parametrize("target", RUNS)
def test_a_short_run_finds_nothing(target):
    run_of(target, RUNS[target])


def test_the_corpus_comes_to_every_reader_of_cubins():
    """What nothing in it comes to, mutations hardly come to: each rule needs that all before it
    hold."""
    run_of("inspect", 1)
    done = build.run(build.BUILD / "tests" / "fuzz" / "inspect" / "inspect", "-runs=0", "-print_coverage=1",
                     HERE / "corpus" / "inspect")
    assert done.returncode == 0, done.stderr
    functions = {name: how for how, name in re.findall(
        r"^((?:UN)?COVERED)_FUNC: .* (\w+) \S*/cubin\w*\.c:", done.stderr, re.M)}
    if not functions:
        pytest.skip("there is no llvm-symbolizer, which says what was covered")
    assert {"lk_cubin_sound", "lk_cubin_usual", "cubin_contents"} <= functions.keys()
    assert not [name for name, how in functions.items() if how == "UNCOVERED"]
