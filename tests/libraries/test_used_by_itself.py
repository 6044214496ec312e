# SPDX-License-Identifier: MIT
"""The command finds the stubs of CUDA's other libraries beside those of the five."""
import json
import shutil

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


def test_they_are_installed_where_that_is_asked_for():
    def named(*words):
        said = installed.planned(*words)
        return {name for name in library_lists.NAMES if f"'/nowhere/p/lib/lib{name}_stub.so'" in said}

    every = set(library_lists.NAMES)
    assert named("ALL_STUBS=yes", "install") == named("uninstall") == every
    assert named("install") == set()
