# SPDX-License-Identifier: MIT
"""A constraint on the version, in the environment and by lazycuda_set_constraint()."""
import pytest

import build
from fakes import driver, fake


def install(world, *versions, libraries=("cudart",)):
    for version in versions:
        for library in libraries:
            world.put(f"cuda-{version}", fake(library, version))
        world.search(world.root / f"cuda-{version}")


@pytest.mark.parametrize("installed, constraint, usable", [
    ("12.6", "==12.6.*", True), ("12.6", "==12.5.*", False), ("12.6", "!=12.6", False)])
def test_a_version_that_names_do_not_prove_is_known_once_it_is_open(
        world, installed, constraint, usable):
    """The runtimes of 12.5 and 12.6 export the same names."""
    install(world, installed)
    status = world.status(LAZYCUDA_CONSTRAINT=constraint)
    assert (status["state"], status["cause"]) == (
        ("usable", 0) if usable else ("refused", 6)), status["reason"]
    if not usable:
        assert f"{constraint} excludes CUDA {installed}" in status["candidates"][0]["reason"]


def test_what_something_else_has_loaded_is_excluded_as_well(world):
    install(world, "12.9", "13.5")
    status = world.probe(f"open:{world.root / 'cuda-12.9' / 'libcudart.so.12'}", "stub:cudart",
                         "load", "status:cudart", LAZYCUDA_CONSTRAINT=">=13")[-1]
    assert status["version"] == "13.5"


@pytest.mark.parametrize("text, place", [
    (">=13.2,<x", "character 9 (x)"), ("13", "character 1 (13)"), (">=13,", "character 6 (its end)"),
    (">=13 \n<14", "character 6 (")])
def test_a_malformed_one_is_an_error(world, text, place):
    install(world, "13.5")
    status = world.status(LAZYCUDA_CONSTRAINT=text)
    assert (status["state"], status["cause"]) == ("broken", 1)
    assert status["reason"].startswith("LAZYCUDA_CONSTRAINT=")
    assert place in status["reason"]
    assert "\n" not in status["reason"]


def test_the_program(world):
    install(world, "12.9", "13.5", libraries=build.LIBRARIES)
    stubs = [f"stub:{library}" for library in build.LIBRARIES]
    said = world.probe(*stubs, "constrain:<13", "allows:12090", "allows:13050",
                       "call:cudaDeviceSynchronize", "status:cudart", "load", "status:nvrtc")
    assert [line for line in said if "constrain" in line or "allows" in line] == [
        {"constrain": 0}, {"allows": 1}, {"allows": 0}]
    assert [line["version"] for line in said if "version" in line] == ["12.9", "12.9"]
    assert "the program's constraint <13 excludes" in str(said[-1]["candidates"])


@pytest.mark.parametrize("major, allowed", [("12", [1, 0]), ("13", [0, 1]), ("none", [0, 0])])
def test_what_a_major_allows(world, major, allowed):
    said = world.probe("stub:cudart", "allows:12090", "allows:13050", LAZYCUDA_MAJOR=major)
    assert [line["allows"] for line in said[1:]] == allowed


def test_a_stub_that_comes_later_follows_the_program(world):
    install(world, "12.9", "13.5", libraries=build.LIBRARIES)
    said = world.probe("stub:cudart", "constrain:<13", "stub:nvrtc", "load:nvrtc", "status:nvrtc")
    assert said[-1]["version"] == "12.9"


def test_what_the_program_may_not_say(world):
    install(world, "12.9")
    said = world.probe("stub:cudart", "constrain:>=13", "constrain:13", "load", "status:cudart")
    assert [line["constrain"] for line in said[1:3]] == [0, -1]
    assert said[-1]["cause"] == 6
    said = world.probe("stub:cudart", "constrain:>=13", "constrain:", "load", "constrain:>=13",
                       "constrain:<13")
    assert [line.get("constrain") for line in said[1:]] == [0, 0, None, 1, 0]


def test_forward_compatibility(world):
    install(world, "12.9", "13.5")
    world.loader(driver("12.2"), folder="driver")
    assert world.status()["version"] == "12.9"
    assert world.status(LAZYCUDA_FORWARD_COMPATIBLE="0")["version"] == "12.9"
    assert world.status(LAZYCUDA_FORWARD_COMPATIBLE="1")["version"] == "13.5"
    status = world.status(LAZYCUDA_FORWARD_COMPATIBLE="yes")
    assert status["state"] == "broken"
    assert status["reason"].startswith("LAZYCUDA_FORWARD_COMPATIBLE=yes is not a switch: use 1 or 0")


def test_status_says_what_is_excluded(world):
    install(world, "12.9", "13.5")
    said = world.cli("status", "cudart", LAZYCUDA_CONSTRAINT="<13").out
    assert "LAZYCUDA_CONSTRAINT=<13 excludes CUDA 13.4" in said
    world.env["LAZYCUDA_CONSTRAINT"] = "<12"
    assert "excluded by a constraint" in world.cli("status", "--json", "cudart", check=False).out
