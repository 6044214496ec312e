# SPDX-License-Identifier: MIT
"""What `make install` puts where, and that `make uninstall` takes all of it away."""
import os
import re
import shutil
import subprocess

import pytest

import build
import elf
import installed
from fakes import answer, fake
from world import CALL

SKELETON = ("bin", "include", "lib/cmake", "lib/pkgconfig", "share/man/man1", "share/man/man7",
            "share/bash-completion/completions", "share/zsh/site-functions",
            "share/fish/vendor_completions.d")


def names(tree):
    return set(installed.files(tree.prefix))


def test_what_users_look_for_is_there(tree):
    lib = tree.libdir.relative_to(tree.prefix)
    assert names(tree) >= {
        "bin/lazycuda", "include/lazycuda.h", "include/lazycuda_link.h",
        "share/man/man1/lazycuda.1", "share/man/man7/lazycuda.7",
        *(f"{lib}/{build.stub_name(name)}" for name in build.STUBBED),
        *(f"{lib}/lazycuda/cuda12/{build.stub_name(name)}" for name in build.STUBBED),
        f"{lib}/liblazycuda_link.so", f"{lib}/cmake/lazycuda/lazycuda-config.cmake",
        f"{lib}/cmake/lazycuda/lazycuda-config-version.cmake",
        *(f"{lib}/pkgconfig/{name}.pc" for name in
          ("cudart-stub", "nvrtc-stub", "nvjitlink-stub", "lazycuda-link", "cudart-stub-11",
           "nvjitlink-stub-13"))}


def test_no_file_knows_where_it_was_made_or_is(tree):
    for name, content in installed.files(tree.prefix).items():
        assert not isinstance(content, bytes) or b"/opt/lazycuda" not in content, name
        assert not isinstance(content, bytes) or b"/dest/" not in content, name


def test_the_command_runs_from_where_the_tree_was_moved(tree, world):
    said = world.run(tree.prefix / "bin" / "lazycuda", "status", "--json", check=False)
    assert said.status == 1 and '"state": "missing"' in said.out


@pytest.mark.parametrize("settings", [(), ("COMPAT=11,13",), ("SOVERSION=3",)])
def test_uninstall_leaves_what_was_there_before(tmp_path, settings):
    prefix = tmp_path / "usr"
    for folder in SKELETON:
        (prefix / folder).mkdir(parents=True)
    (prefix / "lib" / "pkgconfig" / "other.pc").write_text("somebody else's")
    (prefix / "lib" / "libcudart_stub_of_somebody_else.so").write_text("")
    before = installed.files(prefix)
    own = installed.OWN if settings != ("SOVERSION=3",) else f"{installed.OWN}-soversion"
    where = (f"BUILD={own}", f"DESTDIR={tmp_path}", "PREFIX=/usr")
    build.make(*where, *settings, "install")
    assert len(installed.files(prefix)) > len(before) + 30
    build.make(*where, *settings, "uninstall")
    assert installed.files(prefix) == before


def test_gnu_names_of_the_folders(tmp_path):
    build.make(f"BUILD={installed.OWN}", f"DESTDIR={tmp_path}", "prefix=/p", "exec_prefix=/e",
               "libdir=/e/lib32", "datarootdir=/p/data", "includedir=/p/inc", "install")
    there = installed.files(tmp_path)
    assert {"e/bin/lazycuda", "e/lib32/libcudart_stub.so", "p/inc/lazycuda.h",
            "p/data/man/man1/lazycuda.1",
            "p/data/bash-completion/completions/lazycuda"} <= set(there)


def test_a_folder_variable_of_the_environment_does_not_count(tmp_path):
    # Somebody's shell has a variable called prefix; it means something else.
    os.environ["prefix"] = str(tmp_path / "wrong")
    try:
        build.make(f"BUILD={installed.OWN}", f"DESTDIR={tmp_path}", "install")
    finally:
        del os.environ["prefix"]
    assert (tmp_path / "usr/local/bin/lazycuda").exists()


def runpath(path):
    return elf.dynamic(path).get("RUNPATH", []) + elf.dynamic(path).get("RPATH", [])


@pytest.mark.parametrize("prefix, lib, expected", [
    ("/usr", "lib", []), ("/usr", "lib64", []), ("/usr", "lib/x86_64-linux-gnu", []),
    ("/usr/local", "lib", ["$ORIGIN/../lib"]), ("/opt/x", "lib64", ["$ORIGIN/../lib64"])])
def test_a_run_path_only_where_the_loader_would_not_look(tmp_path, prefix, lib, expected):
    tree = installed.install(tmp_path, prefix=prefix, lib=lib)
    assert runpath(tree.prefix / "bin" / "lazycuda") == expected
    assert runpath(tree.libdir / "liblazycuda_link.so") == (["$ORIGIN"] if expected else [])


