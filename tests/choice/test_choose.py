# SPDX-License-Identifier: MIT
"""The choice is a function of what it is given: tables of inputs, and what it says of each."""
import itertools

import pytest

from choosing import FOUND, LOADED, NAMED, choose, found, candidate, used

HIGHEST = "the highest CUDA major that serves all stubs here"
RUNS = f"{HIGHEST}, and that the driver runs"
SAME = "another one of this major comes before it"


@pytest.mark.parametrize("circumstances, choice, reasons", [
    # The highest major, and the first file of it.
    (dict(), (1, "taken", HIGHEST), ["CUDA 13 was chosen", HIGHEST, SAME]),
    (dict(guard="off"), (1, "taken", "the highest major found (LAZYCUDA_GUARD=off)"), None),
    (dict(major=12), (0, "taken", HIGHEST),
     [HIGHEST, *["LAZYCUDA_MAJOR=12 asks for another major"] * 2]),
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
    (dict(driver=1104, guard="strict"), (-1, "driver", ""), [
        f"the installed driver supports CUDA 11.4 and cannot run CUDA {n}" for n in (12, 13, 13)]),
    (dict(driver=1300, branch=570), (0, "taken", RUNS), [
        RUNS, *["the driver supports CUDA 13.0, and display driver 570 is older than 580,"
                " which later CUDA 13 needs"] * 2]),
    (dict(driver=1300, guard="strict"), (0, "taken", RUNS), [
        RUNS, *["the driver supports CUDA 13.0, its display driver's version is unknown;"
                " LAZYCUDA_GUARD=strict rejects that"] * 2]),
])
def test_circumstances(circumstances, choice, reasons):
    said, why = choose({"cudart": found(12, 13, 13)}, **circumstances)
    assert said[:3] == choice
    if reasons:
        assert why == reasons


REFUSES = "it would refuse cudaThis, which /app.so imports"


@pytest.mark.parametrize("candidates, choice, reasons", [
    ([], (-1, "missing", ""), []),
    ([candidate(FOUND, 13, unusable="is damaged"), *found(12)], (1, "taken", HIGHEST),
     ["is damaged", HIGHEST]),
    # What is in the process comes before a file, what is named before both.
    ([candidate(LOADED, 11), *found(13)], (0, "taken", "already loaded in this process"),
     ["already loaded in this process", "CUDA 11 was chosen"]),
    ([candidate(NAMED, 11), candidate(LOADED, 12)], (0, "taken", "named by the environment"),
     ["named by the environment", "CUDA 11 was chosen"]),
    ([candidate(NAMED, 0, unusable="is damaged"), *found(12)], (-1, "missing", "is damaged"),
     ["is damaged", "was not considered"]),
    # A lower major that serves every import.
    ([candidate(FOUND, 13, refuses=1), *found(12)],
     (1, "taken", f"CUDA 13 was passed over: {REFUSES}"), [
         REFUSES, f"CUDA 13 was passed over: {REFUSES}"]),
    ([candidate(FOUND, 13, refuses=3), candidate(FOUND, 12, refuses=1)], (0, "taken", HIGHEST),
     [HIGHEST, "CUDA 13 was chosen"]),
])
def test_candidates(candidates, choice, reasons):
    said, why = choose({"cudart": candidates})
    assert (said[:3], why) == (choice, reasons)


@pytest.mark.parametrize("voters, majors", [
    (dict(cudart=(13, 12), nvrtc=(13, 12), nvJitLink=(12,)), (12, 12, 12)),
    # No common major: a newer nvJitLink reads what an older nvrtc writes, and not the reverse.
    (dict(nvrtc=(12,), nvJitLink=(13,)), (12, 13)),
    (dict(cudart=(12,), nvrtc=(13,), nvJitLink=(12,)), (12, None, 12)),
    (dict(cudart=(13, 12), nvrtc=(13,), nvJitLink=(12,)), (13, 13, None)),
    (dict(cudart=(11,), nvrtc=(12, 11), nvJitLink=(12,)), (11, 12, 12)),
])
def test_every_voter_comes_to_the_same_choice_in_any_order(voters, majors):
    expected = dict(zip(voters, majors))
    for order in itertools.permutations(voters):
        given = {library: found(*voters[library]) for library in order}
        taken = {own: choose(given, own)[0][0] for own in order}
        assert {own: None if taken[own] < 0 else voters[own][taken[own]]
                for own in order} == expected, order


