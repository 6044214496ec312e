# SPDX-License-Identifier: MIT
"""pkg-config and CMake for a stub that `make install` put somewhere, and that was moved since."""
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

import build
import elf
import own_stubs
from projects import run, tool

USER = "int bazA(void);\nint main(void) { return bazA(); }\n"
WHERE = ("PREFIX=/opt/x", "LIBDIR=/opt/x/lib")


@dataclass
class Tree:
    folder: Path        # that `lazycuda stub` made
    libdir: Path        # where it is installed
    reals: list


def installed(folder, *majors):
    reals = [own_stubs.library(folder / f"real{major}", f"libbaz.so.{major}",
                               f"int bazA(void) {{ return {major}0; }}\n") for major in majors]
    done = own_stubs.run(*[word for real in reals for word in ("--from", real)], "--missing", "9",
                         "-o", folder / "baz")
    assert done.returncode == 0, done.stderr
    own_stubs.make(folder / "baz", "CFLAGS=-O0", f"DESTDIR={folder}/dest", *WHERE, "install")
    shutil.move(folder / "dest/opt/x", folder / "moved")
    return Tree(folder / "baz", folder / "moved" / "lib", reals)


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    return installed(tmp_path_factory.mktemp("two"), 3, 4)


@pytest.fixture(scope="module")
def one(tmp_path_factory):
    return installed(tmp_path_factory.mktemp("one"), 3)


@pytest.fixture
def check(world):
    """The program needs the stub alone, is of this major, and works."""
    def check(program, major, tree, found_by_itself=False):
        dynamic = elf.dynamic(program)
        assert [name for name in dynamic["NEEDED"] if "baz" in name] == ["libbaz_stub.so"]
        assert {s.name: s.node for s in elf.imports(program)}["bazA"] == f"libbaz.so.{major}"
        paths = ":".join(dynamic.get("RUNPATH", []) + dynamic.get("RPATH", []))
        assert f"{tree.libdir}/lazycuda" not in paths
        assert elf.is_bound_at_once(program)
        if not found_by_itself:
            world.search(tree.libdir)
        assert world.run(program, check=False).status == 9
        world.loader(*tree.reals)
        assert world.run(program, check=False).status == 10 * major
    return check


# ---- pkg-config ----

def pkg_config(tree, *arguments, check=True):
    return run(tool("pkg-config"), *arguments, check=check,
               PKG_CONFIG_LIBDIR=tree.libdir / "pkgconfig")


def compile(folder, flags):
    (folder / "user.c").write_text(USER)
    run(*build.CC, folder / "user.c", "-o", folder / "user", *shlex.split(flags))
    return folder / "user"


@pytest.mark.parametrize("major", [3, 4])
def test_pkg_config_for_each_major(two, tmp_path, check, major):
    package = f"baz-stub-{major}"
    pkg_config(two, "--validate", package)
    check(compile(tmp_path, pkg_config(two, "--cflags", "--libs", package)[1]), major, two)


def test_pkg_config_guesses_no_major(two):
    assert pkg_config(two, "--exists", "baz-stub", check=False)[0] != 0


def test_pkg_config_where_there_is_a_single_one(one, tmp_path, check):
    flags = pkg_config(one, "--libs", "baz-stub")[1]
    assert flags == pkg_config(one, "--libs", "baz-stub-3")[1]
    check(compile(tmp_path, flags), 3, one)


# ---- CMake ----

PROJECT = """
cmake_minimum_required(VERSION 3.13)
project(user C)
find_package(lazycuda-baz REQUIRED)
add_executable(user user.c)
target_link_libraries(user PRIVATE lazycuda::baz)
"""


def configure(tree, folder, text, *arguments, check=True):
    (folder / "project").mkdir()
    (folder / "project" / "user.c").write_text(USER)
    (folder / "project" / "CMakeLists.txt").write_text(text)
    return run(tool("cmake"), "-S", folder / "project", "-B", folder / "build",
               f"-DCMAKE_PREFIX_PATH={tree.libdir.parent}", *arguments, check=check)


def cmake(tree, folder, text, *arguments):
    configure(tree, folder, text, *arguments)
    run("cmake", "--build", folder / "build")
    return folder / "build" / "user"


def component(*components):
    return PROJECT.replace("REQUIRED", f"0.1 REQUIRED COMPONENTS {' '.join(components)}")


def test_cmake_by_a_component(two, tmp_path, check):
    check(cmake(two, tmp_path, component("abi3")), 3, two, found_by_itself=True)


@pytest.mark.parametrize("text, arguments, message", [
    (PROJECT, (), "for which major does this project compile? Set LAZYCUDA_baz_ABI to 3 or 4."),
    (component("abi3"), ("-DLAZYCUDA_baz_ABI=4",), "compile for the majors 4 and 3"),
    (component("abi3") + "find_package(lazycuda-baz REQUIRED COMPONENTS abi4)\n", (),
     "lazycuda::baz is of major 3 already, not of 4"),
])
def test_cmake_guesses_nothing(two, tmp_path, text, arguments, message):
    status, said = configure(two, tmp_path, text, *arguments, check=False)
    assert status != 0 and message in " ".join(said.split())


# ---- what is installed ----


def test_uninstall_leaves_nothing(one, tmp_path):
    dest = f"DESTDIR={tmp_path}"
    own_stubs.make(one.folder, "CFLAGS=-O0", dest, *WHERE, "install")
    left = {str(path.relative_to(tmp_path / "opt/x/lib")) for path in tmp_path.rglob("*")
            if path.is_file()}
    assert left == {"libbaz_stub.so", "lazycuda/abi3/libbaz_stub.so", "pkgconfig/baz-stub.pc",
                    "pkgconfig/baz-stub-3.pc", "cmake/lazycuda-baz/lazycuda-baz-config.cmake",
                    "cmake/lazycuda-baz/lazycuda-baz-config-version.cmake"}
    own_stubs.make(one.folder, "CFLAGS=-O0", dest, *WHERE, "uninstall")
    assert not [path for path in tmp_path.rglob("*") if not path.is_dir() or "lazycuda" in path.name]
