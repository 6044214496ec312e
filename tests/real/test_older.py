# SPDX-License-Identifier: MIT
"""What a real older runtime lacks, through the stub, answers as the real newer one does when it
is called directly: without a driver, and with a driver without a device."""
import pytest

import build

NODE = "libcudart.so.{}"


def lines(world, library, major, **options):
    return world.versioned("older", library, NODE.format(major), **options)


def compare(world, newer, older):
    """The status that all calls return."""
    directly = lines(world, newer.file("cudart"), newer.major)
    through = lines(world, build.stub("cudart"), newer.major, LAZYCUDA_CUDART=older.file("cudart"))
    assert len(directly) == 8
    assert through == directly
    statuses = {line.split()[1] for line in through}
    assert len(statuses) == 1
    return int(statuses.pop())


@pytest.mark.parametrize("older, newer", [("11.8", "12.9"), ("12.0", "13.5")])
def test_without_a_driver(world, real, newer, older):
    # cudaErrorInsufficientDriver
    assert compare(world, real(newer), real(older)) == 35


@pytest.mark.parametrize("older", ["11.8", "12.0"])
def test_with_a_driver_without_a_device(world, real, debian, older):
    driver = debian("cuda")
    folder = world.loader(driver, folder="driver")
    (folder / "libcuda.so.1").symlink_to(driver.name)
    # cudaErrorNoDevice
    assert compare(world, real("12.9"), real(older)) == 100