@pytest.mark.parametrize("own, other, other_major, candidates, refused", [
    ("nvJitLink", "nvrtc", 13, (12,), "nvJitLink 12 would read what nvrtc 13 writes"),
    ("nvrtc", "nvJitLink", 12, (13,), "nvJitLink 12 would read what nvrtc 13 writes"),
    ("nvJitLink", "nvrtc", 12, (13,), None),
    ("cudart", "nvrtc", 13, (12,), None),
])
def test_beside_a_library_that_is_loaded(own, other, other_major, candidates, refused):
    said, why = choose({own: found(*candidates), other: []}, own, agreed=other_major,
                       loaded={other: 100 * other_major})
    if refused:
        assert said[:2] == (-1, "incoherent")
        assert said[2] == why[0] == f"{refused}, and must not be older"
    else:
        assert said[:2] == (0, "taken")


# Within a major nvJitLink is no older than the nvrtc whose output it reads, if one is to be had.
OLDER = "nvJitLink 12.4 would read what nvrtc 12.9 writes, and must not be older"


@pytest.mark.parametrize("nvrtc, linkers, taken, reason", [
    ((), (1204, 1209), 1, OLDER),
    (dict(nvrtc=1209), (1204, 1209), 1, OLDER),
    ((), (1209, 1204), 0, SAME),
    (dict(nvrtc=1204), (1204, 1209), 0, SAME),
    (dict(nvrtc=1300), (1204, 1209), 0, SAME),
])
def test_a_linker_that_is_no_older_than_the_compiler(nvrtc, linkers, taken, reason):
    said, why = choose({"nvJitLink": [candidate(FOUND, 12, version, latest=version)
                                      for version in linkers],
                        "nvrtc": [candidate(FOUND, 12, 1209)]}, loaded=nvrtc, agreed=12)
    assert said[0] == taken and why[1 - taken] == reason
    assert (OLDER in said[2]) == (reason == OLDER)


def test_an_older_minor_of_the_same_major_needs_no_branch():
    said, why = choose({"cudart": [candidate(FOUND, 12, 1209), candidate(FOUND, 12, 1204)]},
                       driver=1204, branch=418)
    assert said[0] == 1 and "display driver 418 is older than 525" in why[0]


def test_settings_go_before_what_is_loaded_and_what_is_imported():
    assert choose({"cudart": [candidate(LOADED, 12)]}, major=13)[1] == [
        "LAZYCUDA_MAJOR=13 asks for another major"]
    assert choose({"cudart": [candidate(FOUND, 13, refuses=1), *found(12)]}, guard="off")[0][0] == 0


def test_a_library_without_majors_or_with_its_own():
    loaded, highest = "already loaded in this process", "the highest major found"
    assert choose({"cuda": [candidate(FOUND, 0), candidate(LOADED, 0)]}) == (
        (1, "taken", loaded, "00", 0), ["another one comes before it", loaded])
    assert choose({"foreign": found(11, 13)}) == (
        (1, "taken", highest, "00", 0), ["major 13 was chosen", highest])


@pytest.mark.parametrize("candidates, circumstances, needs", [
    (found(13), dict(), "10"),
    (found(13), dict(driver=1300), "11"),
    ([candidate(FOUND, 13, 1300)], dict(driver=1300), "10"),
    ([candidate(FOUND, 13, unusable="is damaged")], dict(driver=1300), "00"),
    ([candidate(NAMED, 13)], dict(driver=1300), "00"),
    ([candidate(LOADED, 13), candidate(LOADED, 12)], dict(driver=1300), "11"),
])
def test_whether_the_driver_matters(candidates, circumstances, needs):
    assert choose({"cudart": candidates}, **circumstances)[0][3] == needs


USERS, PROGRAMS = "LAZYCUDA_CONSTRAINT=", "the program's constraint "


