# SPDX-License-Identifier: MIT
"""A clone works in any folder: nothing in what is made says which, and no tool trips over it."""
import shlex
import shutil

import pytest

import build
import elf
import installed
from projects import PROJECT, run, tool

NAMES = ("build", "lazycuda/lib/it's 100 % ü")


@pytest.mark.parametrize("name", NAMES)
def test_make_works_there(tmp_path, name):
    clone = tmp_path / name
    for part in ("stubs", "link", "include", "tools", "gen", "packaging"):
        shutil.copytree(build.ROOT / part, clone / part)
    for part in ("Makefile", "symbols.txt"):
        shutil.copy(build.ROOT / part, clone / part)
    wanted = ["build/lib/libnvrtc_stub.so", "build/lib/cuda12/libnvrtc_stub.so"]
    env = {"PATH": "/usr/bin:/bin", "CC": shlex.join(build.CC), "LC_ALL": "C.UTF-8"}
    done = build.run("make", "-C", clone, "CFLAGS=-O0 -g", *wanted, env=env)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    for path in wanted:
        assert str(tmp_path).encode() not in (clone / path).read_bytes()
    assert elf.exports(clone / wanted[0])[0].name == elf.exports(build.stub("nvrtc"))[0].name


def test_pkg_config_finds_what_is_installed_there(tmp_path, world):
    folder = tmp_path / "a b ü"
    folder.mkdir()
    tree = installed.install(folder)
    said = run(tool("pkg-config"), "--cflags", "--libs", "cudart-stub-12", "lazycuda-link",
               PKG_CONFIG_LIBDIR=tree.pkgconfig)[1]
    run(*build.CC, PROJECT / "app.c", "-o", tmp_path / "app", *shlex.split(said))
    world.search(tree.libdir)
    assert world.run(tmp_path / "app").out.split()[:2] == ["303", "303"]
