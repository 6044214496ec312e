# SPDX-License-Identifier: MIT
"""The highest major that the installed driver can run."""
import pytest

import build
from fakes import driver, fake, nvml

ALL = ("11.8", "12.9", "13.5")


def machine(world, driver_version, branch=None, toolkits=ALL):
    for version in toolkits:
        for library in build.LIBRARIES:
            if (library, version[:2]) != ("nvJitLink", "11"):
                world.put(f"cuda-{version}", fake(library, version))
        world.search(world.root / f"cuda-{version}")
    if driver_version:
        world.loader(driver(driver_version), folder="driver")
    if branch:
        world.loader(nvml(branch), folder="driver")
    return world


@pytest.mark.parametrize("driver_version, branch, chosen", [
    (None, None, "13.5"),           # no driver: the highest
    ("13.5", "590.10", "13.5"),
    ("13.9", "600.10", "13.5"),     # newer minor: backward compatible
    ("14.2", "610.10", "13.5"),     # newer major
    ("13.0", "580.65.06", "13.5"),  # older minor: minor-version compatible from 580
    ("12.9", "575.51.03", "12.9"),  # no driver of 12 runs 13
    ("12.2", "535.104.05", "12.9"),
    ("12.0", "525.60.13", "12.9"),
    ("12.2", None, "12.9"),         # nobody tells the branch: let it pass
    ("11.8", "520.61.05", "11.8"),
    ("11.4", "470.82.01", "11.8"),
    ("11.0", "450.36.06", "11.8"),
    # A newer libcuda in front of an old display driver (cuda-compat).
    ("12.4", "470.82.01", "11.8"),
    ("13.0", "535.104.05", "12.9"),
    ("11.0", "418.87", None),
    ("10.2", "440.33", None),
])
def test_which_major(world, driver_version, branch, chosen):
    status = machine(world, driver_version, branch).status("cudart", "nvrtc")
    if chosen:
        assert (status["state"], status["version"]) == ("usable", chosen), status["reason"]
    else:
        assert (status["state"], status["cause"]) == ("refused", 4), status["reason"]


def test_without_nvml_the_kernel_module_tells_the_branch(world):
    module = world.folder("module/nvidia")
    world.bind(module.parent, "/sys/module")
    machine(world, "12.2")
    (module / "version").write_text("520.61.05\n")
    assert world.status()["version"] == "11.8"
    (module / "version").write_text("535.104.05\n")
    assert world.status()["version"] == "12.9"


def test_an_older_minor_of_the_same_major_needs_no_branch(world):
    # As with cuda-compat: driver library 12.4 on a display driver from before
    # 525.  12.4 itself is all right; the version is read from the file.
    machine(world, "12.4", "418.87", toolkits=("12.9", "12.4", "11.8"))
    status = world.status()
    assert status["version"] == "12.4"
    refused, = [c for c in status["candidates"] if "12.9" in c["path"]]
    assert "418" in refused["reason"] and "525" in refused["reason"]


@pytest.mark.parametrize("library, status, call", [
    ("cudart", 35, "cudaDeviceSynchronize"), ("nvrtc", 11, "nvrtcDestroyProgram"),
    ("nvJitLink", 6, "nvJitLinkDestroy")])
def test_a_driver_too_old_for_everything_is_said(world, library, status, call):
    machine(world, "11.2", toolkits=("12.9", "13.5"))
    *_, called, error, state = world.probe(f"stub:{library}", f"call:{call}", f"error:{library}",
                                           f"status:{library}")
    assert called["value"] == error["status"] == status
    assert error["cause"] == state["cause"] == 4
    assert state["state"] == "refused"
    assert "11.2" in error["message"] and "11.2" in state["reason"]
    assert error["function"] == call
    assert len(state["candidates"]) == 2
    assert all("11.2" in c["reason"] for c in state["candidates"])


def test_the_driver_that_was_seen_can_be_asked_for(world):
    machine(world, "12.2", "535.104.05")
    assert world.probe("stub:cudart", "load", "driver")[-1] == {"version": 12020, "branch": 535}


def test_asking_for_the_driver_first_looks_at_it(world):
    machine(world, "12.2", "535.104.05")
    assert world.probe("stub:cudart", "driver")[-1]["version"] == 12020


def test_without_a_driver_it_says_so(world):
    assert world.probe("stub:cudart", "load", "driver")[-1] == {"version": 0, "branch": 0}


def test_the_link_stub_of_the_driver_is_no_driver(world):
    # NVIDIA's libcuda.so for linking answers 34 to everything.
    machine(world, None)
    world.loader(driver("12.2", result=34), folder="driver")
    said = world.probe("stub:cudart", "load", "status:cudart", "driver")
    assert said[-2]["version"] == "13.5"
    assert said[-1]["version"] == 0


def test_a_broken_driver_library_is_no_driver(world):
    machine(world, None)
    (world.loader(folder="driver") / "libcuda.so.1").write_text("not a library")
    assert world.status()["version"] == "13.5"


def test_a_driver_library_without_the_function_is_no_driver(world):
    machine(world, None)
    folder = world.loader(build.shared(build.TESTS / "lib" / "stranger.c", name="libcuda.so.1"),
                          folder="driver")
    assert (folder / "libcuda.so.1").exists()
    assert world.status()["version"] == "13.5"


def test_nixos_keeps_its_driver_elsewhere(world):
    machine(world, None)
    world.bind(world.put("nix", driver("12.2"), nvml("535.104.05")), "/run/opengl-driver/lib")
    said = world.probe("stub:cudart", "load", "status:cudart", "driver")
    assert said[-2]["version"] == "12.9"
    assert said[-1]["version"] == 12020


# Guards.

def test_strict_takes_no_chances(world):
    # Nobody tells the branch, so 12.9 on a driver for 12.2 is a guess.
    machine(world, "12.2", toolkits=("12.9", "12.0", "11.8"))
    assert world.status(LAZYCUDA_GUARD="best_effort")["version"] == "12.9"
    assert world.status(LAZYCUDA_GUARD="strict")["version"] == "12.0"


def test_strict_passes_what_is_known_to_work(world):
    machine(world, "12.2", "535.104.05")
    assert world.status(LAZYCUDA_GUARD="strict")["version"] == "12.9"


def test_off_takes_the_highest_whatever_the_driver(world):
    machine(world, "11.4", "470.82.01")
    assert world.status(LAZYCUDA_GUARD="off")["version"] == "13.5"


def test_a_pin_does_not_make_the_driver_newer(world):
    machine(world, "12.2", "535.104.05")
    status = world.status(LAZYCUDA_MAJOR="13")
    assert (status["state"], status["cause"]) == ("refused", 4)
    assert world.status(LAZYCUDA_MAJOR="13", LAZYCUDA_GUARD="off")["version"] == "13.5"
