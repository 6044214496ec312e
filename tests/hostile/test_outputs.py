# SPDX-License-Identifier: MIT
"""What the commands write: whole or not at all, where it was asked for, and nowhere
else; with the rights it should have."""
import os
import re
import shutil
import stat
import struct
import subprocess
import sys

import pytest

import build
import made_up
import wheel_files
from importer import importer, real as library
from syscalls import traced
from world import chowned

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
    said, calls = traced(world, "sh", "-c", 'exec "$@" <&- 2>&-', "-", build.BUILD / "bin" / "lazycuda", "link",
                         "-o", link.folder / "a", "--arch", "sm_80", world.root / "in" / "k.ptx")
    made = re.findall(r'openat\(\w+, "([^"]*)", ([A-Z_|]*O_CREAT[A-Z_|]*).* = (\d+)', calls)
    assert [path.startswith(f"{link.folder}/a.") for path, *_ in made] == [True]
    # A message does not go into it where standard error is closed.
    assert all("O_EXCL" in flags and int(number) > 2 for _, flags, number in made)


@pytest.mark.parametrize("mode, owner, followed", [
    (0o1777, STRANGER, False), (0o777, STRANGER, False), (0o1777, None, True),
    (0o755, STRANGER, True)])
def test_a_strangers_link_is_not_followed_where_everybody_can_put_one(link, mode, owner, followed):
    victim = link.folder.parent / "victim"
    victim.write_text("old")
    (link.folder / "a").symlink_to(victim)
    if owner:
        chowned(link.folder / "a", owner)
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


# ---- all commands ----

@pytest.mark.parametrize("words", [
    ["link", "--arch", "sm_80", "in/k.ptx", "-o", "open/trap/a.so"], ["retarget", "in/a.so", "-o", "open/trap"],
    ["retarget", "in/a.so", "-o", "open/trap/new"], ["retarget", "--in-place", "open/trap/a.so"],
    ["stub", "--from", "in/libcudart.so.12", "--missing", "9", "-o", "open/trap"],
    ["stub", "--from", "in/libcudart.so.12", "--missing", "9", "-o", "open/trap/a"]], ids=" ".join)
def test_nor_on_the_way_to_an_output(world, real, patchelf, caller, words):
    world.loader(real("13.5").file("nvJitLink"))
    (world.folder("in") / "k.ptx").write_bytes(made_up.ptx())
    for name in ("a.so", "libcudart.so.12"):
        shutil.copy(caller.parent / name.replace("a.so", caller.name), world.root / "in" / name)
    shutil.copy(caller, world.folder("mine") / "a.so")
    trap = world.folder("open") / "trap"
    trap.symlink_to("../mine")
    chowned(trap, STRANGER)
    trap.parent.chmod(0o1777)
    before = kept(world.root / "mine")
    said = world.cli(*words, cwd=world.root, check=False)
    assert (said.status, said.out if words[0] != "stub" else "") == (2, "") and f"{trap}: is a symbolic link of " \
        "somebody else's in a folder that everybody may write to: not followed\n" in said.err
    assert kept(world.root / "mine") == before and names(trap.parent) == ["trap"]


@pytest.fixture
def caller(tmp_path):
    """A library that needs the real libcudart.so.12."""
    return importer(tmp_path, "cudaMalloc", link=[
        library(tmp_path, "libcudart.so.12", "cudaMalloc", node="libcudart.so.12")])


def kept(folder):
    """Bytes, inode, mode, links, owner and time of all files."""
    return {path.name: (path.is_file() and path.read_bytes(), path.lstat()[:6], path.lstat().st_mtime_ns)
            for path in folder.iterdir()}


# ---- several outputs ----

@pytest.fixture
def three(caller, tmp_path):
    """Three files, and a folder in which there are two of these names."""
    out = tmp_path / "out"
    out.mkdir()
    for name in ("a.so", "b.so", "c.so"):
        shutil.copy(caller, tmp_path / name)
    for name in ("a.so", "b.so"):
        (out / name).write_text(f"old {name}")
    os.link(out / "a.so", out / "another name")
    (out / "a.so").chmod(0o640)
    return ["-o", out, *(tmp_path / name for name in ("a.so", "b.so", "c.so"))]


@pytest.fixture
def strace():
    if not shutil.which("strace") or build.ARCH != "x86_64":
        pytest.skip("there is no strace, or this CPU's system calls have other names")
    return ["strace", "-f", "-qq", "-o", "/dev/null", "-e"]


