# SPDX-License-Identifier: MIT
"""What `make install` puts where, and that `make uninstall` takes it away."""
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import build
import distribution
import elf
import installed
import pages
from fakes import answer, fake
from importer import real
from world import CALL

SKELETON = ("bin", "include", "lib/cmake", "lib/pkgconfig", "libexec", "share/man/man1", "share/man/man3",
            "share/man/man7", "lib/python3/dist-packages", "share/bash-completion/completions", "share/zsh/site-functions",
            "share/fish/vendor_completions.d")


def test_the_manual_is_there(tree):
    """What programs are built with, and the command, is there for the other tests of this room."""
    assert set(installed.files(tree.prefix)) >= {
        "share/man/man1/lazycuda.1", "share/man/man7/lazycuda.7",
        "share/man/man3/lazycuda.h.3", "share/man/man3/lazycuda_link.h.3"}


def test_no_file_knows_where_it_was_made_or_is(tree):
    for name, content in installed.files(tree.prefix).items():
        # Manual pages are the same everywhere, and show commands that name that folder.
        assert (not isinstance(content, bytes) or b"/opt/lazycuda" not in content or
                content in [page.read_bytes() for page in pages.MANUALS]), name
        assert not isinstance(content, bytes) or b"/dest/" not in content, name


def test_the_command_runs_from_where_the_tree_was_moved(tree, world):
    said = world.run(tree.prefix / "bin" / "lazycuda", "status", "--json", check=False)
    assert said.status == 1 and '"state": "missing"' in said.out


def test_an_isolated_link_finds_the_command_from_where_the_tree_was_moved(tree, world, real):
    world.search(real("13.5").file("nvJitLink").parent)
    (world.root / "k.ptx").write_text(".version 7.0\n.target sm_80\n.visible .entry k() { ret; }\n")
    world.run(tree.prefix / "bin" / "lazycuda", "link", "--isolated", "--arch", "sm_80", "-o", "out",
              "k.ptx")
    assert (world.root / "out").read_bytes()[1:4] == b"ELF"


def somebody_elses(prefix):
    """What is there before: files, and folders that are empty."""
    for folder in SKELETON:
        (prefix / folder).mkdir(parents=True)
    (prefix / "lib" / "pkgconfig" / "other.pc").write_text("somebody else's")
    (prefix / "lib" / "libcudart_stub_of_somebody_else.so").write_text("")


@pytest.mark.parametrize("settings", [
    ("COMPAT=11,13", "TOOLKITS=12", "PYTHONDIR=/usr/lib/python3/dist-packages"),
    pytest.param(("SOVERSION=3",), marks=pytest.mark.minute),
    pytest.param(("COMPAT=11,13", "ALL_STUBS=yes", "COMPAT_WITHOUT=npp%"), marks=pytest.mark.minute)])
def test_uninstall_leaves_what_was_there_before(tmp_path, settings):
    somebody_elses(tmp_path / "usr")
    before = installed.files(tmp_path)
    own = f"{installed.OWN}-soversion" if "SOVERSION=3" in settings else installed.OWN
    words = build.made_at(own), f"DESTDIR={tmp_path}", "PREFIX=/usr", *settings
    build.make(*words, "install")
    assert len(installed.files(tmp_path)) > len(before) + 30
    build.make(*words, "uninstall")
    assert installed.files(tmp_path) == before


def test_an_installation_made_twice_is_taken_away_once(tmp_path):
    where = (build.made_at(installed.OWN), f"DESTDIR={tmp_path}/x y", "PREFIX=/opt/twice")
    build.make(*where, "install")
    older = tmp_path / "x y/opt/twice/share/lazycuda/stub/stubs/loader/older.c"
    older.write_text("of an older lazycuda")
    build.make(*where, "V=1", "install")
    assert older.parent.is_dir() and not older.exists()     # `lazycuda stub` would copy it
    build.make(*where, "uninstall")
    assert not [path for path in tmp_path.rglob("*") if not path.is_dir() or "lazycuda" in path.name]


def said(folder, *words):
    with build.locked(build.make_lock(installed.OWN)):
        return build.output("make", "-C", build.ROOT, build.made_at(installed.OWN),
                            f"DESTDIR={folder}", "PREFIX=/usr", "MAKEFLAGS=", *words).splitlines()


def test_v_1_shows_how_each_file_is_installed(tmp_path):
    lines = said(tmp_path, "V=1", "install")
    assert f"install -m 644 include/lazycuda.h '{tmp_path}/usr/include/lazycuda.h'" in lines
    assert max(len(line) for line in lines if line.startswith("install ")) < 500
    assert f"rm -f '{tmp_path}/usr/include/lazycuda.h'" in said(tmp_path, "V=1", "uninstall")


