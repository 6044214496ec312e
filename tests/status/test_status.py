# SPDX-License-Identifier: MIT
"""`lazycuda status`: what each stub would use, and why."""
import json

import build
from fakes import DAMAGES, driver, fake, nvml

STATES = {"usable", "missing", "refused", "broken", "hidden"}


def status(world, expected=None, **options):
    said = world.cli("status", "--json", check=False, **options)
    assert said.err == ""
    assert expected is None or said.status == expected, said.out
    return json.loads(said.out)


def library(said, name):
    return next(entry for entry in said["libraries"] if entry["name"] == name)


def of_cuda(said):
    """Those with majors; the driver's come behind them."""
    return said["libraries"][:len(build.LIBRARIES)]


def check_shape(said):
    """The contract of DESIGN.md: these keys, with these types."""
    assert said["guard"] in ("strict", "best_effort", "off")
    assert said["major"] in (None, 11, 12, 13)
    assert said["driver"] is None or {"version", "branch"} <= set(said["driver"])
    assert [entry["name"] for entry in said["libraries"]] == list(build.STUBBED)
    for entry in said["libraries"]:
        assert entry["state"] in STATES
        assert (entry["path"] is not None) == (entry["state"] == "usable")
        assert (entry["version"] is not None) == (entry["state"] == "usable")
        assert {"path", "version", "found_by", "reason", "candidates"} <= set(entry)
        assert entry["reason"]
        for candidate in entry["candidates"]:
            assert {"path", "version", "taken", "reason"} <= set(candidate)
            assert candidate["path"].startswith("/") and candidate["reason"]
            assert isinstance(candidate["taken"], bool)
        assert sum(c["taken"] for c in entry["candidates"]) == (entry["state"] == "usable")


def install(world, *versions):
    for version in versions:
        for name in build.LIBRARIES:
            if (name, version[:2]) != ("nvJitLink", "11"):
                world.loader(fake(name, version), folder=f"cuda-{version}")
    return world


def test_where_all_is_well(world):
    install(world, "11.8", "12.9", "13.5")
    world.loader(driver("12.2"), nvml("535.104.05"), folder="driver")
    said = status(world, 0)
    check_shape(said)
    assert said["guard"] == "best_effort"
    assert said["major"] == 12
    assert said["driver"] == {"version": "12.2", "branch": 535}
    for entry in of_cuda(said):
        assert (entry["state"], entry["version"], entry["found_by"]) == ("usable", "12.9", "loader")
        refused = next(c for c in entry["candidates"] if ".so.13" in c["path"])
        assert ("12.2" in refused["reason"]) == (entry["name"] == "cudart")


def test_the_drivers_libraries(world):
    # They count if they are asked for: a machine may do without a driver.
    install(world, "12.9")
    said = status(world, 0)
    assert [entry["state"] for entry in said["libraries"]] == ["usable"] * 3 + ["missing"] * 2
    assert world.cli("status", "cuda", check=False).status == 1
    world.loader(driver("12.9"), nvml("575.51.03"), folder="driver")
    said = status(world, 0)
    assert [(library(said, name)["version"], library(said, name)["found_by"])
            for name in build.DRIVER] == [("12.9", "loader"), ("12.0", "loader")]
    assert said["driver"] == {"version": "12.9", "branch": 575}
    assert world.cli("status", "nvml", "cuda").status == 0


def test_where_something_is_broken(world):
    folder = world.loader(folder="bad")
    DAMAGES[0](folder / "libcudart.so.13", fake("cudart", "13.5"))
    said = status(world, 1)
    check_shape(said)
    assert library(said, "cudart")["state"] == "broken"
    candidate, = library(said, "cudart")["candidates"]
    assert candidate["path"] == str(folder / "libcudart.so.13")


def test_odd_paths_are_valid_json(world):
    odd = 'a "quoted\\ folder\n\twith é and \x01'
    world.loader(fake("cudart", "12.9"), folder=odd)
    said = status(world)
    assert library(said, "cudart")["path"].endswith("/libcudart.so.12")


def test_it_says_what_the_stubs_say(world):
    install(world, "12.9", "13.5")
    world.loader(driver("12.2"), folder="driver")
    said = status(world, 0)
    stubs = world.statuses(*build.LIBRARIES)
    for name, entry in stubs.items():
        mine = library(said, name)
        assert [mine[key] for key in ("state", "path", "version", "found_by")] == [
            entry[key] for key in ("state", "path", "version", "found_by")]
        assert [c["path"] for c in mine["candidates"]] == [c["path"] for c in entry["candidates"]]
