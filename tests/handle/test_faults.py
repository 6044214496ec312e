# SPDX-License-Identifier: MIT
"""Links on a fake driver, nvJitLink and nvrtc, with everything failing in turn."""
import pytest

import build
import handles

SCENARIOS = ("driver", "nvjitlink", "source", "main")


def run(world, fault, scenario):
    handles.install_fakes(world)
    # The program's own malloc() or the sanitizer's.
    more = ["-DSANITIZED"] if build.SANITIZER and build.SANITIZER.runtime else []
    said = world.run(handles.program("faults", *more), fault, scenario, check=False)
    assert said.status == 0 and said.lines[-1] == "done", said.out + said.err
    return said.lines


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_call_may_fail(world, scenario):
    said = run(world, "calls", scenario)[0]
    print(said)
    assert int(said.split()[-1]) > 8


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_allocation_may_fail(world, scenario):
    said = run(world, "memory", scenario)[0]
    print(said)
    assert int(said.split()[-1]) > 8


@pytest.mark.parametrize("scenario", ["driver", "nvjitlink"])
def test_success_with_what_is_no_image_is_a_bad_image(world, scenario):
    run(world, "images", scenario)


@pytest.mark.parametrize("scenario", ["driver", "nvjitlink"])
def test_logs_come_back_whole_on_success_and_failure(world, scenario):
    run(world, "logs", scenario)


PTX = ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n"


@pytest.mark.parametrize("current", [False, True])
def test_the_drivers_context(world, current):
    # The one that is current is used; else one is retained and given back,
    # which the fake driver insists on.
    handles.install_fakes(world)
    ptx = world.root / "k.ptx"
    ptx.write_text(PTX)
    said = world.run(handles.program("context"), "current" if current else "none", ptx)
    assert said.lines == ["BAD_IMAGE", f"retained {0 if current else 1} 0",
                          f"pushed {0 if current else 1} 0"]


def test_the_links_stand_in_for_libcuda_is_no_driver(world, link):
    from fakes import driver
    world.loader(driver("13.0", result=34))
    ptx = world.root / "k.ptx"
    ptx.write_text(PTX)
    said = link(ptx, "--driver", "13000")
    assert said["code"] == "BACKEND_MISSING"
    assert "libcuda.so.1" in said["message"]


def test_a_driver_without_a_linker_says_what_it_lacks(world, link):
    from fakes import driver
    world.loader(driver("13.0", init=0))
    ptx = world.root / "k.ptx"
    ptx.write_text(PTX)
    said = link(ptx)
    assert said["code"] == "BACKEND_MISSING"
    assert "cuCtxGetCurrent" in said["message"]


def test_what_makes_no_sense_is_refused_and_older_callers_are_not(world):
    handles.install_fakes(world)
    assert world.run(handles.program("misuse")).lines == [
        "no request: BAD_REQUEST",
        "a request without a size: BAD_REQUEST",
        "a size that ends within a field: BAD_REQUEST",
        "no input: NO_INPUTS",
        "an input without bytes: BAD_INPUT and NO_INPUTS",
        "support that is not there: BAD_REQUEST",
        "endless support: BAD_REQUEST",
        "a setting alone: BAD_IMAGE",
        # The fake makes nothing unless it is told to.
        "an older caller: BAD_IMAGE",
        "a newer caller's field: BAD_REQUEST and NO_INPUTS",
        *[f"{what}: BAD_REQUEST" for what in (
            "a flag of an input that does not exist", "bytes and a path", "headers of PTX",
            "a limit of a link that is not isolated", "an input of a link that ran")],
        "a setting that is there twice: BAD_OPTION",
        "a setting that is none: BAD_OPTION",
        "a name expression that is NULL: BAD_REQUEST",
        "a header without a text: BAD_REQUEST",
        "a header that is there twice: BAD_REQUEST",
        "endless headers: BAD_REQUEST",
        "no link: NO_MEMORY and NO_MEMORY: memory ran out"]
