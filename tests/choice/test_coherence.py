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


def chosen(world, *libraries, **options):
    said = world.statuses(*(libraries or build.LIBRARIES), **options)
    return {name: status["major"] for name, status in said.items()}


@pytest.mark.parametrize("installed, expected", [
    (dict(cudart="13 12", nvrtc="13 12", nvJitLink="13 12"), (13, 13, 13)),
    # The highest of each would be nvrtc 13 with nvJitLink 12, which cannot read its output.
    (dict(cudart="13 12", nvrtc="13 12", nvJitLink="12"), (12, 12, 12)),
    (dict(cudart="13 12 11", nvrtc="12 11", nvJitLink="13 12"), (12, 12, 12)),
    (dict(cudart="12", nvrtc="13 12", nvJitLink="13 12"), (12, 12, 12)),
    # Who has nothing at all binds nobody.
    (dict(cudart="13 12", nvrtc="13"), (13, 13, 0)),
    (dict(cudart="11", nvrtc="11"), (11, 11, 0)),
    (dict(nvrtc="12"), (0, 12, 0)),
])
def test_the_highest_that_every_stub_has(world, installed, expected):
    install(world, **installed)
    assert tuple(chosen(world).values()) == expected


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


def joined(world, first, second, **options):
    """The statuses when `second` comes into the process after `first` was used."""
    said = world.probe(f"stub:{first}", f"call:{CALL[first]}", f"stub:{second}",
                       f"call:{CALL[second]}", f"status:{first}", f"status:{second}",
                       f"error:{second}", **options)
    return said[-3], said[-2], said[-1], said[3]["value"]


def test_who_joins_later_follows(world):
    install(world, cudart="12", nvrtc="13 12")
    before, after, _, _ = joined(world, "cudart", "nvrtc")
    assert (before["major"], after["major"]) == (12, 12)


def test_who_cannot_follow_may_be_used_beside(world):
    # nvrtc's output is not read by cudart; and a newer nvJitLink reads an older
    # nvrtc's.
    install(world, cudart="13", nvrtc="12")
    before, after, _, _ = joined(world, "cudart", "nvrtc")
    assert (before["major"], after["major"]) == (13, 12)


def test_a_newer_nvjitlink_may_join_an_older_nvrtc(world):
    install(world, nvrtc="12", nvJitLink="13")
    before, after, _, _ = joined(world, "nvrtc", "nvJitLink")
    assert (before["major"], after["major"]) == (12, 13)


@pytest.mark.parametrize("first, second, installed, code", [
    ("nvrtc", "nvJitLink", dict(nvrtc="13", nvJitLink="12"), 6),
    ("nvJitLink", "nvrtc", dict(nvrtc="13", nvJitLink="12"), 11)])
def test_an_older_nvjitlink_with_a_newer_nvrtc_is_refused(world, first, second, installed, code):
    install(world, **installed)
    before, after, error, value = joined(world, first, second)
    assert before["state"] == "usable"
    assert (after["state"], after["cause"]) == ("refused", 5)
    assert value == error["status"] == code
    assert error["cause"] == 5
    assert "12" in error["message"] and "13" in error["message"]


def test_strict_mixes_nothing(world):
    install(world, cudart="13", nvrtc="12")
    _, after, error, value = joined(world, "cudart", "nvrtc", LAZYCUDA_GUARD="strict")
    assert (after["state"], after["cause"], value, error["cause"]) == ("refused", 5, 11, 5)


def test_off_is_literally_the_highest_of_each(world):
    install(world, cudart="13 12", nvrtc="13 12", nvJitLink="12")
    assert tuple(chosen(world, LAZYCUDA_GUARD="off").values()) == (13, 13, 12)


def test_a_pin_holds_for_all(world):
    install(world, cudart="13 12 11", nvrtc="13 12 11", nvJitLink="13 12")
    assert tuple(chosen(world, LAZYCUDA_MAJOR="12").values()) == (12, 12, 12)
    assert tuple(chosen(world, LAZYCUDA_MAJOR="11").values()) == (11, 11, 0)


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