# Makefiles; the second is the one in folders of `lazycuda stub`.
FOLDERS, IDS = [build.ROOT, build.BUILT / "share/lazycuda/stub"], ["tree", "stub"]


@pytest.mark.parametrize("folder", FOLDERS, ids=IDS)
@pytest.mark.parametrize("value", ["", ".", "/", "/home/me/my builds"])
def test_clean_removes_nothing_but_a_build(folder, value):
    """/lib and /bin, the sources in gen, /home/me/my."""
    assert f"BUILD='{value}'" in installed.refusal(folder, "clean", f"BUILD={value}")


@pytest.mark.parametrize("goal", ["test", "test-all", "demo"])
def test_what_looks_at_build_takes_no_other(goal):
    assert "call it without BUILD" in installed.refusal(build.ROOT, goal, "BUILD=elsewhere")


MISREAD = ["/opt/a b", "", "opt/x", "/opt/x/..", "/opt/j\u00fcrgen",
           *(f"/opt/a{c}b" for c in "\"#$%&'*,:;\\")]


@pytest.mark.parametrize("folder", FOLDERS, ids=IDS)
@pytest.mark.parametrize("value", MISREAD)
def test_a_place_that_something_would_misread_is_refused(folder, value):
    """Make, sh, sed, C, the linker, ld.so, pkg-config or CMake; a run path that is not absolute is
    one that others write to."""
    for name in ("PREFIX", "LIBDIR"):
        setting = f"{name}={value}".replace("$", "$$")
        said = installed.refusal(folder, "install", setting).splitlines()
        assert f"{name}='{value}': give an absolute path without .." in said[0] and len(said) == 1


@pytest.mark.parametrize("name", ["INCLUDEDIR", "BINDIR", "LIBEXECDIR", "DATADIR", "PYTHONDIR", "MANDIR"])
def test_every_place_is_looked_at(name):
    assert f"{name}='/opt/a&b'" in installed.refusal(build.ROOT, "install", f"{name}=/opt/a&b")


@pytest.mark.parametrize("folder", FOLDERS, ids=IDS)
def test_a_quote_in_front_of_every_place_is_refused(folder):
    assert "DESTDIR='/it's'" in installed.refusal(folder, "install", "DESTDIR=/it's")


def test_a_place_has_one_spelling(tmp_path):
    """What is seen from another folder counts the folders between them."""
    said = [installed.files(tmp_path / str(i)) for i, words in enumerate((
        ["PREFIX=/opt/x", "LIBDIR=/opt/x/lib/y", "INCLUDEDIR=/opt/x/inc"],
        ["PREFIX=/opt//x/", "LIBDIR=/opt/x/./lib//y/.", "INCLUDEDIR=/opt/./x/inc/"]))
        if not build.make(build.made_at(installed.OWN), f"DESTDIR={tmp_path}/{i}", *words, "install")]
    assert said[0] == said[1] and len(said[0]) > 40


def test_gnu_names_of_the_folders(tmp_path):
    build.make(build.made_at(installed.OWN), f"DESTDIR={tmp_path}", "prefix=/p", "exec_prefix=/e",
               "libdir=/e/lib32", "datarootdir=/p/data", "includedir=/p/inc", "install")
    there = installed.files(tmp_path)
    assert {"e/bin/lazycuda", "e/lib32/libcudart_stub.so", "p/inc/lazycuda.h",
            "p/data/man/man1/lazycuda.1",
            "p/data/bash-completion/completions/lazycuda"} <= set(there)


def test_a_folder_variable_of_the_environment_does_not_count(tmp_path):
    # Somebody's shell has a variable called prefix; it means something else.
    os.environ["prefix"] = str(tmp_path / "wrong")
    try:
        build.make(build.made_at(installed.OWN), f"DESTDIR={tmp_path}", "install")
    finally:
        del os.environ["prefix"]
    assert (tmp_path / "usr/local/bin/lazycuda").exists()


def runpath(path):
    return elf.dynamic(path).get("RUNPATH", []) + elf.dynamic(path).get("RPATH", [])


@pytest.mark.parametrize("prefix, lib, expected", [
    ("/usr", "lib/x86_64-linux-gnu", []), ("/opt/lazycuda", "lib64", ["$ORIGIN/../lib64"])])
def test_a_run_path_only_where_the_loader_would_not_look(tmp_path, prefix, lib, expected):
    tree = installed.install(tmp_path, prefix=prefix, lib=lib)
    assert runpath(tree.prefix / "bin" / "lazycuda") == expected
    assert runpath(tree.libdir / "liblazycuda_link.so") == (["$ORIGIN"] if expected else [])


def test_the_builder_may_decide_on_the_run_path(tmp_path):
    tree = installed.install(tmp_path, "RUNPATH=yes", prefix="/usr")
    assert runpath(tree.prefix / "bin" / "lazycuda")


