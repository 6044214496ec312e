# SPDX-License-Identifier: MIT
"""Every call that a stub makes of libc fails in turn."""
import re

import pytest

import build
import injected
from fakes import answer, builtins, driver, fake, nvml
from world import CALL

HERE = injected.HERE


@pytest.fixture
def sweep(world):
    """sweep(scenario, library, version or None): how many calls failed; what is
    wrong then, if anything, fails the test."""
    def run(scenario, library="cudart", version=None, *more):
        few = ["-DSANITIZED"] if build.SANITIZER else []
        program = build.program(HERE / "sweep.c", *few, injected.injector())
        expected = answer(library, CALL[library], version) if version else 0
        said = world.run(program, scenario, injected.stub(library), expected, *more, timeout=600)
        calls = re.fullmatch(r"calls failed: (\d+)", said.lines[-1])
        assert len(said.lines) == 1, "\n".join(said.lines)
        return int(calls[1])
    return run


def install(world, version="13.5"):
    world.loader(*[fake(library, version) for library in build.STUBBED], builtins(version))


@pytest.mark.parametrize("library", ["cudart", "cuda"])
@pytest.mark.parametrize("scenario", ["call", "load"])
def test_no_library(sweep, scenario, library):
    assert sweep(scenario, library) > 50


@pytest.mark.parametrize("scenario", ["call", "load", "fork", "record", "replay"])
def test_a_library(world, sweep, scenario):
    install(world)
    assert sweep(scenario, "cudart", "13.5") > 50


def old_driver(world):
    """One that runs 12, and is found for a moment's lack of memory or files, or not yet."""
    world.loader(driver("12.4"), nvml("550.54"), folder="driver")


@pytest.mark.parametrize("library", ["cudart", "cuda"])
def test_a_driver_that_could_not_be_looked_at_is_looked_at_again(world, sweep, library):
    old_driver(world)
    assert sweep("ask", library) > 50


def test_no_major_is_chosen_while_the_driver_cannot_be_looked_at(world, sweep):
    old_driver(world)
    world.loader(fake("cudart", "13.5"), fake("cudart", "12.9"))
    assert sweep("call", "cudart", "12.9") > 50


def test_errors_in_words(sweep):
    assert sweep("tell") > 50


def test_a_file_that_is_named(world, sweep):
    world.env["LAZYCUDA_CUDART"] = world.put("named", fake("cudart", "13.5")) / "libcudart.so.13"
    assert sweep("call", "cudart", "13.5") > 50


def test_a_library_that_appears(world, sweep):
    file = world.put("later", fake("cudart", "13.5")) / "libcudart.so.13"
    assert sweep("appear", "cudart", "13.5", file) > 20


def test_a_folder_that_everybody_can_write_to_stays_unsearched(world, sweep):
    install(world)
    world.folder("loader").chmod(0o777)
    assert sweep("call") > 50
