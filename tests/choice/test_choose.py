# SPDX-License-Identifier: MIT
"""The choice is a function of what it is given: tables of inputs, and what it says of each."""
import itertools
import pathlib
import subprocess

import pytest

import build

HERE = pathlib.Path(__file__).resolve().parent
ROOM = build.ROOT / "stubs"
# That choice.c needs nothing else is a part of the claim.
SOURCES = [ROOM / "loader" / "choice.c", ROOM / "base" / "arena.c", ROOM / "base" / "cuda_version.c",
           ROOM / "base" / "printable.c"]

NAMED, LOADED, FOUND = range(3)                 # enum lc_origin
HIGHEST = "the highest major that was found for every stub that found any"
RUNS = f"{HIGHEST}, and that the driver runs"
SAME = "another one of this major comes before it"


def option(origin, major, version=0, refuses=0, unusable=""):
    return origin, major, version, refuses, unusable


def found(*majors):
    return [option(FOUND, major) for major in majors]


def choose(seats, own=None, guard="best_effort", major=0, driver=0, branch=0, agreed=0, loaded=()):
    """((option, refusal, reason, what it needs of the driver), [reason of each option])"""
    own = own or next(iter(seats))
    lines = [("at", guard, major, driver, branch, agreed, list(seats).index(own))]
    for library, options in seats.items():
        lines.append(("seat", library, dict(loaded).get(library, 0)))
        lines += [("option", *row) for row in options]
    program = build.program(HERE / "choose.c", *SOURCES, "-D_GNU_SOURCE", "-I", ROOM, name="choose")
    done = subprocess.run([program], input="".join(
        "\t".join(map(str, line)) + "\n" for line in [*lines, ("choose",)]),
        capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    first, *reasons = done.stdout.splitlines()
    taken, *said = first.split("\t")
    assert len(reasons) == len(seats[own])
    return (int(taken), *said), reasons


@pytest.mark.parametrize("circumstances, choice, reasons", [
    # The highest major, and the first file of it.
    (dict(), (1, "taken", HIGHEST), ["CUDA 13 was chosen", HIGHEST, SAME]),
    (dict(guard="off"), (1, "taken", "the highest major found (LAZYCUDA_GUARD=off)"), None),
    (dict(major=12), (0, "taken", HIGHEST),
     [HIGHEST, *["LAZYCUDA_MAJOR=12 asks for another major"] * 2]),
    (dict(major=11), (-1, "missing", ""), ["LAZYCUDA_MAJOR=11 asks for another major"] * 3),
    (dict(agreed=12), (0, "taken", "CUDA 12 is in use in this process"),
     ["CUDA 12 is in use in this process", *["CUDA 12 was chosen"] * 2]),
    (dict(agreed=11), (1, "taken", "the process uses CUDA 11, for which there is none;"
                       " this one can be used beside it"), None),
    (dict(agreed=11, guard="strict"), (-1, "incoherent", "the process uses CUDA 11, and"
                                       " LAZYCUDA_GUARD=strict mixes no majors"),
     ["the process uses CUDA 11, and LAZYCUDA_GUARD=strict mixes no majors"] * 3),
    # What the driver runs.
    (dict(driver=1300, branch=580), (1, "taken", RUNS), None),
    (dict(driver=1209), (0, "taken", RUNS),
     [RUNS, *["the installed driver supports CUDA 12.9 and cannot run CUDA 13"] * 2]),
    (dict(driver=1104), (-1, "driver", ""), [
        f"the installed driver supports CUDA 11.4 and cannot run CUDA {n}" for n in (12, 13, 13)]),
    (dict(driver=1104, guard="off"), (1, "taken", "the highest major found (LAZYCUDA_GUARD=off)"),
     None),
    (dict(driver=1300, branch=570), (0, "taken", RUNS), [
        RUNS, *["the driver supports CUDA 13.0, and display driver 570 is older than 580,"
                " which later CUDA 13 needs"] * 2]),
    (dict(driver=1300, guard="strict"), (0, "taken", RUNS), [
        RUNS, *["the driver supports CUDA 13.0, its display driver's version is unknown, and"
                " LAZYCUDA_GUARD=strict takes no chances"] * 2]),
])
def test_circumstances(circumstances, choice, reasons):
    said, why = choose({"cudart": found(12, 13, 13)}, **circumstances)
    assert said[:3] == choice
    if reasons:
        assert why == reasons


REFUSES = "it would refuse cudaThis, which /app.so imports"


@pytest.mark.parametrize("options, choice, reasons", [
    ([], (-1, "missing", ""), []),
    ([option(FOUND, 13, unusable="is damaged"), *found(12)], (1, "taken", HIGHEST),
     ["is damaged", HIGHEST]),
    # What is in the process comes before a file, what is named before both.
    ([option(LOADED, 11), *found(13)], (0, "taken", "already loaded in this process"),
     ["already loaded in this process", "CUDA 11 was chosen"]),
    ([option(NAMED, 11), option(LOADED, 12)], (0, "taken", "named by the environment"),
     ["named by the environment", "CUDA 11 was chosen"]),
    ([option(NAMED, 0, unusable="is damaged"), *found(12)], (-1, "missing", "is damaged"),
     ["is damaged", "was not considered"]),
    # A lower major that serves every import.
    ([option(FOUND, 13, refuses=1), *found(12)],
     (1, "taken", f"CUDA 13 was passed over: {REFUSES}"), [
         REFUSES, f"CUDA 13 was passed over: {REFUSES}"]),
    ([option(FOUND, 13, refuses=3), option(FOUND, 12, refuses=1)], (0, "taken", HIGHEST),
     [HIGHEST, "CUDA 13 was chosen"]),
])
def test_options(options, choice, reasons):
    said, why = choose({"cudart": options})
    assert (said[:3], why) == (choice, reasons)


@pytest.mark.parametrize("seats, majors", [
    (dict(cudart=(13, 12), nvrtc=(13, 12), nvJitLink=(12,)), (12, 12, 12)),
    (dict(cudart=(13, 12), nvrtc=(13,), nvJitLink=()), (13, 13, None)),
    # No common major: a newer nvJitLink reads what an older nvrtc writes, and not the reverse.
    (dict(nvrtc=(12,), nvJitLink=(13,)), (12, 13)),
    (dict(cudart=(12,), nvrtc=(13,), nvJitLink=(12,)), (12, 13, 12)),
])
def test_every_seat_comes_to_the_same_choice_in_any_order(seats, majors):
    expected = dict(zip(seats, majors))
    for order in itertools.permutations(seats):
        given = {library: found(*seats[library]) for library in order}
        taken = {own: choose(given, own)[0][0] for own in order}
        assert {own: None if taken[own] < 0 else seats[own][taken[own]]
                for own in order} == expected, order


@pytest.mark.parametrize("own, other, other_major, options, refused", [
    ("nvJitLink", "nvrtc", 13, (12,), "nvJitLink 12 would read what nvrtc 13 writes"),
    ("nvrtc", "nvJitLink", 12, (13,), "nvJitLink 12 would read what nvrtc 13 writes"),
    ("nvJitLink", "nvrtc", 12, (13,), None),
    ("cudart", "nvrtc", 13, (12,), None),
])
def test_beside_a_library_that_is_loaded(own, other, other_major, options, refused):
    said, why = choose({own: found(*options), other: []}, own, agreed=other_major,
                       loaded={other: 100 * other_major})
    if refused:
        assert said[:2] == (-1, "incoherent")
        assert said[2] == why[0] == f"{refused}, and must not be older"
    else:
        assert said[:2] == (0, "taken")


def test_a_loaded_library_that_clashes_says_so_where_another_is_taken():
    said, why = choose({"nvJitLink": [option(LOADED, 12), *found(13)], "nvrtc": []}, agreed=13,
                       loaded={"nvrtc": 1300})
    assert said[:3] == (1, "taken", "CUDA 13 is in use in this process")
    assert why == ["nvJitLink 12 would read what nvrtc 13 writes, and must not be older", said[2]]


def test_a_library_without_majors_or_with_its_own():
    loaded, highest = "already loaded in this process", "the highest major found"
    assert choose({"cuda": [option(FOUND, 0), option(LOADED, 0)]}) == (
        (1, "taken", loaded, "00"), ["another one comes before it", loaded])
    assert choose({"cudnn": found(11, 13)}) == (
        (1, "taken", highest, "00"), ["major 13 was chosen", highest])


@pytest.mark.parametrize("options, circumstances, needs", [
    (found(13), dict(), "10"),
    (found(13), dict(guard="off"), "00"),
    (found(13), dict(driver=1300), "11"),
    ([option(FOUND, 13, 1300)], dict(driver=1300), "10"),
    ([option(FOUND, 13, unusable="is damaged")], dict(driver=1300), "00"),
    ([option(NAMED, 13)], dict(driver=1300), "00"),
    ([option(LOADED, 13)], dict(driver=1300), "00"),
    ([option(LOADED, 13), option(LOADED, 12)], dict(driver=1300), "11"),
])
def test_whether_the_driver_matters(options, circumstances, needs):
    assert choose({"cudart": options}, **circumstances)[0][3] == needs
