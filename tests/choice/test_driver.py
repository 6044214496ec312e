# SPDX-License-Identifier: MIT
"""Of the majors that serve, one that the installed driver can run."""
import pytest

import build
from fakes import driver, fake, nvml

ALL = ("11.8", "12.9", "13.5")


def machine(world, driver_version, branch=None):
    for version in ALL:
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
    ("13.0", "580.65.06", "13.5"),  # older minor: minor-version compatible from 580
    ("12.9", "575.51.03", "12.9"),  # no driver of 12 runs 13
    ("12.2", None, "12.9"),         # nobody tells the branch: let it pass
    ("11.8", "520.61.05", "11.8"),
    # A newer libcuda in front of an old display driver (cuda-compat).
    ("12.4", "470.82.01", "11.8"),
])
def test_which_major(world, driver_version, branch, chosen):
    status = machine(world, driver_version, branch).status("cudart", "nvrtc")
    assert (status["state"], status["version"]) == ("usable", chosen), status["reason"]


def test_without_nvml_the_kernel_module_tells_the_branch(world):
    module = world.folder("module/nvidia")
    world.bind(module.parent, "/sys/module")
    machine(world, "12.2")
    (module / "version").write_text("520.61.05\n")
    assert world.status()["version"] == "11.8"
    (module / "version").write_text("535.104.05\n")
    assert world.status()["version"] == "12.9"


def test_a_driver_library_without_the_function_is_no_driver(world):
    machine(world, None)
    folder = world.loader(build.shared(build.TESTS / "lib" / "stranger.c", name="libcuda.so.1"),
                          folder="driver")
    assert (folder / "libcuda.so.1").exists()
    assert world.status()["version"] == "13.5"