def runs_its_parts(world, folder, tool):
    library = real(folder, "libbaz.so.1", "bazOpen")
    world.run(tool, "stub", "--from", library, "--missing", "9", "-o", folder / "baz")
    assert (folder / "baz" / "Makefile").exists()
    assert "usage: lazycuda retarget" in world.run(tool, "retarget", "--help").out


def test_the_command_finds_its_parts_wherever_it_was_built(tmp_path, world):
    """BUILD= names any folder, which need not lie in the tree."""
    for name in ("bin", "lib", "libexec", "share"):
        shutil.copytree(build.BUILD / name, tmp_path / "built" / name, symlinks=True)
    runs_its_parts(world, tmp_path, tmp_path / "built" / "bin" / "lazycuda")


def test_the_command_finds_its_parts_in_a_moved_tree(tmp_path, world):
    tree = installed.install(tmp_path, "LIBEXECDIR=/opt/lazycuda/lib/a/b",
                             "DATADIR=/opt/lazycuda/data", "BINDIR=/opt/lazycuda/usr/bin")
    assert (tree.prefix / "lib" / "a" / "b" / "lazycuda" / "gen").exists()
    assert (tree.prefix / "data" / "lazycuda" / "stub").is_dir()
    runs_its_parts(world, tmp_path, tree.prefix / "usr" / "bin" / "lazycuda")


def test_the_module_and_the_rest_find_each_other_in_a_moved_tree(tmp_path, world):
    """As in a system of Debian's, where no folder is beside another."""
    python = "lib/python3/dist-packages"
    tree = installed.install(tmp_path, f"PYTHONDIR=/opt/lazycuda/{python}", "COMPAT=12",
                             "INCLUDEDIR=/opt/lazycuda/include/lazy", lib="lib/x86_64-linux-gnu")
    asked = ("import lazycuda, lazycuda.link; print(lazycuda.libdir(12), lazycuda.compatdir(12), "
             "lazycuda.includedir(), lazycuda.link_library.library()._name)")
    found = world.run(sys.executable, "-B", "-c", asked, PYTHONPATH=f"{tree.prefix}/{python}").out
    assert found.split() == [*map(str, (
        tree.libdir / "lazycuda/cuda12", tree.libdir / "lazycuda/compat12", tree.prefix / "include/lazy",
        tree.libdir / "liblazycuda_link.so"))]
    said = world.run(sys.executable, "-B", "-m", "lazycuda", "--version", PYTHONPATH=f"{tree.prefix}/{python}")
    assert said.out.startswith("lazycuda ")
    assert "usage: lazycuda retarget" in world.run(tree.prefix / "bin/lazycuda", "retarget", "--help").out


def test_in_a_clone_the_module_names_no_folder_that_is_not_there(world):
    def ask(*words):
        return world.run(sys.executable, "-B", "-m", "lazycuda", *words, check=False,
                         PYTHONPATH=str(build.PYTHON))
    assert ask("--includedir").out == f"{build.ROOT}/include\n"
    assert all(Path(line.split()[-1]).is_dir() for line in ask().lines)
    refused = ask("--cmakedir")
    assert (refused.status, refused.out) == (2, "") and "`make install` makes it" in refused.err


def test_the_command_finds_its_parts_outside_the_prefix(tmp_path, world):
    """Those do not move, and the rest may."""
    build.make(build.made_at(installed.OWN), "DESTDIR=", f"PREFIX={tmp_path}/prefix",
               f"LIBEXECDIR={tmp_path}/else", f"DATADIR={tmp_path}/else", "install")
    assert (tmp_path / "else" / "lazycuda").is_dir()
    (tmp_path / "prefix").rename(tmp_path / "moved")
    runs_its_parts(world, tmp_path, tmp_path / "moved" / "bin" / "lazycuda")
    (tmp_path / "else").rename(tmp_path / "gone")
    said = world.run(tmp_path / "moved" / "bin" / "lazycuda", "stub", "--from",
                     tmp_path / "libbaz.so.1", "--missing", "9", "-o", tmp_path / "foo", check=False)
    assert said.status == 2 and f"in {tmp_path}/else: it is a part of the installation" in said.err


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


# ---- the source archive ----

@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    return distribution.source_archive(tmp_path_factory.mktemp("dist"), SOURCE_DATE_EPOCH="1700000000")


def unpack(archive, folder):
    folder.mkdir(parents=True)
    subprocess.run(["tar", "-xzf", archive, "-C", folder], check=True)
    tree, = folder.iterdir()
    return tree


def test_an_archive_made_from_an_archive_is_the_same(archive, tmp_path):
    source = unpack(archive, tmp_path / "somewhere")
    (source / "tools/retarget/lazycuda/__pycache__").mkdir()    # as pip leaves
    (source / "tools/retarget/lazycuda/__pycache__/elf.cpython-313.pyc").touch()
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