def chattr(change, path):
    """Its exit status, also where there is none: Debian 13 begins without."""
    return subprocess.run(["sh", "-c", 'exec chattr "$0" "$1"', change, path], stderr=subprocess.DEVNULL).returncode


@pytest.mark.parametrize("way, name, why", [
    (lambda path: path.mkdir(), "c.so", "is a directory"),
    (lambda path: chattr("+i", path), "b.so", "Operation not permitted")], ids=["folder", "immutable"])
def test_one_that_cannot_be_replaced_and_all_stay(retarget, three, way, name, why):
    if way(three[1] / name):
        pytest.skip("chattr does not work here")
    before = kept(three[1])
    try:
        done = retarget(*three)
    finally:
        chattr("-i", three[1] / name)
    assert (done.returncode, done.stderr) == (2, f"lazycuda retarget: {three[1] / name}: {why}\n")
    assert kept(three[1]) == before


@pytest.mark.parametrize("what, status, new, said", [
    ("rename:error=EIO:when=2", 2, 0, "b.so: Input/output error\n"),
    # A file system without hard links, and one without anything else, too.
    ("linkat:error=EPERM rename:error=EIO:when=2", 2, 0, "b.so: Input/output error\n"),
    ("linkat:error=EPERM", 0, 3, ""),
    ("linkat:error=EPERM renameat2:error=EINVAL", 2, 0, "a.so: this file system cannot keep the old file "
     "meanwhile: write one file at a time\n"),
    # What cannot be undone either is kept.
    ("rename:error=EIO:when=2+", 2, 1, "a.so: Input/output error; what was there is in OUT/.lazycuda-"),
    ("rename:signal=TERM:when=1", 143, 3, ""), ("rename:signal=INT:when=2", 130, 3, ""),
    ("rename:signal=KILL:when=2", 137, 1, "")])
def test_a_failure_or_a_signal_between_two_renames(retarget, three, strace, what, status, new, said):
    out, before = three[1], kept(three[1])
    inject = " -e ".join(f"inject={each}" for each in what.split()).split()
    done = retarget(*three, through=[*strace, *inject], clean=status != 137)
    assert done.returncode in (status, 128 - status)
    assert said.replace("OUT", str(out)) in done.stderr
    after = kept(out)
    changed = [name for name in ("a.so", "b.so", "c.so") if after.get(name, [0])[0] != before.get(name, [0])[0]]
    assert len(changed) == new and after["another name"][0] == b"old a.so"
    left = [name for name in after if name.startswith(".lazycuda")]
    assert (before == after) == (new == 0) and bool(left) == (new == 1)
    if "what was there is in" in said:
        assert (out / left[0] / "0.old").read_bytes() == b"old a.so"


