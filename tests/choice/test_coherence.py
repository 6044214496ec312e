# SPDX-License-Identifier: MIT
"""The stubs of a process agree on one major."""
import pytest

import build
from fakes import fake
from world import CALL


def install(world, **majors):
    """install(world, cudart="13 12", nvrtc="12")"""
    versions = {"11": "11.8", "12": "12.9", "13": "13.5"}
    for library, listed in majors.items():
        for major in listed.split():
            world.loader(fake(library, versions[major]))
    return world


def chosen(world, *libraries, **more):
    said = world.statuses(*(libraries or build.LIBRARIES), **more)
    return {name: status["major"] for name, status in said.items()}


def test_a_stub_that_is_not_in_the_process_does_not_count(world):
    install(world, cudart="13 12", nvrtc="12", nvJitLink="12")
    assert chosen(world, "cudart") == {"cudart": 13}
    assert chosen(world, "cudart", "nvrtc") == {"cudart": 12, "nvrtc": 12}


@pytest.mark.parametrize("first", build.LIBRARIES)
def test_whichever_is_called_first(world, first):
    install(world, cudart="13 12", nvrtc="13 12", nvJitLink="12")
    said = world.probe(*[f"stub:{library}" for library in build.LIBRARIES],
                       f"call:{CALL[first]}", "load",
                       *[f"status:{library}" for library in build.LIBRARIES])
    assert [status["major"] for status in said[-3:]] == [12, 12, 12]


@pytest.mark.parametrize("first", build.LIBRARIES)
@pytest.mark.parametrize("other, found", [(("nvrtc", "13.5"), "12.9"), (("nvJitLink", "12.9"), "13.5")])
def test_what_the_process_has_leaves_no_stub_without(world, other, found, first):
    """ld.so loads both nvrtcs, each for its callers; nvJitLink must not be the older one."""
    world.put("toolkit/lib64", *[fake(library, found) for library in build.LIBRARIES])
    loaded = world.put("other", fake(*other)) / fake(*other).name
    world.loader(fake("cudart", other[1]))      # near, and no reason to look no farther
    said = world.probe(f"open:{loaded}", *[f"stub:{library}" for library in build.LIBRARIES],
                       f"call:{CALL[first]}", "load",
                       *[f"status:{library}" for library in build.LIBRARIES], CUDA_HOME=world.root / "toolkit")
    assert [status["version"] for status in said[-3:]] == [found] * 3


def test_an_override_leads_the_others(world):
    install(world, cudart="13", nvrtc="13 12", nvJitLink="13 12")
    named = world.put("named", fake("cudart", "12.9")) / "libcudart.so.12"
    assert tuple(chosen(world, LAZYCUDA_CUDART=named).values()) == (12, 12, 12)


def test_two_copies_of_a_stub_agree(world):
    # Two wheels, each with its own copy: two cudarts of different majors would
    # have separate state.
    install(world, cudart="13 12")
    files = [(world.put(wheel, build.stub("cudart")) / "libcudart_stub.so").rename(
        world.root / wheel / f"libcudart_stub-{wheel}.so") for wheel in ("wheel1", "wheel2")]
    said = world.probe(f"open:{files[0]}", "call:cudaDeviceSynchronize", f"open:{files[1]}",
                       "call:cudaDeviceSynchronize", "libraries")
    assert said[1]["value"] == said[3]["value"] > 2**30
    assert len([path for path in said[-1]["libraries"] if "libcudart.so" in path]) == 1
