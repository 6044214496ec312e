# SPDX-License-Identifier: MIT
"""How the driver's libraries are found: they have no majors, and come with the system."""
import re
import shutil

import pytest

import build
import fakes
from fakes import answer, driver, fake
from syscalls import system_calls
from world import CALL, MISSING, probe, variable

driver_libraries = pytest.mark.parametrize("library", build.DRIVER)
SONAMES = {"cuda": "libcuda.so.1", "nvml": "libnvidia-ml.so.1"}


@driver_libraries
@pytest.mark.parametrize("home", [f"/usr/lib/{build.ARCH}-linux-gnu", "/usr/lib64",
                                  "/usr/lib/wsl/lib", "/run/opengl-driver/lib"])
def test_the_drivers_homes(world, library, home):
    if home.startswith("/usr/lib/" + build.ARCH) or home == "/usr/lib64":
        world.system_file(home, fake(library, "12.9"))
    else:
        world.system(home, fake(library, "12.9"))
    status = world.status(library)
    assert status["state"] == "usable"
    # /lib may be /usr/lib.
    found, expected = (re.sub("^/usr", "", path) for path in (
        status["path"], f"{home}/{SONAMES[library]}"))
    assert found == expected


def known_to_the_loader_alone(world, file):
    """What makes it so."""
    hidden = world.put("hidden", file) / file.name
    return {"SONAME": file.name, "HIDDEN": hidden,
            "LD_AUDIT": build.shared(build.TESTS / "lib" / "knows_more.c")}


@driver_libraries
def test_what_the_loader_alone_can_find(world, library):
    status = world.status(library, **known_to_the_loader_alone(world, fake(library, "12.9")))
    assert (status["state"], status["found_by"]) == ("usable", "loader")


@pytest.mark.parametrize("auditor, asked", [("", False), ("/there/is/none.so", True)])
def test_ld_so_is_asked_where_an_auditor_may_know_more(world, auditor, asked):
    world.env["LD_AUDIT"] = auditor
    calls = system_calls(world, probe(world.cc), f"open:{build.stub('cudart')}", "load")
    assert bool(re.search(r'openat\(.*"[^"]*libcudart\.so\.1', calls)) == asked


def test_the_choice_is_for_a_driver_that_the_loader_alone_can_find(world):
    world.loader(fake("cudart", "13.5"))
    world.loader(fake("cudart", "12.9"))
    assert world.status("cudart")["version"] == "13.5"
    hidden = known_to_the_loader_alone(world, driver("12.9"))
    assert world.status("cudart", **hidden)["version"] == "12.9"


@driver_libraries
@pytest.mark.parametrize("place", ["/usr/local/cuda/lib64", "/usr/local/cuda/compat",
                                   "/usr/local/cuda-12.9/lib64", "/opt/cuda/lib64"])
def test_a_toolkit_has_no_driver(world, library, place):
    # cuda-compat is for the user to name: it works on some GPUs alone.
    world.system(place, fake(library, "12.9"))
    toolkit = place.rpartition("/")[0]
    assert world.status(library, CUDA_HOME=toolkit, LAZYCUDA_PATH=toolkit)["state"] == "missing"
    assert world.status(library, LD_LIBRARY_PATH=place)["state"] == "usable"
    assert world.status(library, **{variable(library): f"{place}/{SONAMES[library]}"})[
        "found_by"] == "override"


@driver_libraries
def test_what_is_loaded_already_is_used(world, library):
    world.loader(fake(library, "13.5"))
    loaded = world.put("elsewhere", fake(library, "12.9")) / SONAMES[library]
    *_, status = world.probe(f"open:{loaded}", f"stub:{library}", "load", f"status:{library}")
    assert (status["found_by"], status["path"]) == ("process", str(loaded))


@driver_libraries
def test_a_stand_in_for_linking_is_never_taken(world, library):
    # Alone, before a real one, named, and loaded already.
    stand_in = world.loader(fake(library, "12.9", broken=True), folder="stubs")
    *_, call, status = world.probe(f"stub:{library}", f"call:{CALL[library]}", f"status:{library}")
    assert call["value"] == MISSING[library]
    assert status["state"] == "broken" and "stand-in for linking" in status["reason"]
    status = world.status(library, **{variable(library): stand_in / SONAMES[library]})
    assert status["state"] == "broken"
    world.loader(fake(library, "12.4"), folder="real")
    assert world.status(library)["version"] == "12.4"
    *_, status = world.probe(f"open:{stand_in}/{SONAMES[library]}", f"stub:{library}", "load",
                             f"status:{library}")
    assert status["version"] == "12.4"


