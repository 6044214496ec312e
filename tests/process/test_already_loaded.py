# SPDX-License-Identifier: MIT
"""A real library that is in the process already is used, under any name."""
import shutil

import pytest

from fakes import answer, driver, fake, nvml
from importer import importer

CALL = "cudaDeviceSynchronize"


def loaded_first(world, file, mode="open", library="cudart"):
    return world.probe(f"{mode}:{file}", f"stub:{library}", "load", f"status:{library}")[-1]


@pytest.mark.parametrize("mode", ["open", "global"])
@pytest.mark.parametrize("version", ["11.8", "12.9"])
def test_it_is_used(installed, version, mode):
    file = installed.put("other", fake("cudart", version)) / fake("cudart", version).name
    status = loaded_first(installed, file, mode)
    assert (status["state"], status["version"], status["found_by"], status["path"]) == (
        "usable", version, "process", str(file))


@pytest.mark.parametrize("version, name", [
    ("12.6", "libcudart-09529672.so.12.6.77"), ("11.8", "libcudart.782fcab0.so.11.0")])
def test_it_is_known_when_auditwheel_has_renamed_it(installed, patchelf, version, name):
    # The version node keeps its real name.
    file = installed.folder("wheel") / name
    shutil.copy(fake("cudart", version), file)
    patchelf("--set-soname", name, file)
    status = loaded_first(installed, file)
    assert (status["state"], status["version"], status["found_by"]) == ("usable", version, "process")


def test_even_a_stub_alone_follows_a_real_library_of_another_kind(installed):
    installed.loader(fake("nvrtc", "12.9"))
    file = installed.put("other", fake("cudart", "12.9")) / "libcudart.so.12"
    said = installed.probe(f"open:{file}", "stub:nvrtc", "stub:cudart", "load:nvrtc",
                           "status:nvrtc")
    assert said[-1]["major"] == 12


def test_two_majors_side_by_side(world):
    # The two have separate state, so the stub uses one of them for all callers.
    files = [world.put(v, fake("cudart", v)) / fake("cudart", v).name for v in ("11.8", "13.5")]
    world.record()
    said = world.probe(*[f"open:{file}" for file in files], "stub:cudart",
                       f"call:{CALL}@libcudart.so.11.0", f"call:{CALL}@libcudart.so.12",
                       f"call:{CALL}@libcudart.so.13", "status:cudart")
    chosen = said[-1]["version"]
    assert chosen in ("11.8", "13.5")
    assert {line["value"] for line in said[-4:-1]} == {answer("cudart", CALL, chosen)}
    assert {version for _, version, name, _, _ in world.log() if name == CALL} == {chosen}


def several(world, *versions, libraries=("cudart",), modules=(), **options):
    """The statuses of the stubs where these versions are in the process, in this order."""
    files = [world.put(version, fake(library, version)) / fake(library, version).name
             for version in versions for library in libraries]
    said = world.probe(*[f"open:{file}" for file in files],
                       *[f"stub:{library}" for library in libraries],
                       *[f"open:{module}" for module in modules], "load",
                       *[f"status:{library}" for library in libraries], **options)
    return said[-len(libraries):]


@pytest.mark.parametrize("order", [("12.9", "13.5"), ("13.5", "12.9")])
@pytest.mark.parametrize("driver_version, branch, chosen", [
    (None, None, "13.5"), ("12.4", "550.54", "12.9"),
    # It runs neither: whoever loaded them has decided.
    ("11.8", "520.61", "13.5")])
def test_of_several_it_is_what_the_driver_runs(world, driver_version, branch, chosen, order):
    if driver_version:
        world.loader(driver(driver_version), nvml(branch), folder="driver")
    status, = several(world, *order)
    assert (status["version"], status["reason"]) == (chosen, "already loaded in this process")
    other = [candidate for candidate in status["candidates"] if not candidate["taken"]]
    assert len(other) == 1
    if (driver_version, chosen) == ("12.4", "12.9"):
        assert "supports CUDA 12.4 and cannot run CUDA 13" in other[0]["reason"]


def test_of_several_it_is_what_refuses_no_import(world):
    module = importer(world.folder("modules"), "cudaLaunchCooperativeKernelMultiDevice")
    status, = several(world, "12.9", "13.5", modules=[module])
    assert status["version"] == "12.9"
    refuser = status["candidates"][1]
    assert refuser["version"].startswith("13") and refuser["reason"].startswith("it would refuse cudaL")
    status, = several(world, "12.9", "13.5", modules=[module], LAZYCUDA_GUARD="off")
    assert status["version"] == "13.5"


def test_lazycuda_load_looks_again_too(world):
    file = world.put("torch", fake("cudart", "12.9")) / "libcudart.so.12"
    said = world.probe("stub:cudart", "load", f"open:{file}", "load", "load", "status:cudart")
    assert [said[i]["load"] for i in (1, 3, 4)] == [1, 0, 0]
    assert said[5]["version"] == "12.9"
