# SPDX-License-Identifier: MIT
"""A short run of the fuzzers; `make fuzz` is the long one."""
import filecmp
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

import build

HERE = pathlib.Path(__file__).resolve().parent
RUNS = 200_000


def fuzz(*arguments, **options):
    return subprocess.run([sys.executable, HERE / "fuzz.py", *map(str, arguments)],
                          capture_output=True, text=True, **options)


@pytest.mark.parametrize("target", ["inspect", "versions"])
def test_a_short_run_finds_nothing(tmp_path, target):
    if not shutil.which("clang"):
        pytest.skip("clang is not installed, and it alone has libFuzzer")
    folder = build.BUILD / "tests" / f"fuzz-{target}"
    done = fuzz("--runs", RUNS, "--target", target, "--jobs", 1, "--folder", folder)
    if done.returncode == 2 and "fuzzer" in done.stderr:
        pytest.skip(f"this clang has no libFuzzer: {done.stderr.splitlines()[-1]}")
    assert done.returncode == 0, done.stdout + done.stderr
    executions, findings = re.match(rf"{target}: (\d+) executions, (\d+) findings",
                                    done.stdout).groups()
    assert int(executions) >= RUNS and int(findings) == 0


def test_without_clang_it_says_so(tmp_path):
    done = fuzz("--runs", 1, "--folder", tmp_path, env={"PATH": str(tmp_path)})
    assert done.returncode == 2 and "clang is not installed" in done.stderr


def test_the_corpus_is_what_its_script_writes(tmp_path):
    subprocess.run([sys.executable, HERE / "corpus.py", tmp_path], check=True)
    for target in ("inspect", "versions"):
        names = sorted(path.name for path in (tmp_path / target).iterdir())
        assert names == sorted(path.name for path in (HERE / "corpus" / target).iterdir())
        _, mismatch, errors = filecmp.cmpfiles(tmp_path / target, HERE / "corpus" / target, names,
                                               shallow=False)
        assert not mismatch + errors
