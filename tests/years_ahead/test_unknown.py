# SPDX-License-Identifier: MIT
"""Versions that the list does not know, met at run time: later majors and minors, older ones,
and drivers of any age.  docs/reference/states.md has what is said of them.
"""
import json

import pytest

import build
import fakes
import symbols
from fakes import answer, fake
from world import CALL, MISSING

NEWEST = max(build.MAJORS)
LATER = NEWEST + 1
LAST = symbols.read().toolkits[-1]


def unknown(library, major=LATER):
    """A library of a major that the list does not know."""
    return fake(library, LAST, own=f"lib{library}.so.{major}")


def reason(major=LATER):
    later = "; a later release may" if major > NEWEST else ""
    return f"is of CUDA {major}, which this lazycuda does not know{later}"


def place(world, *files, version=f"{LATER}.0"):
    world.system(f"/usr/local/cuda-{version}/lib64", *files)
    return f"/usr/local/cuda-{version}/lib64"


# ---- a later major ----


def test_majors_that_are_years_ahead(world):
    for major in range(NEWEST + 1, NEWEST + 6):
        place(world, unknown("cudart", major), version=f"{major}.0")
    status = world.status("cudart")
    # One after the newest, and three more.
    assert [c["version"] for c in status["candidates"]] == [str(NEWEST + n) for n in range(1, 5)]


def test_a_later_major_under_a_known_name(world):
    """Somebody made libcudart.so.13 a link to libcudart.so.14."""
    folder = world.put("named", unknown("cudart"))
    (folder / f"libcudart.so.{LATER}").rename(folder / f"libcudart.so.{NEWEST}")
    world.bind(folder, f"/usr/local/cuda-{LAST}/lib64")
    assert [c["reason"] for c in world.status("cudart")["candidates"]] == [reason()]


def test_the_variable_names_a_later_major(world):
    folder = place(world, unknown("cudart"))
    place(world, fake("cudart", LAST), version=LAST)
    status = world.status("cudart", LAZYCUDA_CUDART=f"{folder}/libcudart.so.{LATER}")
    assert (status["state"], status["cause"]) == ("broken", 1)
    assert f"LAZYCUDA_CUDART names a file that {reason()}" in status["reason"]


def test_a_later_major_does_not_end_the_search(world):
    """What the dynamic loader alone can find is found beside it."""
    place(world, unknown("cudart"))
    own = fakes.soname("cudart", LAST)
    hidden = world.put("hidden", fake("cudart", LAST)) / own
    status = world.status("cudart", SONAME=own, HIDDEN=hidden, LD_AUDIT=build.shared(
        build.TESTS / "lib" / "knows_more.c"))
    assert (status["state"], status["path"]) == ("usable", str(hidden))


# ---- a later major in the process ----


def test_a_known_major_is_used_beside_one_in_the_process(world):
    path = world.put("torch", unknown("cudart")) / f"libcudart.so.{LATER}"
    place(world, fake("cudart", LAST), version=LAST)
    name = CALL["cudart"]
    *_, call, status = world.probe(f"global:{path}", "stub:cudart", f"call:{name}",
                                   "status:cudart")
    assert call["value"] == answer("cudart", name, LAST)
    assert status["version"] == LAST
    assert [c["reason"] for c in status["candidates"] if not c["taken"]] == [reason()]


def test_nvrtc_of_a_known_major_beside_a_runtime_of_a_later_one(world):
    place(world, unknown("cudart"), unknown("nvrtc"), unknown("nvJitLink"))
    place(world, fake("nvrtc", LAST), fake("nvJitLink", LAST), version=LAST)
    said = world.statuses(*build.LIBRARIES)
    assert {name: status["state"] for name, status in said.items()} == {
        "cudart": "broken", "nvrtc": "usable", "nvJitLink": "usable"}


# ---- a later minor ----

def later_minor(library, **options):
    """13.9, say, which lacks a name that it should have and has one that nobody knows."""
    names = set(fakes.exports(library, LAST))
    return fake(library, f"{NEWEST}.9", names=names - set(options.pop("without", ())), **options)


def newest(major):
    return [v for v in symbols.read().toolkits if v.startswith(f"{major}.")][-1]


@pytest.mark.parametrize("version", ["11.9", "12.10"])
def test_a_later_minor_of_an_older_major_is_as_its_newest(world, version):
    """Names that ended with 12.9 are in 12.10 with the interfaces that they had."""
    major = version.partition(".")[0]
    world.loader(fake("cudart", version))
    node = fakes.soname("cudart", version)
    call, status = world.probe("stub:cudart", f"call:cudaMemAdvise@{node}", "status:cudart")[1:]
    assert call["value"] == answer("cudart", "cudaMemAdvise", version)
    assert status["version"] == (newest(major) if major == "11" else version)


@pytest.mark.parametrize("library, says", [
    ("cudart", "1.0"), ("nvrtc", f"{NEWEST}.100"), ("nvJitLink", "1073741824.1073741824")])
def test_a_version_that_cannot_be(world, library, says):
    """What a library says of itself is believed only if it is of its major."""
    own = fakes.soname(library, LAST)
    made = fake(library, says, names=fakes.exports(library, LAST), own=own)
    status = world.status(library, **{f"LAZYCUDA_{library.upper()}": world.put("odd", made) / own})
    assert status["state"] == "usable"
    # Else its names tell; not each minor has a new one.
    assert status["major"] == NEWEST and status["version"] in symbols.read().toolkits


