# SPDX-License-Identifier: MIT
"""The command finds the stubs of CUDA's other libraries beside those of the five."""
import json
import shutil
import subprocess

import build
import installed
import library_lists
from test_every_function import fake


def test_status_by_the_name_of_a_library(world):
    done = world.cli("status", "--json", "cublas", check=False)
    said = json.loads(done.out)["libraries"]
    assert done.status == 1
    assert [(one["name"], one["state"]) for one in said] == [("cublas", "missing")]
    assert "pip install nvidia-cublas" in said[0]["reason"]
    world.loader(fake("cublas", 12)[0])
    one = json.loads(world.cli("status", "--json", "cublas").out)["libraries"][0]
    assert (one["state"], one["path"]) == ("usable", str(world.root / "loader/libcublas.so.12"))


def test_status_of_one_that_is_not_installed(world, tmp_path):
    """A tree of the five alone."""
    for folder in ("bin", "lib"):
        (tmp_path / folder).mkdir()
    shutil.copy(build.BUILD / "bin" / "lazycuda", tmp_path / "bin")
    for name in [build.stub_name(one) for one in build.STUBBED] + ["liblazycuda_link.so"]:
        shutil.copy(build.BUILD / "lib" / name, tmp_path / "lib")
    done = world.run(tmp_path / "bin" / "lazycuda", "status", "cublas", check=False)
    assert done.status == 2 and "the stub of cublas is not installed" in done.err
    assert "make ALL_STUBS=yes install" in done.err


def user(folder, *files):
    """A library that needs these, and calls one function of each."""
    names = [library_lists.read(file.name[3:].partition(".")[0]).names(12)[0] for file in files]
    folder.joinpath("user.c").write_text("".join(f"int {name}(void);\n" for name in names) +
                                         "int use(void) { return " +
                                         " + ".join(f"{name}()" for name in names) + "; }\n")
    made = folder / "libuser.so"
    subprocess.run([*build.CC, "-shared", "-fPIC", folder / "user.c", "-Wl,-z,now", *files, "-o",
                    made], check=True)
    return made


def test_audit_needs_no_option(world, tmp_path):
    file = user(tmp_path, fake("cublas", 12)[0], fake("nvjpeg", 12)[0])
    said = json.loads(world.cli("audit", "--json", file).out)["files"][0]
    assert {one["library"]: (one["needed"], one["compiled_for"], one["names"])
            for one in said["imports"]} == {
        "cublas": ("libcublas.so.12", 12, 1), "nvjpeg": ("libnvjpeg.so.12", 12, 1)}
    assert said["targets"]["12.9"]["direct"] == 2


def test_many_libraries_in_one_file(world, tmp_path):
    """More than sixteen."""
    names = [name for name in library_lists.NAMES if 12 in library_lists.read(name).sonames]
    assert len(names) > 16
    file = user(tmp_path, *[fake(name, 12)[0] for name in names])
    said = json.loads(world.cli("audit", "--json", file).out)["files"][0]
    assert sorted(one["library"] for one in said["imports"]) == names


def test_they_are_installed_where_that_is_asked_for():
    def named(*words):
        said = installed.planned(*words)
        return {name for name in library_lists.NAMES if f"'/nowhere/p/lib/lib{name}_stub.so'" in said}

    every = set(library_lists.NAMES)
    assert named("ALL_STUBS=yes", "install") == named("uninstall") == every
    assert named("install") == set()
