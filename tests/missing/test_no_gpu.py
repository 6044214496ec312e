# SPDX-License-Identifier: MIT
"""Without a library and without a driver, whoever asks for a GPU is told that there is none.

In the words that the real runtime has for it, because programs know no others.  With a driver
a GPU lies idle for want of a package: that stays the error that nobody overlooks.
"""
import pytest

import fakes
from fakes import driver, fake

COUNT, VERSION = "out:cudaGetDeviceCount:4:0", "out:cudaDriverGetVersion:4:0"
NEITHER = "neither an NVIDIA driver nor a CUDA library was found"
QUIET, LOUD = (35, 0), (303, 303)


def answers(world, *first, **env):
    """What both answer; their outputs are zeroed in any case."""
    *_, count, version = world.probe(*first, "stub:cudart", COUNT, VERSION, **env)
    assert count["bytes"] == version["bytes"] == ["00" * 4]
    return count["value"], version["value"]


def test_they_are_those_of_the_real_runtime(world, toolkit):
    # Which leaves the count alone where it cannot be told.
    without = world.probe("stub:cudart", COUNT, "text:cudaGetErrorName:35", VERSION)
    world.loader(toolkit.file("cudart"))
    real = world.probe("stub:cudart", COUNT, "text:cudaGetErrorName:35", VERSION)
    assert [line["value"] for line in (real[1], real[3])] == list(QUIET)
    assert without[2:] == real[2:] and without[1]["value"] == real[1]["value"]


def test_the_last_error_is_that_of_the_count(world):
    said = world.probe("stub:cudart", VERSION, "call:cudaPeekAtLastError", COUNT,
                       "call:cudaPeekAtLastError", VERSION, "call:cudaGetLastError",
                       "call:cudaGetLastError", "call:cudaMalloc", VERSION,
                       "call:cudaGetLastError")
    assert [line["value"] for line in said[1:]] == [0, 0, 35, 35, 0, 35, 0, 303, 0, 303]


def test_no_information_is_lost(world):
    folder = world.loader()
    said = world.probe("stub:cudart", COUNT, "error:cudart", "text:cudaGetErrorString:35",
                       "status:cudart", VERSION, "error:cudart", "text:cudaGetErrorString:0")
    _, _, count, text, status, _, version, success = said
    for error, function, value in ((count, "cudaGetDeviceCount", 35),
                                   (version, "cudaDriverGetVersion", 0)):
        assert (error["cause"], error["status"], error["function"]) == (1, value, function)
        for part in (f"{function}: {NEITHER}", "docker run --gpus all", "pip install", str(folder),
                     "libcudart.so.13"):
            assert part in error["message"]
    assert text["text"] == count["message"]
    assert (status["state"], status["cause"]) == ("missing", 1)
    assert NEITHER not in success["text"]


# Where it stays loud.

def test_with_a_driver(world):
    world.loader(driver("12.9"), folder="driver")
    assert answers(world) == LOUD
    said = world.probe("stub:cudart", COUNT, "text:cudaGetErrorString:303",
                       "text:cudaGetErrorString:35")
    assert said[2]["text"].startswith("cudaGetDeviceCount: no usable libcudart.so.13")
    assert NEITHER not in said[3]["text"]


def test_nvidias_stand_in_is_no_driver(world):
    world.loader(fake("cuda", "12.9", broken=True), folder="driver")
    assert answers(world) == QUIET


def test_where_the_guard_is_strict(world):
    assert answers(world, LAZYCUDA_GUARD="strict") == LOUD
    assert answers(world, LAZYCUDA_GUARD="strict", LAZYCUDA_MAJOR="none") == LOUD
    assert answers(world, LAZYCUDA_GUARD="off") == QUIET


@pytest.mark.parametrize("damage, reason", [(fakes.empty, "is empty"),
                                            (fakes.dangling, "is a link that leads nowhere")])
def test_what_is_left_of_a_library_is_none(world, damage, reason):
    """A toolkit was removed, or an image has a file of no bytes; it is named all the same."""
    file = world.folder("left") / "libcudart.so.13"
    damage(file, None)
    world.search(file.parent)
    assert answers(world) == QUIET
    *_, count, error, status = world.probe("stub:cudart", COUNT, "error:cudart", "status:cudart")
    assert f"{file}: {reason}" in error["message"]
    assert [c["reason"] for c in status["candidates"]] == [reason]


# Where somebody says that there is none.

@pytest.mark.parametrize("variable", ["LAZYCUDA_MAJOR", "LAZYCUDA_CUDART"])
def test_where_the_library_is_hidden(world, variable):
    # And all the rest is there.
    world.loader(driver("12.9"), fake("cudart", "12.9"))
    assert answers(world, **{variable: "none"}) == QUIET
    said = world.probe("stub:cudart", COUNT, "text:cudaGetErrorString:35", "maps:libcuda.so",
                       **{variable: "none"})
    assert said[2]["text"] == (f"cudaGetDeviceCount: cudart is hidden by {variable}=none, and was"
                               " not looked for; unset it to use what is installed")
    assert said[3]["maps"] is None


# When it is looked for.

def test_nobody_else_has_the_driver_loaded(world):
    world.loader(driver("12.9"))
    said = world.probe("stub:cudart", "call:cudaMalloc", "maps:libcuda.so", COUNT,
                       "maps:libcuda.so")
    assert said[2]["maps"] is None and said[4]["maps"]
