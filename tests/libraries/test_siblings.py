# SPDX-License-Identifier: MIT
"""What a real library needs of CUDA's others is loaded before it, from where it goes with it.
tests/direct has the situation that this is for."""
import shutil

import pytest

import library_lists
import one_cuda

PIP = {"libcusolver.so.11": "cusolver", "libcusparse.so.12": "cusparse",
       "libnvJitLink.so.12": "nvjitlink"}
ORIGINS = "$ORIGIN/../../cusparse/lib:${ORIGIN}/../../nvjitlink/lib"


def make(folder, soname, code="", needs=(), path=ORIGINS):
    """A library of that SONAME and version node; the functions in it are named by the code."""
    return shutil.copy(one_cuda.made(
        soname, code, "-Wl,-z,lazy,--enable-new-dtags,--allow-shlib-undefined",
        *([f"-Wl,-rpath,{path}"] if path else []), needs=needs), folder / soname)


def installed(world, soname, code="", needs=(), path=ORIGINS, site=one_cuda.SITE):
    """The same, where pip puts it."""
    return make(world.folder(f"{site}/nvidia/{PIP[soname]}/lib"), soname, code, needs, path)


def function(name, value=77):
    return f"int {library_lists.read(name).names(12 if name == 'cusparse' else 11)[0]}(void) " \
           f"{{ return {value}; }}\n"


def load(world, name, *before, after=()):
    """The status of its stub, and the libraries that are loaded then."""
    *_, status, loaded = world.probe(*before, f"open:{one_cuda.stub(world, name)}", "load", *after,
                                     f"status:{name}", "libraries")
    return status, loaded["libraries"]


@pytest.fixture
def old(world):
    """What LD_LIBRARY_PATH leads to."""
    world.search(world.folder("old"))
    return make(world.folder("old"), "libnvJitLink.so.12", path=None)


@pytest.fixture
def linker(world):
    return installed(world, "libnvJitLink.so.12", "int linked(void) { return 1; }\n")


@pytest.mark.parametrize("path", [ORIGINS, None, "/nowhere", "$LIB:relative"])
def test_all_that_is_needed_comes_from_the_same_site_packages(world, old, linker, path):
    """Also by what is needed, and where no run path leads there."""
    sparse = installed(world, "libcusparse.so.12", "", [linker], path)
    other = make(world.folder("old"), "libcusparse.so.12")
    installed(world, "libcusolver.so.11", function("cusolver"), [sparse], path)
    status, loaded = load(world, "cusolver")
    assert status["state"] == "usable", status["reason"]
    assert {str(sparse), str(linker)} <= set(loaded)
    assert not {str(old), str(other)} & set(loaded)


def test_or_from_the_folder_that_it_lies_in(world, old):
    """A toolkit, or a conda environment."""
    folder = world.folder("toolkit")
    linker = make(folder, "libnvJitLink.so.12", path=None)
    file = make(folder, "libcusparse.so.12", function("cusparse"), [linker], None)
    status, loaded = load(world, "cusparse", f"setenv:LAZYCUDA_CUSPARSE={file}")
    assert status["state"] == "usable"
    assert str(linker) in loaded and str(old) not in loaded


def test_what_need_each_other(world):
    first = installed(world, "libcusparse.so.12", function("cusparse"))
    linker = installed(world, "libnvJitLink.so.12", "", [first])
    installed(world, "libcusparse.so.12", function("cusparse"), [linker])
    assert load(world, "cusparse")[0]["state"] == "usable"


def test_not_from_a_folder_that_everybody_can_write_to(world, linker):
    installed(world, "libcusparse.so.12", function("cusparse"), [linker], None)
    linker.parent.chmod(0o777)
    status, loaded = load(world, "cusparse")
    assert status["state"] == "broken" and str(linker) not in loaded
    assert str(linker.parent) in [one["path"] for one in status["left_out"]]


def test_one_that_is_in_the_process_is_named_if_it_is_in_the_way(world, old):
    linker = installed(world, "libnvJitLink.so.12", "int linked = 1;\n")
    file = installed(world, "libcusparse.so.12", "extern int linked; " + function(
        "cusparse", "linked"), [linker])
    status, _ = load(world, "cusparse", f"open:{old}")
    assert status["state"] == "broken"
    assert f"ld.so takes {old} and not {linker}" in status["reason"]
    assert "Install" not in status["reason"]
    linker.unlink()
    assert f"; ld.so takes {old}." in load(world, "cusparse")[0]["reason"]
    assert file.exists()


# ---- what cannot be loaded, or not whole ----

def test_it_is_tried_again_once_something_was_loaded(world):
    installed(world, "libcusparse.so.12", "extern int helped; " + function("cusparse", "helped"),
              path=None)
    helper = make(world.folder("helper"), "libhelper.so", "int helped = 1;\n", path=None)
    assert load(world, "cusparse", after=["load"])[0]["state"] == "broken"
    status, _ = load(world, "cusparse", after=[f"global:{helper}", "load"])
    assert status["state"] == "usable"


CALLS = "int nowhere(void); int other(void) { return nowhere(); }\n"


def test_of_what_lacks_a_function_the_whole_one_is_taken(world):
    installed(world, "libcusparse.so.12", CALLS + function("cusparse"), path=None)
    status, _ = load(world, "cusparse")
    assert status["state"] == "usable"
    assert "it is bound lazily, as otherwise it cannot be loaded: " in status["reason"]
    assert "undefined symbol: nowhere" in status["reason"]
    whole = make(world.folder("whole"), "libcusparse.so.12", function("cusparse"), path=None)
    world.search(whole.parent)
    status, _ = load(world, "cusparse")
    assert (status["path"], "lazily" in status["reason"]) == (str(whole), False)
