# SPDX-License-Identifier: MIT
"""`lazycuda retarget` of an install whose stubs have numbers, as a distribution's have:
libcudart_stub.so.3, and a link for builds that may not be there."""
import json
import os
import shutil

import pytest

import elf
import installed
import wheel_files
from importer import check_loads

STUB = "libcudart_stub.so.3"


@pytest.fixture(scope="module", params=["with links", "without links"])
def numbered(request, tmp_path_factory):
    tree = installed.numbered(tmp_path_factory.mktemp("numbered"), lib="lib/x86_64-linux-gnu")
    if request.param == "without links":
        for link in tree.libdir.glob("*.so"):
            assert link.is_symlink()
            link.unlink()
    return tree


@pytest.fixture
def retargeted(numbered, world, patchelf, tmp_path):
    """retargeted(file, ...) is what is said of it; the result is in world.root/out."""
    def run(*words):
        world.folder("out")
        done = world.run(shutil.which("env"), f"PATH={os.environ['PATH']}",
                         numbered.prefix / "bin" / "lazycuda", "retarget", "--json", "-o", "out",
                         *words)
        return json.loads(done.out)
    return run


def test_a_file_needs_the_stub_by_its_soname_as_it_is_called_beside_it(retargeted, plain, world):
    said, = retargeted("--bundle", plain)["files"]
    assert said["loaded"] is True and said["replaced"][0]["stub"] == STUB and said["added"] == [STUB]
    made = world.root / "out" / "module.so"
    assert elf.dynamic(made)["NEEDED"][0] == STUB and not (world.root / "out" / STUB).is_symlink()
    check_loads(world, made)


def test_a_stub_in_a_wheel_has_the_real_name(retargeted, plain, world, tmp_path):
    """Without a compat folder it is a copy of the stub that is there."""
    wheel = wheel_files.make(tmp_path, {"pkg/__init__.py": b"", "pkg/module.so": plain})
    said, = retargeted(wheel)["wheels"]
    assert said["added"] == ["pkg.libs/libcudart.so.12"] and said["files"][0]["loaded"] is True
    site = wheel_files.unpack(world.root / "out" / wheel.name, tmp_path / "site")
    assert elf.dynamic(site / "pkg.libs/libcudart.so.12")["SONAME"] == ["libcudart.so.12"]
    check_loads(world, site / "pkg/module.so")


def test_of_two_numbers_the_higher_one_counts(retargeted, plain, numbered, world):
    # While a system goes over from one to the other.
    stubs = world.put("stubs", *numbered.libdir.glob("*_stub.so.3"))
    for stub in list(stubs.iterdir()):
        stub.with_suffix(".10").write_bytes(stub.read_bytes().replace(b"_stub.so.3", b"_stub.so.9"))
    said, = retargeted("--stubs", stubs, plain)["files"]
    assert said["replaced"][0]["stub"] == "libcudart_stub.so.9"