# ---- an older minor ----

@pytest.mark.parametrize("library", ["cudart", "nvrtc"])
def test_a_minor_older_than_the_list(world, library):
    """11.2 counts as the oldest that the list knows; what it lacks is absent."""
    gone = "cudaGraphInstantiateWithFlags" if library == "cudart" else "nvrtcGetNVVM"
    name = CALL[library]
    world.loader(fake(library, "11.2", without=[gone]))
    said, call, error, status = world.probe(f"stub:{library}", f"call:{name}", f"call:{gone}",
                                            f"error:{library}", f"status:{library}")[1:]
    assert said["value"] == answer(library, name, "11.2")
    assert (call["value"], error["cause"]) == (302 if library == "cudart" else 11, 2)
    assert status["version"] == ("11.7" if library == "cudart" else "11.2")


def test_a_major_older_than_the_list(world):
    """It is not looked for; named by the variable, it is told of."""
    name = "libcudart.so.10.2"
    folder = place(world, fake("cudart", "11.8", own=name), version="10.2")
    assert world.status("cudart")["candidates"] == []
    assert reason(10) in world.status("cudart", LAZYCUDA_CUDART=f"{folder}/{name}")["reason"]


@pytest.mark.parametrize("says", [0, -2147483648])
def test_a_driver_that_says_no_version(world, says):
    world.loader(fakes.driver_saying(says), folder="driver")
    place(world, fake("cudart", LAST), version=LAST)
    assert world.status("cudart")["version"] == LAST


# ---- plans ----

CODE = build.TESTS / "fuzz" / "corpus" / "inspect"


def plan(world, *words, check=False):
    return json.loads(world.cli("plan", "--json", *words, check=check).out)


@pytest.mark.parametrize("version", [f"{NEWEST}.9", f"{LATER}.0"])
def test_a_plan_with_later_tools_follows_the_rules(world, version):
    """PTX and cubins are read by whatever is newer; LTO-IR within its major alone."""
    tools = ("--driver", "none", "--nvrtc", version, "--nvjitlink", version)
    ptx = world.root / "kernel.ptx"
    ptx.write_text(".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n")
    said = plan(world, *tools, "--arch", "sm_90", ptx, check=True)
    assert said["decision"] == "nvjitlink"
    assert plan(world, *tools, "--arch", "sm_80", CODE / "cubin", check=True)["decision"] == (
        "nvjitlink")
    crossed = plan(world, *tools, "--arch", "sm_80", "--lto", CODE / "ltoir")
    assert (crossed["decision"], crossed["code"]) == ("refused", "LTOIR_CROSS_MAJOR")
    # An architecture that the table has not is taken to be known to what is newer than it.
    assert plan(world, *tools, "--arch", "sm_140", ptx, check=True)["decision"] == "nvjitlink"


@pytest.mark.parametrize("version", [f"{NEWEST}.9", f"{LATER}.0"])
def test_a_link_by_a_later_nvjitlink(world, version):
    """Of the major that is known it is used; a later major is refused, and told of."""
    major = int(version.partition(".")[0])
    made = later_minor("nvJitLink") if major == NEWEST else unknown("nvJitLink")
    place(world, made, version=version)
    done = world.cli("link", "--json", "-o", world.root / "out", "--arch", "sm_80",
                     CODE / "cubin", check=False)
    said = json.loads(done.out)
    if major == NEWEST:
        # As far as a fake can: what counts is that it was asked.
        assert (said["decision"], said["backend_call"]) == ("nvjitlink", "nvJitLinkCreate")
        assert said["environment"]["nvjitlink"] == version
    else:
        assert (said["decision"], said["code"]) == ("refused", "NO_BACKEND")
        assert reason() in said["message"]
    assert not (world.root / "out").exists()


# ---- NVRTC of CUDA 11.0 and 11.1, before its SONAME became libnvrtc.so.11.2 ----

WHY_OLDER = ("is libnvrtc.so.11.1, and of CUDA 11 this lazycuda knows 11.7 and later, which have"
             " libnvrtc.so.11.2")


def older():
    return fake("nvrtc", "11.8", own="libnvrtc.so.11.1")


def test_an_older_nvrtc_alone_is_told_of(world):
    folder = place(world, older(), version="11.1")
    said, error, status = world.probe("stub:nvrtc", f"call:{CALL['nvrtc']}", "error:nvrtc",
                                      "status:nvrtc")[1:]
    assert (said["value"], error["cause"]) == (MISSING["nvrtc"], 1)
    assert f"{folder}/libnvrtc.so.11.1: {WHY_OLDER}" in error["message"]
    assert [(c["path"], c["version"], c["reason"]) for c in status["candidates"]] == [
        (f"{folder}/libnvrtc.so.11.1", None, WHY_OLDER)]


def test_beside_one_that_can_be_used_it_is_not_looked_for(world):
    place(world, older(), version="11.1")
    place(world, fake("nvrtc", "11.8"), version="11.8")
    status = world.status("nvrtc")
    assert status["version"] == "11.8" and len(status["candidates"]) == 1
