# SPDX-License-Identifier: MIT
"""What the commands write: whole or not at all, where it was asked for, and nowhere
else; with the rights it should have."""
import os
import re
import shutil
import stat
import subprocess
import sys

import pytest

import build
import made_up
import wheel_files
from importer import importer, real as library
from syscalls import traced

STRANGER = 65534


@pytest.fixture
def link(world, real):
    """link(out): what a link into that file says; a folder with nothing else in it."""
    world.loader(real("13.5").file("nvJitLink"))
    (world.folder("in") / "k.ptx").write_bytes(made_up.ptx())

    def link(out, **options):
        return world.cli("link", "-o", out, "--arch", "sm_80", world.root / "in" / "k.ptx",
                         check=False, **options)
    link.folder = world.folder("out")
    return link


def names(folder):
    return sorted(path.name for path in folder.iterdir())


# ---- link ----

@pytest.mark.parametrize("umask", [0o022, 0o077])
def test_a_linked_file_has_the_rights_of_any_new_file(link, umask):
    old = os.umask(umask)
    try:
        assert link(link.folder / "a").status == 0
    finally:
        os.umask(old)
    assert stat.S_IMODE((link.folder / "a").stat().st_mode) == 0o666 & ~umask


def test_a_part_of_a_file_is_opened_for_this_link_alone(world, link):
    said, calls = traced(world, build.BUILD / "bin" / "lazycuda", "link", "-o", link.folder / "a",
                         "--arch", "sm_80", world.root / "in" / "k.ptx")
    made = re.findall(r'openat\(\w+, "([^"]*)", ([A-Z_|]*O_CREAT[A-Z_|]*)', calls)
    assert [path.startswith(f"{link.folder}/a.") for path, _ in made] == [True]
    assert all("O_EXCL" in flags for _, flags in made)


@pytest.mark.parametrize("mode, owner, followed", [
    (0o1777, STRANGER, False), (0o777, STRANGER, False), (0o1777, None, True),
    (0o755, STRANGER, True)])
def test_a_strangers_link_is_not_followed_where_everybody_can_put_one(link, mode, owner, followed):
    victim = link.folder.parent / "victim"
    victim.write_text("old")
    (link.folder / "a").symlink_to(victim)
    if owner:
        try:
            os.chown(link.folder / "a", owner, owner, follow_symlinks=False)
        except PermissionError:
            pytest.skip("only root can make a link another user's")
    link.folder.chmod(mode)
    said = link(link.folder / "a")
    assert (said.status == 0) == followed
    assert (victim.read_bytes() == b"old") != followed
    if not followed:
        assert "symbolic link of somebody else's" in said.err and names(link.folder) == ["a"]


def test_a_link_that_leads_nowhere_is_neither_replaced_nor_followed(link):
    for target, why in (("../nowhere", "is a symbolic link to nowhere"),
                        ("a", "Too many levels of symbolic links"),
                        ("/proc/self/fd/1", "is standard output: use -o -")):
        (link.folder / "a").symlink_to(target)
        said = link(link.folder / "a")
        assert (said.status, said.out) == (2, "")
        assert said.err == f"lazycuda link: {link.folder / 'a'}: {why}\n"
        assert (link.folder / "a").is_symlink() and names(link.folder) == ["a"]
        assert not (link.folder.parent / "nowhere").exists()
        (link.folder / "a").unlink()


def test_a_limit_on_the_size_of_files_leaves_nothing_behind(world, link):
    (link.folder / "a").write_text("old")
    said = world.run("sh", "-c", 'ulimit -f 1; exec "$@"', "sh", build.TOOL, "link", "-o", link.folder / "a",
                     "--arch", "sm_80", world.root / "in" / "k.ptx", check=False)
    assert (said.status, said.err) == (2, f"lazycuda link: {link.folder / 'a'}: File too large\n")
    assert names(link.folder) == ["a"] and (link.folder / "a").read_text() == "old"


# ---- retarget ----

@pytest.fixture
def retarget(tmp_path, patchelf):
    def retarget(*words, **env):
        temporary = tmp_path / "temporary"
        temporary.mkdir(exist_ok=True)
        done = subprocess.run(
            [sys.executable, "-B", build.PYTHON / "lazycuda", "retarget",
             *map(str, words)], stdin=subprocess.DEVNULL, capture_output=True, text=True,
            env={**os.environ, "TMPDIR": str(temporary), **env})
        # Nothing is left, whatever came of it.
        assert names(temporary) == []
        return done
    return retarget


@pytest.fixture
def caller(tmp_path):
    """A library that needs the real libcudart.so.12."""
    return importer(tmp_path, "cudaMalloc", link=[
        library(tmp_path, "libcudart.so.12", "cudaMalloc", node="libcudart.so.12")])


@pytest.mark.parametrize("wheel, mode", [(False, 0o600), (True, 0o640), (False, 0o400)])
def test_a_retargeted_file_has_the_rights_of_the_old_one(retarget, caller, tmp_path, wheel, mode):
    path = wheel_files.make(tmp_path, {"pkg/a.so": caller}) if wheel else caller
    path.chmod(mode)
    done = retarget("-o", tmp_path / "out", path)
    assert done.returncode == 0, done.stderr
    assert stat.S_IMODE((tmp_path / "out" / path.name).stat().st_mode) == mode
    assert names(tmp_path / "out") == [path.name]


def test_an_output_replaces_a_link_and_does_not_follow_it(retarget, caller, tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("old")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / caller.name).symlink_to(victim)
    assert retarget("-o", tmp_path / "out", caller).returncode == 0
    assert victim.read_text() == "old" and not (tmp_path / "out" / caller.name).is_symlink()


def test_a_folder_for_parts_is_the_users_alone(retarget, caller, tmp_path):
    # Whoever could write there could change a result before it is moved.
    said = retarget("-o", tmp_path / "out", "--patchelf", spy(tmp_path), caller)
    seen = (tmp_path / "seen").read_text().split("\n")
    assert said.returncode == 0 and seen[0] == "700", seen


def spy(tmp_path):
    """A patchelf that notes the rights of the folder it works in."""
    path = tmp_path / "spy"
    path.write_text(f"""#!/bin/sh
for last; do :; done
[ "$last" = --version ] || stat -c %a "$(dirname "$(dirname "$last")")" >>"{tmp_path}/seen"
exec '{shutil.which("patchelf")}' "$@"
""")
    path.chmod(0o755)
    return path


# ---- the tree ----

PREDICTABLE = re.compile(r"""["'(= ]/(?:var/)?tmp/[\w.-]*[A-Za-z]|(?<![.\w])mktemp\("""
                         r"""|tempfile\.mktemp\(|\bte?mpnam\(""")


def test_no_file_of_the_tree_has_a_name_in_tmp_that_others_can_guess():
    found = []
    for pattern in ("stubs/**/*.[ch]", "link/**/*.[ch]", "tools/**/*", "gen/**/*.[ch]", "packaging/**/*", "bench/*.[cp]*",
                    "examples/**/*.[cps]*", "tests/**/*.[cp]*", ".ci/run", "Makefile"):
        for path in build.ROOT.glob(pattern):
            if path.is_file() and path.name != "test_outputs.py":
                text = path.read_text(errors="replace")
                found += [f"{path.relative_to(build.ROOT)}: {line}" for line in text.splitlines()
                          if PREDICTABLE.search(line)]
    assert found == []