def test_a_folder_that_another_run_makes_at_the_same_time(three, patchelf, strace, tmp_path):
    shutil.rmtree(three[1])
    runs = [subprocess.Popen(
        [*strace, "inject=mkdir:delay_enter=300000", build.TOOL, "retarget", "-o", three[1] / "new" / "er", file],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for file in three[2:]]
    assert [(run.communicate()[1], run.returncode) for run in runs] == [("", 0)] * 3
    assert names(three[1] / "new" / "er") == ["a.so", "b.so", "c.so"]


# ---- retarget ----

@pytest.fixture
def retarget(tmp_path, patchelf):
    def retarget(*words, through=(), clean=True, **env):
        temporary = tmp_path / "temporary"
        temporary.mkdir(exist_ok=True)
        done = build.run(*map(str, through), sys.executable, "-B", build.PYTHON / "lazycuda", "retarget",
                         *map(str, words),
                         env={**os.environ, "TMPDIR": str(temporary), **env})
        # Nothing is left, whatever came of it but SIGKILL.
        assert not clean or names(temporary) == []
        return done
    return retarget


@pytest.mark.parametrize("wheel, mode", [(False, 0o600), (True, 0o640), (False, 0o400)])
def test_a_retargeted_file_has_the_rights_of_the_old_one(retarget, caller, tmp_path, wheel, mode):
    path = wheel_files.make(tmp_path, {"pkg/a.so": caller}) if wheel else caller
    path.chmod(mode)
    done = retarget("-o", tmp_path / "out", path)
    assert done.returncode == 0, done.stderr
    assert stat.S_IMODE((tmp_path / "out" / path.name).stat().st_mode) == mode
    assert names(tmp_path / "out") == [path.name]


@pytest.mark.parametrize("needs", [True, False])
def test_only_in_its_place_does_it_run_with_the_rights_of_its_owner(retarget, caller, tmp_path, needs):
    path = caller if needs else importer(tmp_path, "nothing")
    chowned(path, STRANGER)
    path.chmod(0o6755)
    for words, mode, owner in ((["-o", tmp_path / "out"], 0o755, 0), (["--in-place"], 0o6755, STRANGER)):
        done = retarget(*words, path)
        made = (path if owner else tmp_path / "out" / path.name).stat()
        assert (done.returncode, stat.S_IMODE(made.st_mode), made.st_uid) == (0, mode, owner), done.stderr


def test_an_access_control_list_stays(retarget, caller, tmp_path):
    # The group may nothing, and another user may read: the bits of the group are 4.
    rules = struct.pack("<I" + "HHI" * 5, 2, 1, 6, -1 % 2**32, 2, 4, STRANGER, 4, 0, -1 % 2**32, 16, 4, -1 % 2**32,
                        32, 0, -1 % 2**32)
    try:
        os.setxattr(caller, "system.posix_acl_access", rules)
    except OSError:
        pytest.skip("this file system has no access control lists")
    for words, made in ((["-o", tmp_path / "out"], tmp_path / "out" / caller.name), (["--in-place"], caller)):
        assert retarget(*words, caller).returncode == 0
        assert os.getxattr(made, "system.posix_acl_access") == rules


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


# What becomes of a file while it is read.
MEANWHILE = {"written": ': >"$FILE"', "replaced": 'cp "$FILE" "$FILE.new"; mv "$FILE.new" "$FILE"',
             "gone": 'rm "$FILE"', "a link": 'mv "$FILE" "$FILE.old"; ln -s "$FILE.old" "$FILE"'}


@pytest.mark.parametrize("wheel", [False, True])
@pytest.mark.parametrize("what", MEANWHILE)
def test_nothing_is_made_of_a_file_that_is_changed_while_it_is_read(retarget, caller, tmp_path, what, wheel):
    path = wheel_files.make(tmp_path, {"pkg/a.so": caller}) if wheel else caller
    done = retarget("-o", tmp_path / "out", "--patchelf", spy(tmp_path, MEANWHILE[what]), path, FILE=str(path))
    why = "No such file or directory" if what == "gone" else "was changed while it was read: nothing is written"
    assert (done.returncode, done.stderr) == (2, f"lazycuda retarget: {path}: {why}\n")
    assert not (tmp_path / "out").exists()


def test_a_file_that_is_cut_short_while_it_is_audited(caller):
    if build.SANITIZER:
        pytest.skip("a sanitizer has to be loaded first")
    cut = build.shared(build.text("""
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
void *mmap(void *at, size_t size, int access, int flags, int fd, off_t offset)
{
	if (fd >= 0 && truncate(getenv("FILE"), 0))
		abort();
	return (void *)syscall(SYS_mmap, at, size, access, flags, fd, offset);
}
""", ".c"))
    done = build.run(build.TOOL, "audit", caller,
                     env={**os.environ, "LD_PRELOAD": str(cut), "FILE": str(caller)})
    assert (done.returncode, done.stderr) == (2, f"lazycuda audit: {caller}: was changed while it was read\n")


def spy(tmp_path, meanwhile=":"):
    """A patchelf that notes the rights of the folder it works in."""
    path = tmp_path / "spy"
    path.write_text(f"""#!/bin/sh
for last; do :; done
[ "$last" = --version ] || {{ {meanwhile}; }}
[ "$last" = --version ] || stat -c %a "$(dirname "$(dirname "$last")")" >>"{tmp_path}/seen"
exec '{shutil.which("patchelf")}' "$@"
""")
    path.chmod(0o755)
    return path


def test_a_root_without_proc(caller, tmp_path, patchelf, strace):
    done = build.run(*strace, "inject=readlink:error=ENOENT", "-P", "/proc/self/exe", build.TOOL, "retarget",
                     "-o", tmp_path / "out", caller, env={**os.environ, "LD_LIBRARY_PATH": str(build.STUBS)})
    assert done.returncode == 0 and names(tmp_path / "out") == [caller.name], done


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
