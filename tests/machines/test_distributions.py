# SPDX-License-Identifier: MIT
"""tests/distributions.py, as far as it goes without a network; CI runs the rest of it."""
import importlib.util
import shutil
import subprocess
import sys
import tarfile
import threading

import pytest

import build

SCRIPT = build.TESTS / "distributions.py"


def run(*arguments, status=0, **env):
    done = subprocess.run([sys.executable, SCRIPT, *map(str, arguments)], text=True, env=env,
                          capture_output=True)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout.splitlines() if status != 2 else done.stderr


@pytest.fixture
def script():
    spec = importlib.util.spec_from_file_location("distributions", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.skipif(build.ARCH != "x86_64", reason="which roots are foreign depends on the CPU")
def test_the_roots():
    every = run("--list")
    assert len(every) == 9 and every[-1] == "trixie/arm64/gcc"
    assert run("--list", "sid") == ["sid/amd64/gcc", "sid/amd64/clang"]
    assert run("--list", "sid/clang", "bookworm/arm64") == [
        "sid/amd64/clang", "bookworm/arm64/gcc"]
    assert "sid/tcc: RELEASE" in run("sid/tcc", status=2)
    assert "--jobs 0: one root" in run("sid", "--jobs", 0, status=2)


def test_without_mmdebstrap_all_is_skipped_and_it_says_why(tmp_path):
    said = run("sid/gcc", "--folder", tmp_path, "--run", "make", "--run", "make test",
               PATH=str(tmp_path))
    assert "apt install mmdebstrap" in said[0]
    assert said[-1] == "0 passed, 0 failed, 2 skipped"


def test_several_at_a_time(script, tmp_path, monkeypatch, capsys):
    """Each waits for the other to begin."""
    both = threading.Barrier(2)

    def try_root(root, _):
        both.wait(timeout=20)
        return len(root.compiler), 0, 1
    monkeypatch.setattr(script, "try_root", try_root)
    monkeypatch.setattr(sys, "argv", ["distributions.py", "--jobs", "2", "--folder", str(tmp_path),
                                      "sid/gcc", "sid/clang"])
    assert script.main() == 0
    assert capsys.readouterr().out == "8 passed, 0 failed, 2 skipped\n"


def test_a_root_that_cannot_be_made_leaves_nothing(tmp_path):
    failing = tmp_path / "bin" / "mmdebstrap"
    failing.parent.mkdir()
    failing.write_text("#!/bin/sh\necho 'E: no such release' >&2\nexit 1\n")
    failing.chmod(0o755)
    said = run("sid/gcc", "--folder", tmp_path / "roots", "--run", "make",
               PATH=f"{failing.parent}:/usr/bin:/bin:/usr/sbin:/sbin")
    assert said[-1] == "0 passed, 0 failed, 1 skipped"
    assert not list((tmp_path / "roots").glob("*.tar"))


@pytest.mark.skipif(not shutil.which("git"), reason="there is no git")
def test_the_clone_has_what_git_has_and_nothing_made(script, tmp_path):
    script.pack_tree(tmp_path / "tree.tar")
    with tarfile.open(tmp_path / "tree.tar") as archive:
        names = set(archive.getnames())
    assert {"Makefile", "symbols.txt", "tests/distributions.py", "stubs/loader/loader.c"} <= names
    assert not [name for name in names if name.startswith("build/")]


def test_what_settings_name_is_seen_there(script, tmp_path):
    tmp_path = build.without_spaces(tmp_path)
    (tmp_path / "ca.pem").write_text("")
    env = {"PIP_CERT": f"{tmp_path}/ca.pem", "PIP_FIND_LINKS": f"{tmp_path} https://index/x",
           "PIP_INDEX_URL": "https://index", "PIP_CONFIG_FILE": "/not/there"}
    assert script.as_seen_inside(env) == {
        "PIP_CERT": f"/mnt{tmp_path}/ca.pem", "PIP_FIND_LINKS": f"/mnt{tmp_path} https://index/x",
        "PIP_INDEX_URL": "https://index", "PIP_CONFIG_FILE": "/not/there"}