@pytest.mark.parametrize("answer_to, expected", [("yes", True), ("no", False)])
def test_the_builder_may_decide_on_the_run_path(tmp_path, answer_to, expected):
    tree = installed.install(tmp_path, f"RUNPATH={answer_to}", prefix="/usr")
    assert bool(runpath(tree.prefix / "bin" / "lazycuda")) == expected


# ---- SOVERSION ----

@pytest.fixture(scope="module")
def numbered(tmp_path_factory):
    return installed.numbered(tmp_path_factory.mktemp("numbered"))


def test_a_soversion_is_in_every_name_that_is_recorded(numbered):
    for name in [*map(build.stub_name, build.STUBBED), "liblazycuda_link.so"]:
        link = numbered.libdir / name
        assert os.readlink(link) == f"{name}.3"
        assert elf.dynamic(link)["SONAME"] == [f"{name}.3"]
    for library, major in (("cudart", 11), ("nvrtc", 12), ("nvJitLink", 13), ("cuda", 12),
                           ("nvml", 13)):
        assert elf.dynamic(numbered.import_library(library, major))["SONAME"] == [
            f"{build.stub_name(library)}.3"]
    needed = elf.dynamic(numbered.prefix / "bin" / "lazycuda")["NEEDED"]
    assert "libcudart_stub.so.3" in needed


@pytest.mark.parametrize("library", ["cudart", "cuda", "nvml"])
def test_a_program_for_a_soversion_runs(numbered, world, library):
    program = build.program(build.TESTS / "linking" / "caller.c", f"-DNAME={CALL[library]}",
                            numbered.import_library(library, 12))
    assert f"{build.stub_name(library)}.3" in elf.dynamic(program)["NEEDED"]
    world.search(numbered.libdir)
    world.loader(fake(library, "12.9"))
    assert int(world.run(program).out) == answer(library, CALL[library], "12.9")
    assert world.run(numbered.prefix / "bin" / "lazycuda", "status", check=False).status in (0, 1)


def test_by_default_there_is_no_number(plain):
    assert elf.dynamic(plain.libdir / "libcudart_stub.so")["SONAME"] == ["libcudart_stub.so"]
    assert not [name for name in names(plain) if re.search(r"_stub\.so\.\d", name)]


# ---- the source archive ----

def make_dist(folder, epoch=None):
    env = {name: value for name, value in os.environ.items() if "MAKE" not in name}
    if epoch:
        env["SOURCE_DATE_EPOCH"] = epoch
    done = subprocess.run(["make", "-s", "-C", build.ROOT, f"BUILD={folder}", "dist"], env=env,
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    archive, = folder.glob("lazycuda-*.tar.gz")
    return archive


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    return make_dist(tmp_path_factory.mktemp("dist"), "1700000000")


def unpack(archive, folder):
    folder.mkdir(parents=True)
    subprocess.run(["tar", "-xzf", archive, "-C", folder], check=True)
    tree, = folder.iterdir()
    return tree


def test_an_archive_is_the_same_bytes_each_time(archive, tmp_path):
    assert make_dist(tmp_path, "1700000000").read_bytes() == archive.read_bytes()
    (tmp_path / "other").mkdir()
    assert make_dist(tmp_path / "other", "1700000001").read_bytes() != archive.read_bytes()


def test_an_archive_made_from_an_archive_is_the_same(archive, tmp_path):
    source = unpack(archive, tmp_path / "somewhere")
    subprocess.run(["make", "-s", "-C", source, "dist"], check=True, capture_output=True,
                   env={"PATH": os.environ["PATH"], "SOURCE_DATE_EPOCH": "1700000000"})
    again, = (source / "build").glob("*.tar.gz")
    assert again.read_bytes() == archive.read_bytes()


def test_two_builds_in_two_folders_are_the_same_bit_for_bit(archive, tmp_path):
    trees = []
    for name in ("one", "a/longer/name/by/far"):
        source = unpack(archive, tmp_path / name)
        subprocess.run(["make", "-s", "-j2", "-C", source, "COMPAT=12", "PREFIX=/usr",
                        f"DESTDIR={tmp_path / name / 'dest'}", "install"], check=True,
                       capture_output=True, env={"PATH": os.environ["PATH"]})
        trees.append(installed.files(tmp_path / name / "dest"))
        shutil.rmtree(source)
    assert trees[0].keys() == trees[1].keys() and len(trees[0]) > 40
    assert [name for name in trees[0] if trees[0][name] != trees[1][name]] == []


@pytest.mark.parametrize("setting, shown", [("V=1", r"^cc .*-c .*stubs/arena\.c"),
                                            ("V=", "^  CC ")])
def test_v_1_shows_the_commands(tmp_path, setting, shown):
    said = build.output("make", "-C", build.ROOT, f"BUILD={tmp_path}", "CC=cc", setting,
                        f"{tmp_path}/obj/stubs/arena.o")
    assert re.search(shown, said, re.M), said
