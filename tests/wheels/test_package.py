# SPDX-License-Identifier: MIT
"""The Python package: what is in it, and that it works where it is installed."""
import re
import shutil
import subprocess
import sys
import tarfile

import pytest

import build
import package
import wheel_files
from importer import importer, real


@pytest.fixture(scope="module")
def made():
    return package.made()


@pytest.fixture
def python(made, tmp_path):
    """The Python of a fresh environment that has it."""
    return package.environment(tmp_path / "venv", made["repaired"])


def test_it_is_tagged_manylinux2014(made):
    assert made["built"].name.endswith(f"-py3-none-linux_{build.ARCH}.whl")
    assert f"manylinux2014_{build.ARCH}" in made["repaired"].name
    assert package.show(made["repaired"])[1] == f"manylinux_2_17_{build.ARCH}"


def test_auditwheel_bundles_and_renames_nothing(made):
    before, after = wheel_files.read(made["built"]), wheel_files.read(made["repaired"])
    libraries = [name for name in before if ".so" in name]
    assert libraries == [name for name in after if ".so" in name]
    for name in [*libraries, "lazycuda/bin/lazycuda"]:
        assert before[name] == after[name], name
    assert not [name for name in after if ".libs/" in name]


def test_what_is_in_it(made):
    names = set(wheel_files.read(made["repaired"]))
    assert {f"lazycuda/lib/{build.stub_name(library)}" for library in build.STUBBED} <= names
    for major in build.MAJORS:
        for library in build.STUBBED:
            path = f"lazycuda/lib/lazycuda/cuda{major}/{build.stub_name(library)}"
            assert (path in names) == build.import_library(library, major).exists()
    assert "lazycuda/include/lazycuda.h" in names and "lazycuda/bin/lazycuda" in names
    # The Python code once, not also where `make install` puts it.
    assert not [name for name in names if "share/lazycuda/python" in name]
    wheel_files.check_record(made["repaired"])


def test_the_sdist_holds_what_is_needed_and_nothing_made(made):
    with tarfile.open(made["sdist"]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"Makefile", "LICENSE", "symbols.txt", "stubs/loader.c", "gen/gen.c",
            "packaging/python/hatch_build.py", "tests/run.py"} <= names
    assert not [name for name in names if name.startswith("build/") or "__pycache__" in name]


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


def test_from_the_tree_with_pip(tmp_path):
    package.need("hatchling")
    package.run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-index",
                "--no-build-isolation", "--wheel-dir", tmp_path / "dist", build.ROOT)
    made, = (tmp_path / "dist").glob("*.whl")
    wheel_files.check_record(made)
    assert made.name.endswith(f"-py3-none-linux_{build.ARCH}.whl")


@pytest.mark.skipif(build.ARCH != "x86_64", reason="the other CPU is built for on x86-64")
def test_for_aarch64():
    made = package.made("aarch64")
    assert "manylinux2014_aarch64" in made["repaired"].name
    assert package.show(made["repaired"])[1] == "manylinux_2_17_aarch64"
    stub = wheel_files.read(made["repaired"])["lazycuda/lib/libcudart_stub.so"]
    assert stub[18] == 183      # EM_AARCH64


def test_an_editable_installation_is_refused(tmp_path):
    package.need("hatchling")
    done = subprocess.run([sys.executable, "-c", EDITABLE, tmp_path], cwd=build.ROOT,
                          capture_output=True, text=True)
    assert done.returncode and "cannot be installed editable" in done.stderr


EDITABLE = "import sys, hatchling.build; hatchling.build.build_editable(sys.argv[1])"