@driver_libraries
def test_a_stand_in_as_a_toolkit_has_it(world, library):
    # lib64/stubs/libcuda.so, whose SONAME is the driver's: found by nobody, named, loaded.
    folder = world.folder("cuda/lib64/stubs")
    stand_in = folder / SONAMES[library].removesuffix(".1")
    shutil.copy(fake(library, "12.9", broken=True), stand_in)
    assert world.status(library, LD_LIBRARY_PATH=folder)["state"] == "missing"
    status = world.status(library, **{variable(library): stand_in})
    assert status["state"] == "broken" and "stand-in for linking" in status["reason"]
    *_, call, status = world.probe(f"open:{stand_in}", f"stub:{library}", f"call:{CALL[library]}",
                                   f"status:{library}")
    assert call["value"] == MISSING[library] and status["path"] is None
    world.loader(fake(library, "12.4"), folder="real")
    said = world.probe(f"open:{stand_in}", f"stub:{library}", f"call:{CALL[library]}")
    assert said[2]["value"] == answer(library, CALL[library], "12.4")


@driver_libraries
@pytest.mark.parametrize("soname", [False, True])
def test_a_stub_under_the_real_name_is_not_taken(world, library, patchelf, soname):
    # It would call itself forever.
    folder = world.loader(folder="stub")
    shutil.copy(build.stub(library), folder / SONAMES[library])
    if soname:
        patchelf("--set-soname", SONAMES[library], folder / SONAMES[library])
    world.loader(fake(library, "12.9"), folder="real")
    status = world.status(library)
    assert status["path"] == f"{world.root}/real/{SONAMES[library]}"
    assert status["candidates"][0]["reason"] == "is a lazycuda stub itself"


@driver_libraries
def test_a_file_of_that_name_that_is_something_else(world, library):
    other = {"cuda": "nvml", "nvml": "cuda"}[library]
    shutil.copy(fake(other, "12.9"), world.loader() / SONAMES[library])
    shutil.copy(fake(library, "12.9", names=["something"]),
                world.loader(folder="second") / SONAMES[library])
    status = world.status(library)
    assert status["state"] == "broken"
    assert [c["reason"].startswith("is not this library") for c in status["candidates"]] == [
        True, True]


@driver_libraries
def test_majors_and_guards_have_nothing_to_do_with_it(world, library):
    world.loader(fake(library, "13.5"))
    assert world.status(library, LAZYCUDA_MAJOR="11", LAZYCUDA_GUARD="strict")["version"] == "13.5"


def test_it_takes_no_part_in_the_choice_of_a_major(world):
    # A driver for 13, a runtime of 12: neither binds the other.
    world.loader(fake("cuda", "13.5"), fake("nvml", "13.5"), fake("cudart", "12.9"))
    for order in (("cuda", "nvml", "cudart"), ("cudart", "nvml", "cuda")):
        said = world.statuses(*order, LAZYCUDA_GUARD="strict")
        assert {name: status["version"] for name, status in said.items()} == {
            "cuda": "13.5", "nvml": "13.5", "cudart": "12.9"}


def test_the_other_stubs_see_the_driver_that_its_stub_uses(world):
    # One way to it: what the variable names is what the guard goes by.
    world.loader(fake("cudart", "13.5"), fake("cudart", "12.9"), driver("13.5"))
    named = world.put("named", driver("12.4")) / "libcuda.so.1"
    said = world.probe("stub:cudart", "stub:cuda", "load", "status:cudart", "status:cuda", "driver",
                       LAZYCUDA_CUDA=named)
    assert said[-3]["major"] == 12
    assert (said[-2]["path"], said[-2]["version"]) == (str(named), "12.4")
    assert said[-1]["version"] == 12040


@pytest.mark.parametrize("home", ["/usr/lib/wsl/lib", "/run/opengl-driver/lib"])
def test_the_guard_finds_it_at_home_too(world, home):
    world.system(home, driver("12.4"))
    world.loader(fake("cudart", "13.5"), fake("cudart", "12.9"))
    assert world.status("cudart")["major"] == 12
