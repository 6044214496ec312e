# SPDX-License-Identifier: MIT
"""The Python package: what is in it, and that it works where it is installed."""
import os
import re
import shutil
import subprocess
import sys

import pytest

import build
import installed
import package
import wheel_files
from importer import importer, real


@pytest.fixture(scope="module")
def built():
    return package.built()


@pytest.fixture(scope="module")
def python(built, tmp_path_factory):
    """The Python of a fresh environment that has it."""
    return package.environment(tmp_path_factory.mktemp("package") / "venv", built)


def test_it_is_tagged_for_the_machine_of_what_is_in_it(built):
    assert built.name.endswith(f"-py3-none-linux_{build.ARCH}.whl")
    wheel_files.check_record(built)


def test_what_is_in_it(built):
    names = set(wheel_files.read(built))
    assert {f"lazycuda/lib/{build.stub_name(library)}" for library in build.STUBBED} <= names
    for major in build.MAJORS:
        for library in build.STUBBED:
            path = f"lazycuda/lib/lazycuda/cuda{major}/{build.stub_name(library)}"
            assert (path in names) == build.import_library(library, major).exists()
    assert {f"lazycuda/{name}" for name in (
        "include/lazycuda.h", "bin/lazycuda", "share/man/man1/lazycuda.1",
        "share/man/man3/lazycuda.h.3", "share/man/man3/lazycuda_link.h.3")} <= names
    # The Python code once, not also where `make install` puts it.
    assert not [name for name in names if "share/lazycuda/python" in name]


def test_where_things_are(python):
    def ask(*words):
        return package.run(python, "-m", "lazycuda", *words, cwd="/").strip()
    site = package.site_packages(python)
    assert ask("--libdir") == f"{site}/lazycuda/lib"
    assert ask("--libdir", "12") == f"{site}/lazycuda/lib/lazycuda/cuda12"
    assert ask("--includedir") == f"{site}/lazycuda/include"
    assert ask("--cmakedir") == f"{site}/lazycuda/lib/cmake/lazycuda"
    assert ask("--pkgconfigdir") == f"{site}/lazycuda/lib/pkgconfig"
    version = re.search(r"^VERSION := (\S+)", (build.ROOT / "Makefile").read_text(), re.M)[1]
    assert ask("--version") == f"lazycuda {version}"
    assert package.run(python, "-c", "import lazycuda; print(lazycuda.libdir(13))",
                       cwd="/").strip().endswith("cuda13")


@pytest.mark.parametrize("words", [["--libdir", "10"], ["--includedir", "x"], []])
def test_wrong_questions(python, words):
    done = subprocess.run([str(python), "-m", "lazycuda", *words], capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr and not done.stdout


def test_the_command(python, world):
    command = python.parent / "lazycuda"
    assert "cudart" in world.run(command, "status", check=False).out
    assert world.run(command, "--version").out == package.run(python, "-m", "lazycuda", "--version")
    # Its arguments and its status are the program's.
    assert world.run(command, "audit", "nothing.so", check=False).status == 2


def test_the_command_retargets(python, tmp_path, patchelf):
    library = real(tmp_path, "libcudart.so.12", "cudaMalloc", node="libcudart.so.12")
    file = importer(tmp_path, "cudaMalloc", link=[library])
    program = package.site_packages(python) / "lazycuda" / "bin" / "lazycuda"
    for command in (python.parent / "lazycuda", program):
        copy = shutil.copy(file, tmp_path / f"{command.parent.name}.so")
        said = package.run(command, "retarget", "--in-place", copy)
        assert "libcudart.so.12 -> libcudart_stub.so" in said


def test_from_the_tree_with_pip(built, tmp_path):
    """As hatchling alone makes it; where to compile is said by LAZYCUDA_BUILD."""
    with build.locked(build.make_lock(installed.OWN)):
        package.run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-index",
                    "--no-build-isolation", "--wheel-dir", tmp_path / "dist", build.ROOT,
                    LAZYCUDA_BUILD=os.path.relpath(installed.OWN, build.ROOT))
    made, = (tmp_path / "dist").glob("*.whl")
    assert made.read_bytes() == built.read_bytes()


@pytest.mark.parametrize("machine, arch", [(62, "x86_64"), (183, "aarch64")])
def test_the_machine_of_a_wheel_is_that_of_its_files(tmp_path, machine, arch):
    """Whatever CC is: one that only copies what was compiled for that machine, say."""
    package.need("hatchling")
    stub = tmp_path / "lib" / "libcudart_stub.so"
    stub.parent.mkdir()
    content = bytearray(build.stub("cudart").read_bytes())
    content[18:20] = machine.to_bytes(2, "little")
    stub.write_bytes(content)
    said = package.run(sys.executable, "-c", MACHINE, tmp_path, cwd=build.ROOT, CC="false")
    assert said.strip() == arch


def test_an_editable_installation_is_refused(tmp_path):
    package.need("hatchling")
    done = subprocess.run([sys.executable, "-c", EDITABLE, tmp_path], cwd=build.ROOT,
                          capture_output=True, text=True)
    assert done.returncode and "cannot be installed editable" in done.stderr


MACHINE = """
import pathlib, sys
sys.path.insert(0, "packaging/python")
from hatch_build import CustomBuildHook
print(CustomBuildHook._machine(type("Tree", (), {"root": "."}), pathlib.Path(sys.argv[1])))
"""
EDITABLE = "import sys, hatchling.build; hatchling.build.build_editable(sys.argv[1])"
