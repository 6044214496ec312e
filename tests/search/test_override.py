# SPDX-License-Identifier: MIT
"""LAZYCUDA_CUDART and its like name a file.  A bad one is an error, never ignored."""
import json

import pytest

import build
import fakes
from fakes import fake
from world import CALL, MISSING, probe

VARIABLES = {"cudart": "LAZYCUDA_CUDART", "nvrtc": "LAZYCUDA_NVRTC",
             "nvJitLink": "LAZYCUDA_NVJITLINK"}


@pytest.fixture
def installed(world):
    """A machine whose search would find CUDA 13."""
    world.loader(*[fake(library, "13.5") for library in build.LIBRARIES])
    return world


@pytest.mark.parametrize("library, name", [*((one, None) for one in build.LIBRARIES), ("cudart", "my-cuda")])
def test_the_named_file_is_used_whatever_it_is_called(installed, library, name):
    named = installed.folder("named") / (name or fake(library, "12.9").name)
    named.write_bytes(fake(library, "12.9").read_bytes())
    status = installed.status(library, **{VARIABLES[library]: named})
    assert (status["state"], status["version"], status["path"], status["found_by"]) == (
        "usable", "12.9", str(named), "override")


def broken(world, library, value):
    *_, call, error, status = world.probe(
        f"stub:{library}", f"call:{CALL[library]}", f"error:{library}", f"status:{library}",
        **{VARIABLES[library]: value})
    assert call["value"] == MISSING[library]
    assert status["state"] == "broken"
    assert status["path"] is None
    assert VARIABLES[library] in status["reason"]
    assert error["cause"] == status["cause"] == 1
    assert VARIABLES[library] in error["message"]
    return status


@pytest.mark.parametrize("library", build.LIBRARIES)
def test_a_file_that_is_not_there_is_an_error(installed, library):
    assert "/nowhere/lib.so" in broken(installed, library, "/nowhere/lib.so")["reason"]


@pytest.mark.parametrize("damage", [fakes.truncated, fakes.folder, lambda path, _: path.write_bytes(
    fake("nvrtc", "12.9").read_bytes())], ids=["truncated", "folder", "another"])
def test_a_damaged_file_is_an_error(installed, damage):
    path = installed.folder("named") / "libcudart.so.12"
    damage(path, fake("cudart", "12.9"))
    assert str(path) in broken(installed, "cudart", path)["reason"]


def test_the_stub_itself_is_an_error(installed):
    # The stub would call itself forever.
    broken(installed, "cudart", build.stub("cudart"))


def test_an_empty_variable_counts_as_unset(installed):
    assert installed.status("cudart", LAZYCUDA_CUDART="")["version"] == "13.5"


@pytest.mark.parametrize("variable, value", [
    ("LAZYCUDA_MAJOR", "14"), ("LAZYCUDA_MAJOR", "twelve"), ("LAZYCUDA_MAJOR", "12.9"),
    ("LAZYCUDA_MAJOR", "-12"), ("LAZYCUDA_GUARD", "STRICT")])
def test_a_bad_setting_is_an_error(installed, variable, value):
    *_, call, status = installed.probe("stub:cudart", "call:cudaDeviceSynchronize",
                                       "status:cudart", **{variable: value})
    assert call["value"] == 303
    assert status["state"] == "broken"
    assert f"{variable}={value}" in status["reason"]


def test_the_guard_in_force_can_be_asked_for(installed):
    for guard in ("strict", "best_effort", "off"):
        assert installed.probe("stub:cudart", "guard", LAZYCUDA_GUARD=guard)[1] == {"guard": guard}
    assert installed.probe("stub:cudart", "guard")[1] == {"guard": "best_effort"}


def test_the_trace_is_silent_unless_asked_for(installed):
    silent = installed.run(probe(), f"open:{build.stub('cudart')}", "load")
    assert silent.err == ""
    loud = installed.run(probe(), f"open:{build.stub('cudart')}", "load", LAZYCUDA_DEBUG="1")
    assert "libcudart.so.13" in loud.err
    assert loud.out == silent.out


def test_a_wrong_variable_is_the_reason_against_every_candidate(world):
    world.loader(fake("cudart", "12.9"))
    said = world.cli("status", "--json", "cudart", check=False, LAZYCUDA_MAJOR="twelve",
                     LAZYCUDA_DEBUG="1")
    library, = json.loads(said.out)["libraries"]
    assert library["state"] == "broken"
    reason, = [one["reason"] for one in library["candidates"]]
    assert reason.startswith("LAZYCUDA_MAJOR=twelve is not a CUDA major")
    assert reason in said.err and "(null)" not in said.err