@pytest.mark.parametrize("settings, refusal, taken, reasons", [
    (dict(constraint="<13"), "taken", 0, {1: USERS + "<13 excludes CUDA 13.2"}),
    (dict(program="<13"), "taken", 0, {1: PROGRAMS + "<13 excludes CUDA 13.2"}),
    (dict(constraint="<13", program=">=13"), "excluded", -1,
     {0: PROGRAMS + ">=13 excludes CUDA 12.5 to 12.7", 1: USERS + "<13 excludes CUDA 13.2"}),
    # What may satisfy it is not excluded: its version is known once it was opened.
    (dict(constraint="==12.6.*"), "taken", 0, {1: USERS + "==12.6.* excludes CUDA 13.2"}),
    (dict(constraint=">=12.8"), "taken", 1, {0: USERS + ">=12.8 excludes CUDA 12.5 to 12.7"}),
    # Whatever the guard, as LAZYCUDA_MAJOR; what the driver cannot run is the driver's.
    (dict(constraint="<12", guard="off"), "excluded", -1, {}),
    (dict(constraint=">=13", driver=1200, branch=525, guard="strict"), "driver", -1, {
        0: USERS + ">=13 excludes CUDA 12.5 to 12.7",
        1: "the installed driver supports CUDA 12.0 and cannot run CUDA 13"}),
])
def test_constraints(settings, refusal, taken, reasons):
    candidates = [candidate(FOUND, 12, 1205, latest=1207), candidate(FOUND, 13, 1302, latest=1302)]
    said, why = choose({"cudart": candidates}, **settings)
    assert (said[0], said[1]) == (taken, refusal)
    assert {index: why[index] for index in reasons} == reasons


@pytest.mark.parametrize("library", ["cuda", "cudnn"])
def test_a_constraint_does_not_concern_what_has_no_version_of_cuda(library):
    assert choose({library: found(12)}, constraint=">=13")[0][1] == "taken"


@pytest.mark.parametrize("constraint, cuda, taken", [
    (">=13", (12,), False), (">=13", (13,), True), (">=13", (12, 13), True),
    ("<13", (12, 13), True), ("<13", (13,), False), (">=12.4,<13", (12,), True),
])
def test_what_a_constraint_is_to_a_library_with_majors_of_its_own(constraint, cuda, taken):
    """Its major of CUDA is all that is known."""
    said, why = choose({"cudnn": [candidate(FOUND, 9, cuda=cuda)]}, constraint=constraint)
    assert said[1] == ("taken" if taken else "excluded")
    assert taken or why == [f"{USERS}{constraint} excludes CUDA {cuda[0]}"]


def test_the_driver_is_not_asked_with_forward_compatibility():
    said, _ = choose({"cudart": found(12, 13)}, driver=1200, branch=525, forward=1)
    assert (said[0], said[3]) == (1, "00")
    assert choose({"cudart": found(12, 13)}, driver=1200, branch=525)[0][0] == 0


# Libraries whose SONAME does not tell their CUDA.

OTHER = "that is told"


def belongs(*cuda, major=9, origin=FOUND, **more):
    return candidate(origin, major, cuda=cuda, **more)


