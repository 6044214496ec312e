# SPDX-License-Identifier: MIT
"""`lazycuda retarget` of files and wheels that need the driver's libraries."""
import pytest

import build
import elf
import wheel_files
from importer import SONAMES, check_loads, importer, needing, patch, real

driver_libraries = pytest.mark.parametrize("library", build.DRIVER)
NAMES = {"cuda": ("cuInit", "cuCtxCreate_v2"), "nvml": ("nvmlInit_v2", "nvmlShutdown")}
WITNESSES = {"cuda": "cuDriverGetVersion", "nvml": "nvmlSystemGetNVMLVersion"}


@pytest.fixture
def both(tmp_path):
    """A module that needs both of the driver's libraries, and the runtime."""
    links = [real(tmp_path, SONAMES[library], *NAMES[library]) for library in build.DRIVER]
    links.append(real(tmp_path, "libcudart.so.12", "cudaMalloc", node="libcudart.so.12"))
    return importer(tmp_path, "cudaMalloc", *NAMES["cuda"], *NAMES["nvml"], link=links)


@driver_libraries
@pytest.mark.parametrize("renamed", [False, True])
def test_the_need_is_replaced(retarget, tmp_path, library, renamed):
    soname = SONAMES[library]
    if renamed:         # as auditwheel does
        soname = soname.replace(".so.1", "-1a2b3c4d.so.535.54.03")
    said, = retarget(needing(tmp_path, library, *NAMES[library], soname=soname)).files
    assert said["outcome"] == "retargeted" and said["loaded"] is True and said["notes"] == []
    assert said["replaced"] == [{"library": library, "needed": soname,
                                 "stub": build.stub_name(library), "imports": 2, "first": False}]
    made = retarget.out / "module.so"
    assert elf.dynamic(made)["NEEDED"] == [build.stub_name(library), "libc.so.6"]
    assert {(s.name, s.node) for s in elf.imports(made)} >= {
        (name, None) for name in NAMES[library]}


def test_who_needs_such_a_name_keeps_the_library(retarget, tmp_path, both):
    bad = needing(tmp_path, "cuda", "cuOfTomorrow", name="bad.so")
    wheel = wheel_files.make(tmp_path, {"pkg/good.so": both, "pkg/bad.so": bad})
    said, = retarget(wheel).wheels
    left, = [each for each in said["libraries"] if each["outcome"] == "left"]
    assert (left["library"], left["files"]) == ("cuda", ["pkg/bad.so"])
    assert left["reasons"][0].startswith("pkg/bad.so imports ")


@pytest.mark.parametrize("name, other", [
    ("cuFileRead", "libcufile.so.0"), ("cublasCreate_v2", "libcublas.so.12"),
    ("cuvidCreateDecoder", "libnvcuvid.so.1"), ("cu_helper", "libhelper.so")])
def test_a_name_of_another_library(retarget, tmp_path, name, other):
    links = [real(tmp_path, "libcuda.so.1", "cuInit"), real(tmp_path, other, name)]
    said, = retarget("--only=cuda", importer(tmp_path, "cuInit", name, link=links)).files
    assert said["replaced"][0]["imports"] == 1 and said["not_loaded"] == f"not here: {other}"


def test_a_wheel(retarget, tmp_path, both, world):
    said, = retarget(wheel_files.make(tmp_path, {"pkg/__init__.py": b"", "pkg/module.so": both})).wheels
    # A stub that had the driver's name would hide the driver, which ld.so finds last.
    assert said["added"] == ["pkg.libs/libcuda_stub.so", "pkg.libs/libcudart.so.12",
                             "pkg.libs/libnvidia-ml_stub.so"]
    made, = retarget.out.iterdir()
    check_loads(world, wheel_files.unpack(made, tmp_path / "site") / "pkg/module.so")
    assert retarget("--in-place", made).wheels[0]["outcome"] == "already"


@driver_libraries
def test_a_bundled_driver_is_removed(retarget, tmp_path, library):
    # It would be of another version than the kernel's part.
    soname = SONAMES[library].replace(".so.1", "-1a2b3c4d.so.535.54.03")
    copy = real(tmp_path, soname, *NAMES[library], WITNESSES[library])
    module = patch(importer(tmp_path, *NAMES[library], link=[copy]), "--force-rpath", "--set-rpath",
                   "$ORIGIN/../pkg.libs")
    wheel = wheel_files.make(tmp_path, {"pkg/module.so": module, f"pkg.libs/{soname}": copy})
    assert retarget(wheel).wheels[0]["removed"] == [f"pkg.libs/{soname}"]


def test_what_has_only_the_drivers_name_stays(retarget, tmp_path):
    other = real(tmp_path, "libcuda-1a2b3c4d.so.1", "cuHelp")
    module = importer(tmp_path, "cuHelp", link=[other])
    wheel = wheel_files.make(tmp_path, {"pkg/module.so": module, f"pkg.libs/{other.name}": other})
    assert retarget(wheel).wheels[0]["removed"] == []
