# SPDX-License-Identifier: MIT
"""The wheel for aarch64, unpacked as pip does it and run under qemu-user: its command, its
stubs, and programs that are built with what it brings."""
import json
import pathlib
import shutil

import pytest

import build
import distribution
import elf
import package
import wheel_files
from fakes import answer, fake
from world import MISSING

CC = ["aarch64-linux-gnu-gcc"]
QEMU = ["qemu-aarch64-static", "-L", pathlib.Path("/usr/aarch64-linux-gnu")]

if build.ARCH == "aarch64":
    pytest.skip("tests/wheels runs on aarch64 here", allow_module_level=True)


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """The package in site-packages."""
    for tool in (CC[0], QEMU[0]):
        if not shutil.which(tool):
            pytest.skip(f"there is no {tool} (Debian: gcc-aarch64-linux-gnu qemu-user-static)")
    wheel = package.released()["aarch64"]
    return wheel_files.unpack(wheel, tmp_path_factory.mktemp("site")) / "lazycuda"


@pytest.fixture
def world(world, tree):
    world.prefix = QEMU
    world.stubs = tree / "lib"
    world.cc = CC
    world.search(tree / "lib")
    return world


def program(tree, source, *libraries, major=12):
    """Built with the headers and import libraries of the wheel."""
    return build.compile(
        source.stem, "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-I", tree / "include", source,
        *(tree / f"lib/lazycuda/cuda{major}/lib{name}_stub.so" for name in libraries), cc=CC)


def test_every_library_is_for_aarch64_and_needs_glibc_2_17(tree):
    libraries = list(tree.rglob("*.so"))
    assert {str(path.relative_to(tree.parent)) for path in libraries} == {
        name for name in wheel_files.read(package.released()["x86_64"]) if name.endswith(".so")}
    real_names = list(tree.rglob("*.so.*"))
    assert {path.name for path in real_names} >= {"libcudart.so.12", "libcublas.so.13"}
    for file in [tree / "bin" / "lazycuda", *libraries, *real_names]:
        assert "AArch64" in elf.readelf("-h", file)
        nodes = {symbol.node for symbol in elf.imports(file)}
        assert {node for node in nodes if node and node.startswith("GLIBC_")} <= {"GLIBC_2.17"}


def test_the_command_says_its_version(world, tree):
    said = world.run(tree / "bin" / "lazycuda", "--version").out
    assert said == f"lazycuda {distribution.version()}\n"


def test_the_command_audits_and_inspects(world, tree):
    caller = program(tree, build.TESTS / "aarch64" / "launch.c", "cudart")
    said = json.loads(world.run(tree / "bin" / "lazycuda", "audit", "--json", caller).out)
    assert said["files"][0]["imports"][0]["compiled_for"] == 12
    said = world.run(tree / "bin" / "lazycuda", "inspect", caller, check=False)
    assert (said.status, said.out) == (1, f"{caller}: shared, no device code\n")


@pytest.mark.parametrize("major, version", [(11, "11.8"), (12, "12.9"), (13, "13.5")])
def test_a_program_that_links_the_wheels_import_library(world, tree, major, version):
    caller = program(tree, build.TESTS / "aarch64" / "launch.c", "cudart", major=major)
    assert int(world.run(caller).out) == MISSING["cudart"]
    world.loader(fake("cudart", version, cc=CC))
    assert int(world.run(caller).out) == answer("cudart", "cudaLaunchKernel", version)
