# SPDX-License-Identifier: MIT
"""tests/distributions.py, as far as it goes without a network; CI runs the rest of it."""
import importlib.util
import shutil
import sys
import tarfile

import pytest

import build

SCRIPT = build.TESTS / "distributions.py"


def run(*arguments, status=0, **env):
    done = build.run(sys.executable, SCRIPT, *map(str, arguments), env=env)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout.splitlines() if status != 2 else done.stderr


@pytest.fixture
def script():
    spec = importlib.util.spec_from_file_location("distributions", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_without_mmdebstrap_all_is_skipped_and_it_says_why(tmp_path):
    said = run("sid/gcc", "--folder", tmp_path, "--run", "make", "--run", "make test",
               PATH=str(tmp_path))
    assert "apt install mmdebstrap" in said[0]
    assert said[-1] == "0 passed, 0 failed, 2 skipped"


@pytest.mark.skipif(not shutil.which("git"), reason="there is no git")
def test_the_clone_has_what_git_has_and_nothing_made(script, tmp_path):
    script.pack_tree(tmp_path / "tree.tar")
    with tarfile.open(tmp_path / "tree.tar") as archive:
        names = set(archive.getnames())
    assert {"Makefile", "symbols.txt", "tests/distributions.py", "stubs/loader/loader.c"} <= names
    assert not [name for name in names if name.startswith("build/")]
