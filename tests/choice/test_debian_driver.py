# SPDX-License-Identifier: MIT
"""Debian's real libcuda1 (535: CUDA 12.2) on a machine without a GPU.

There runtimes 11 and 12 return 100 (no device) and 13 returns 35 (driver too
old): the highest would be the one runtime that cannot work.
.ci/run unpacks the package into build/libcuda1.
"""
import pytest


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


def install(world, *toolkits):
    for toolkit in toolkits:
        site = world.folder(f"cuda-{toolkit.version}")
        (site / "nvidia").symlink_to(toolkit.site / "nvidia")
        for file in toolkit.files():
            world.search(file.parent)


def test_the_major_that_works_is_chosen(debian, real):
    install(debian, real("11.8"), real("12.9"), real("13.5"))
    said = debian.probe("stub:cudart", "out:cudaGetDeviceCount@libcudart.so.12:4:0",
                        "status:cudart", "driver")
    assert said[1]["value"] == 100      # no device: a driver that answers
    assert said[2]["major"] == 12
    version = said[3]["version"]
    refused, = [c for c in said[2]["candidates"] if "cudart.so.13" in c["path"]]
    assert f"{version // 1000}.{version % 1000 // 10}" in refused["reason"]
