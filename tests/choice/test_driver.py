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
    ("13.9", "600.10", "13.5"),     # newer minor: backward compatible
    ("13.0", "580.65.06", "13.5"),  # older minor: minor-version compatible from 580
    ("12.9", "575.51.03", "12.9"),  # no driver of 12 runs 13
    ("12.0", "525.60.13", "12.9"),
    ("12.2", None, "12.9"),         # nobody tells the branch: let it pass
    ("11.8", "520.61.05", "11.8"),
    ("11.0", "450.36.06", "11.8"),
    # A newer libcuda in front of an old display driver (cuda-compat).
    ("12.4", "470.82.01", "11.8"),
    ("11.0", "418.87", None),
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


def test_the_driver_that_was_seen_can_be_asked_for(world):
    machine(world, "12.2", "535.104.05")
    assert world.probe("stub:cudart", "load", "driver")[-1] == {"version": 12020, "branch": 535}


def test_the_link_stub_of_the_driver_is_no_driver(world):
    # NVIDIA's libcuda.so for linking answers 34 to everything.
    machine(world, None)
    world.loader(driver("12.2", result=34), folder="driver")
    said = world.probe("stub:cudart", "load", "status:cudart", "driver")
    assert said[-2]["version"] == "13.5"
    assert said[-1]["version"] == 0


def test_a_driver_library_without_the_function_is_no_driver(world):
    machine(world, None)
    folder = world.loader(build.shared(build.TESTS / "lib" / "stranger.c", name="libcuda.so.1"),
                          folder="driver")
    assert (folder / "libcuda.so.1").exists()
    assert world.status()["version"] == "13.5"


# Debian's libcuda1 (535: CUDA 12.2), which .ci/run unpacks into build/libcuda1, on a machine without a GPU: there
# runtimes 11 and 12 return 100 (no device) and 13 returns 35 (driver too old), the one that cannot work.

@pytest.fixture
def debian(world, debian):
    file = debian("cuda")
    folder = world.loader(file, folder="driver")
    # 12.3 and 12.4 of nvJitLink ask for libcuda.so.
    for name in ("libcuda.so.1", "libcuda.so"):
        (folder / name).symlink_to(file.name)
    driver = world.probe("stub:cudart", "driver")[-1]["version"]
    if driver // 1000 != 12:
        pytest.skip(f"this libcuda1 is a driver for CUDA {driver // 1000}, not 12")
    return world


def test_the_major_that_works_is_chosen(debian, real):
    for toolkit in map(real, ALL):
        for file in toolkit.files():
            debian.search(file.parent)
    said = debian.probe("stub:cudart", "out:cudaGetDeviceCount@libcudart.so.12:4:0",
                        "status:cudart", "driver")
    assert said[1]["value"] == 100      # no device: a driver that answers
    assert said[2]["major"] == 12
    version = said[3]["version"]
    refused, = [c for c in said[2]["candidates"] if "cudart.so.13" in c["path"]]
    assert f"{version // 1000}.{version % 1000 // 10}" in refused["reason"]