@pytest.mark.parametrize("voters, circumstances, choice, reasons", [
    # One CUDA for all: the highest that every one has.
    (dict(cudnn=[belongs(12)], cudart=found(13, 12)), {}, (0, "taken", f"{HIGHEST}; {OTHER}"),
     None),
    (dict(cudnn=[belongs(12), belongs(13)], cudart=found(13, 12)), {},
     (1, "taken", f"{HIGHEST}; {OTHER}"),
     [f"CUDA 13 was chosen; {OTHER}", f"{HIGHEST}; {OTHER}"]),
    # Of two numbers of its own it takes the higher, in the CUDA that all have.
    (dict(cudnn=[belongs(12, major=8), belongs(12), belongs(13)], cudart=found(12)), {},
     (1, "taken", f"{HIGHEST}; {OTHER}"), None),
    # What is told comes before what is not.
    (dict(cudnn=[belongs(12, 13), belongs(13)], cudart=found(13)), {},
     (1, "taken", f"{HIGHEST}; {OTHER}"), None),
    (dict(cudnn=[belongs(12, 13), belongs(12)], cudart=found(13, 12)), {},
     (1, "taken", f"CUDA 13 was passed over: of its cudnn {OTHER}; {OTHER}"), None),
    (dict(cudnn=[belongs(12, 13)], cudart=found(13, 12)), {}, (0, "taken", f"{HIGHEST}; {OTHER}"),
     None),
    (dict(cudnn=[belongs(12, 13)], cudart=found(13, 12)), dict(guard="strict"),
     (-1, "missing", ""), [f"{OTHER}, and LAZYCUDA_GUARD=strict rejects that"]),
    # None is common.
    (dict(cudnn=[belongs(12)], cudart=found(13)), {},
     (-1, "incoherent", f"the process uses CUDA 13; {OTHER}"),
     [f"the process uses CUDA 13; {OTHER}"]),
    (dict(cudnn=[belongs(12)], cudart=found(13)), dict(guard="off"),
     (0, "taken", f"the highest major found (LAZYCUDA_GUARD=off); {OTHER}"), None),
    (dict(cudnn=[belongs(12, origin=LOADED)]), dict(agreed=13),
     (0, "taken", f"already loaded in this process; {OTHER}"), None),
    (dict(cudnn=[belongs(12, origin=NAMED)]), dict(agreed=13),
     (0, "taken", f"named by the environment; {OTHER}"), None),
    # The driver, and the user's word.
    (dict(cudnn=[belongs(13), belongs(12)]), dict(driver=1209),
     (1, "taken", f"{RUNS}; {OTHER}"),
     ["the installed driver supports CUDA 12.9 and cannot run CUDA 13", f"{RUNS}; {OTHER}"]),
    (dict(cudnn=[belongs(12, 13)]), dict(driver=1209),
     (0, "taken", f"the highest major found; {OTHER}"), None),
    (dict(cudnn=[belongs(13), belongs(12)]), dict(major=12), (1, "taken", f"{HIGHEST}; {OTHER}"),
     ["LAZYCUDA_MAJOR=12 asks for another major", f"{HIGHEST}; {OTHER}"]),
])
def test_a_soname_that_does_not_tell_its_cuda(voters, circumstances, choice, reasons):
    said, why = choose(voters, **circumstances)
    assert said[:3] == choice
    if reasons:
        assert why == reasons


def some(candidates):
    """Every choice of some of these, in their order."""
    return [chosen for count in range(len(candidates) + 1)
            for chosen in itertools.combinations(candidates, count)]


@pytest.mark.parametrize("guard, driver", [("best_effort", 0), ("best_effort", 1209), ("strict", 0)])
@pytest.mark.parametrize("cudart", [(13, 12), (13,), (12, 11)])
def test_the_order_of_first_calls_does_not_mix_majors(cudart, guard, driver):
    for nvrtc, linker in itertools.product(some((13, 12, 11)), some((13, 12))):
        voters = dict(cudart=found(*cudart), nvrtc=found(*nvrtc), nvJitLink=found(*linker))
        outcomes = [used(voters, order, told=voters, guard=guard, driver=driver)
                    for order in itertools.permutations(voters)]
        assert all(outcome == outcomes[0] for outcome in outcomes), (voters, outcomes)


@pytest.mark.parametrize("guard, driver", [("best_effort", 1209), ("strict", 0)])
def test_the_order_of_first_calls_changes_nothing(guard, driver):
    files = [*some((belongs(12), belongs(13))), (belongs(12, 13),)]
    for cudnn, cusparse in itertools.product(files, files):
        voters = dict(cudart=found(13, 12), cudnn=list(cudnn), cusparse=list(cusparse))
        outcomes = [used(voters, order, guard=guard, driver=driver)
                    for order in itertools.permutations(voters)]
        assert all(outcome == outcomes[0] for outcome in outcomes), (voters, outcomes)
        # And no two are of different majors, as far as that is told.
        majors = {name: file[1] if name == "cudart" else file[6].bit_length() - 1
                  for name, file in outcomes[0].items()
                  if file and (name == "cudart" or file[6] & (file[6] - 1) == 0)}
        assert len(set(majors.values())) <= 1, (voters, outcomes[0])
