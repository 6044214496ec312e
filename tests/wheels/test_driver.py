# SPDX-License-Identifier: MIT
"""auditwheel and a module that needs the driver: with its stub the wheel holds all it needs."""
import re
import subprocess
import sys

import pytest

import build
import elf
import package
import wheel_files
from importer import importer, real

NAMES = {"cuda": "cuInit", "nvml": "nvmlInit_v2"}
SONAMES = {"cuda": "libcuda.so.1", "nvml": "libnvidia-ml.so.1"}
TAGS = f"py3-none-linux_{build.ARCH}"


@pytest.fixture(autouse=True)
def needs_auditwheel(patchelf):
    package.need("auditwheel")


def wheel_of(tmp_path, module):
    return wheel_files.make(tmp_path, {"pkg/__init__.py": b"", "pkg/module.so": module}, tags=TAGS)


@pytest.mark.parametrize("library", build.DRIVER)
def test_the_stub_is_taken_in_and_finds_the_driver(tmp_path, world, debian, library):
    module = importer(tmp_path, NAMES[library], link=[build.stub(library)])
    made = package.repair(wheel_of(tmp_path, module), tmp_path / "repaired", search=build.STUBS)
    site = wheel_files.unpack(made, tmp_path / "site")
    stub, = (site / "pkg.libs").iterdir()
    assert re.fullmatch(build.stub_name(library).replace(".so", r"-[0-9a-f]{8}\.so"), stub.name)
    assert stub.name in elf.dynamic(site / "pkg/module.so")["NEEDED"]
    commands = f"open:{site / 'pkg/module.so'}", f"open:{stub}", f"call:{NAMES[library]}"
    said = world.probe(*commands)
    assert said[0]["error"] is None and said[2]["value"] == {"cuda": 34, "nvml": 12}[library]
    (world.folder("driver") / SONAMES[library]).symlink_to(debian(library))
    world.search(world.root / "driver")
    assert world.probe(*commands)[2]["value"] == {"cuda": 100, "nvml": 9}[library]


def test_without_it_auditwheel_has_to_be_told(tmp_path):
    module = importer(tmp_path, "cuInit", link=[real(tmp_path, "libcuda.so.1", "cuInit")])
    done = subprocess.run([sys.executable, "-m", "auditwheel", "repair", "-w", tmp_path / "out",
                           wheel_of(tmp_path, module)], capture_output=True, text=True)
    assert done.returncode != 0 and "libcuda.so.1" in done.stderr
