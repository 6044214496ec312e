# SPDX-License-Identifier: MIT
"""Wheels from PyPI that cannot be used without a driver: as they are published, and retargeted,
with none and with Debian's (535), which finds no device."""
import platform
import re

import pytest

import package
from driver_uses import DRIVER_USES
from published_steps import check_files, fetched, for_this_python, retargeted

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64",
                                reason="the wheels are for x86-64")
SONAMES = {"cuda": "libcuda.so.1", "nvml": "libnvidia-ml.so.1"}
# What is printed at last: the driver's libraries that the process has opened.
OPENED = r"""
import re
print("opened:", *sorted(set(re.findall(r"/(lib(?:cuda|nvidia-ml)\.so)[.\d]*$",
                                        open("/proc/self/maps").read(), re.M))))
"""


def run(world, python, use, outcome, patterns, **env):
    """What a process says that uses the wheel."""
    done = world.run(python, "-I", "-c", use.code + OPENED, check=False, **env)
    said = done.out + done.err
    # Some end the process where the driver refuses: none of a signal.
    assert done.status == use.status[outcome], f"status {done.status}\n{said}"
    for pattern in patterns:
        assert re.search(pattern, said, re.M), f"{pattern} is not in\n{said}"
    return next((line.split()[1:] for line in done.lines if line.startswith("opened:")), None)


def cuda_beside(world, toolkit):
    """LD_LIBRARY_PATH with all of CUDA but the driver."""
    return ":".join(str(file.parent) for file in toolkit.files()) + \
        ":" + world.env.get("LD_LIBRARY_PATH", "")


@pytest.mark.parametrize("use", DRIVER_USES, ids=lambda use: use.wheel)
def test_used_without_a_driver_and_with_one(use, retarget, tmp_path, world, real, debian):
    wheel, beside = fetched(use.wheel), [fetched(one) for one in use.beside]
    if not all(map(for_this_python, (wheel, *beside))):
        pytest.skip(f"{use.wheel} is for another Python")
    made, said = retargeted(retarget, wheel, *(f"--leave={name}" for name in use.leave))
    assert {change["library"] for file in said["files"] for change in file["replaced"]} >= {
        *use.libraries}
    python = package.environment(tmp_path / "venv", made, *beside)
    site = package.site_packages(python)
    files = [site / file["file"] for file in said["files"]]
    check_files(files, site, said, left=bool(use.leave))

    # As it is published, nothing but the driver being absent.
    published = package.environment(tmp_path / "published", wheel, *beside)
    run(world, published, use, 0, use.before,
        LD_LIBRARY_PATH=cuda_beside(world, real("13.5" if "-13" in use.wheel else "12.9")))
    assert run(world, python, use, 1, use.none) in ([], None)

    for library in use.libraries:
        (world.folder("driver") / SONAMES[library]).symlink_to(debian(library))
    world.search(world.root / "driver")
    opened = run(world, python, use, 2, use.debian)
    assert opened is None or "libcuda.so" in opened


@pytest.mark.parametrize("name", ["nixl==0.4.0"])
def test_what_puts_jumps_into_the_drivers_functions_has_to_have_the_driver(
        name, retarget, tmp_path, world, real, debian):
    """Why docs/reference/retarget.md says --leave: UCX finds no room in an entry of a stub."""
    use = next(use for use in DRIVER_USES if use.wheel == name)
    wheel, beside = fetched(use.wheel), [fetched(one) for one in use.beside]
    if not all(map(for_this_python, (wheel, *beside))):
        pytest.skip(f"{use.wheel} is for another Python")
    (world.folder("driver") / SONAMES["cuda"]).symlink_to(debian("cuda"))
    (world.root / "driver" / SONAMES["nvml"]).symlink_to(debian("nvml"))
    world.search(world.root / "driver")
    for leave, failed in ((), True), (use.leave, False):
        made, _ = retargeted(retarget, wheel, *(f"--leave={one}" for one in leave))
        python = package.environment(tmp_path / f"venv-{failed}", made, *beside)
        done = world.run(python, "-I", "-c", use.code,
                         LD_LIBRARY_PATH=cuda_beside(world, real("12.9")))
        assert ("failed to install bistro hook" in done.out + done.err) == failed
