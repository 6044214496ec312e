# SPDX-License-Identifier: MIT
"""Which versions of compiler, linker, runtime and driver may work together."""
import pytest

from questions import (ACROSS_MAJORS, BEST_EFFORT, CUBIN, FORWARD_COMPATIBLE, LTOIR, OFF, PTX,
                       STRICT, UNKNOWN, ask, cuda)

YES, NO, INSUFFICIENT, TOO_OLD = ("compatible", "incompatible", "insufficient metadata",
                                  "driver too old")


def number(version):
    return {None: 0, "?": UNKNOWN}.get(version) if version in (None, "?") else cuda(version)


def combine(driver=None, branch=0, cudart=None, nvrtc=None, nvjitlink=None, carries=0,
            policy=BEST_EFFORT, flags=0, constraint=None):
    words = [number(driver), branch, number(cudart), number(nvrtc), number(nvjitlink), carries,
             policy, flags]
    outcome, message = ask("combine", *words, *([constraint] if constraint is not None else []))\
        .split("\t")
    assert message and len(message) < 400 and "%" not in message
    return outcome, message


def outcome(**question):
    """The same under both policies that look at versions."""
    answers = {combine(policy=policy, **question)[0] for policy in (BEST_EFFORT, STRICT)}
    assert len(answers) == 1
    return answers.pop()


def test_the_question_of_the_project():
    # May nvrtc 13.2, nvJitLink 13.0 and driver 580 work together for LTO-IR?
    assert combine("13.0", 580, nvrtc="13.2", nvjitlink="13.0", carries=LTOIR) == (
        NO, "nvJitLink 13.0 is older than nvrtc 13.2, whose LTO-IR it is to link; use nvJitLink"
        " 13.2 or later, or nvrtc 13.0 or older")
    # The driver's version follows from its branch.
    assert combine("?", 580, nvrtc="13.2", nvjitlink="13.0", carries=LTOIR)[0] == NO
    assert combine("?", 580, nvrtc="13.0", nvjitlink="13.2", carries=LTOIR, policy=STRICT)[0] == YES


def test_numbers_that_do_not_exist():
    for wrong in ({"policy": 3}, {"policy": -1}, {"flags": 0x2}, {"flags": 0x8000}, {"carries": 4},
                  {"carries": 99}, {"carries": -1},
                  {"branch": -1}, {"cudart": "0.12"}):
        assert combine("13.0", nvrtc="13.0", nvjitlink="13.0", **wrong)[0] == NO


# ---- the driver ----

@pytest.mark.parametrize("library", ["cudart", "nvrtc", "nvjitlink"])
@pytest.mark.parametrize("driver, branch, version, answer", [
    ("12.9", 0, "12.9", YES), ("12.9", 0, "12.0", YES), ("13.0", 0, "12.9", YES),
    ("13.0", 0, "11.8", YES),
    ("12.2", 535, "12.9", YES), ("12.2", 524, "12.9", TOO_OLD),
    ("11.2", 460, "11.8", YES), ("11.0", 445, "11.8", TOO_OLD),
    ("13.0", 580, "13.5", YES), ("13.0", 579, "13.5", TOO_OLD),
    ("12.9", 575, "13.0", TOO_OLD), ("11.8", 520, "12.0", TOO_OLD), ("12.9", 600, "13.0", TOO_OLD)])
def test_a_driver_and_a_library(library, driver, branch, version, answer):
    assert outcome(driver=driver, branch=branch, **{library: version}) == answer


@pytest.mark.parametrize("driver, branch, version", [("12.2", 524, "12.9"), ("12.9", 575, "13.0")])
def test_a_forward_compatible_driver_makes_up_for_its_age(driver, branch, version):
    assert outcome(driver=driver, branch=branch, cudart=version, flags=FORWARD_COMPATIBLE) == YES


def test_forward_compatibility_relaxes_nothing_else():
    flags = FORWARD_COMPATIBLE
    assert outcome(driver="12.2", nvrtc="13.2", nvjitlink="13.0", carries=LTOIR, flags=flags) == NO
    assert outcome(driver="12.2", nvrtc="12.9", nvjitlink="13.0", carries=LTOIR, flags=flags) == NO
    assert outcome(driver="12.2", nvrtc="13.0", carries=LTOIR, flags=flags) == NO
    assert outcome(driver="12.2", cudart="13.0", constraint="<13", flags=flags) == NO


@pytest.mark.parametrize("driver, version", [("12.2", "12.9"), ("14.0", "14.1")])
def test_an_unknown_branch_matters_to_strict_alone(driver, version):
    # Nothing is known of what 14 needs.
    branch = 0 if driver < "14" else 900
    assert combine(driver, branch, cudart=version, policy=STRICT) == (
        INSUFFICIENT, f"cudart {version} needs a driver for CUDA {driver} of a certain branch, and its"
        " branch is not known; give it, or use the policy best_effort")
    assert combine(driver, branch, cudart=version)[0] == YES


def test_the_messages_about_the_driver():
    assert combine("12.2", 535, nvjitlink="13.0")[1] == (
        "the driver is for CUDA 12.2, and nvJitLink 13.0 needs one for CUDA 13.0 or later; update"
        " the driver, or use nvJitLink 12")
    assert combine("11.0", 445, cudart="11.8")[1] == (
        "the display driver is of branch 445, and cudart 11.8 with a driver for CUDA 11.0 needs"
        " branch 450 or later; update the driver, or use cudart 11.0 or older")
    assert combine("12.2", 535, nvrtc="12.9", carries=PTX)[1] == (
        "the driver is for CUDA 12.2 and does not load PTX 8.8, which nvrtc 12.9 writes; update the"
        " driver, use nvrtc 12.2 or older, or have it write cubins")
    assert combine("13.0", nvrtc="12.9", carries=LTOIR)[1] == (
        "the driver does not link LTO-IR, and there is no nvJitLink; install nvJitLink, or have"
        " nvrtc write PTX or cubins")


# ---- what nvrtc hands on ----

@pytest.mark.parametrize("kind", [PTX, CUBIN, LTOIR])
@pytest.mark.parametrize("nvrtc, nvjitlink, answer", [
    ("12.4", "12.4", YES), ("12.4", "12.9", YES), ("12.5", "12.4", NO), ("13.0", "12.9", NO),
    ("13.2", "13.0", NO), ("13.0", "13.5", YES)])
def test_a_linker_is_not_older_than_the_compiler(kind, nvrtc, nvjitlink, answer):
    assert outcome(nvrtc=nvrtc, nvjitlink=nvjitlink, carries=kind) == answer


@pytest.mark.parametrize("kind, flags, answer", [(PTX, 0, YES), (CUBIN, 0, YES), (LTOIR, 0, NO),
                                                 (LTOIR, ACROSS_MAJORS, YES)])
def test_what_goes_to_a_linker_of_the_next_major(kind, flags, answer):
    assert outcome(nvrtc="12.9", nvjitlink="13.0", carries=kind, flags=flags) == answer


def test_the_messages_about_majors():
    assert combine(nvrtc="12.9", nvjitlink="13.0", carries=LTOIR)[1] == (
        "LTO-IR of nvrtc 12.9 is not for nvJitLink 13.0, which is of another major; use nvrtc and"
        " nvJitLink of one major, or allow LTO-IR across majors")
    assert combine(nvrtc="11.8", nvjitlink="12.9", carries=LTOIR)[1] == (
        "LTO-IR of nvrtc 11.8 is not for nvJitLink 12.9, which is of another major; use nvrtc and"
        " nvJitLink of one major")


@pytest.mark.parametrize("kind", [PTX, CUBIN, LTOIR])
def test_the_driver_sees_the_linkers_product_alone(kind):
    # nvrtc is as new as the PTX that this driver would refuse.
    assert outcome(driver="12.2", branch=535, nvrtc="12.9", nvjitlink="12.9", carries=kind) == YES


@pytest.mark.parametrize("nvrtc, driver, branch, kind, answer", [
    ("12.2", "12.2", 535, PTX, YES), ("12.3", "12.2", 535, PTX, TOO_OLD),
    ("12.6", "12.5", 555, PTX, YES),       # the same ISA
    ("12.9", "13.0", 580, PTX, YES), ("13.0", "12.9", 575, PTX, TOO_OLD),
    ("12.9", "12.2", 535, CUBIN, YES), ("13.0", "12.9", 575, CUBIN, TOO_OLD),
    ("12.2", "12.2", 535, LTOIR, NO), ("11.8", "11.8", 520, LTOIR, NO)])
def test_without_a_linker_the_driver_gets_what_nvrtc_writes(nvrtc, driver, branch, kind, answer):
    assert outcome(driver=driver, branch=branch, nvrtc=nvrtc, carries=kind) == answer


# ---- the constraint ----

@pytest.mark.parametrize("library, name", [("cudart", "cudart"), ("nvrtc", "nvrtc"),
                                           ("nvjitlink", "nvJitLink")])
def test_every_library_satisfies_the_constraint(library, name):
    assert outcome(constraint=">=13.2,<14", **{library: "13.2"}) == YES
    assert combine(constraint=">=13.2,<14", **{library: "13.1"}) == (
        NO, f'{name} 13.1 does not satisfy the constraint ">=13.2,<14"; use one that does')


@pytest.mark.parametrize("policy", [BEST_EFFORT, STRICT, OFF])
def test_a_malformed_constraint_is_told_whatever_the_policy(policy):
    assert combine(cudart="13.0", constraint=">=13,<x", policy=policy) == (
        NO, 'the constraint ">=13,<x" is malformed at character 7 ("x"); write it like'
        ' ">=13.2,<14"')
    assert combine(constraint=">=", policy=policy) == (
        NO, 'the constraint ">=" is malformed at character 3 ("its end"); write it like'
        ' ">=13.2,<14"')


def test_a_message_holds_no_control_characters():
    for control in "\x1b[31m", "\x9b31m", "\u202e":
        said = combine(cudart="13.0", constraint=f">=13{control}")[1]
        assert control not in said and ">=13?" in said


# ---- what is not known ----

@pytest.mark.parametrize("question, name", [
    (dict(driver="?", cudart="13.0"), "the driver"), (dict(driver="13.0", cudart="?"), "cudart"),
    (dict(nvrtc="?", nvjitlink="13.0", carries=LTOIR), "nvrtc"),
    (dict(nvrtc="13.0", nvjitlink="?", carries=LTOIR), "nvJitLink"),
    (dict(driver="?", nvrtc="13.0", carries=PTX), "the driver"),
    (dict(driver="13.0", nvrtc="?", carries=PTX), "nvrtc"),
    (dict(nvrtc="?", constraint=">=12"), "nvrtc")])
def test_what_is_not_known_matters_to_strict_alone(question, name):
    assert combine(policy=STRICT, **question) == (
        INSUFFICIENT, f"the version of {name} is not known; give it, or use the policy best_effort")
    answer, message = combine(policy=BEST_EFFORT, **question)
    assert answer == YES and message.endswith(": compatible as far as is known")


@pytest.mark.parametrize("policy", [BEST_EFFORT, STRICT])
def test_a_no_comes_before_what_is_not_known(policy):
    question = dict(driver="?", cudart="13.0", nvrtc="13.2", nvjitlink="13.0", carries=PTX,
                    policy=policy)
    assert combine(**question)[0] == NO
    assert combine(driver="12.9", cudart="?", nvjitlink="13.0", policy=policy)[0] == TOO_OLD


# ---- the rest ----

@pytest.mark.parametrize("question", [
    dict(driver="11.0", cudart="13.0"), dict(nvrtc="13.2", nvjitlink="12.0", carries=LTOIR),
    dict(cudart="12.9", constraint=">=13"), dict(driver="?", cudart="?")])
def test_off_looks_at_nothing(question):
    answer, message = combine(policy=OFF, **question)
    assert answer == YES and message.endswith(": not looked at, policy off")


def test_what_goes_together_is_told_by_its_versions():
    assert combine("13.0", 580, "12.9", "13.0", "13.0", LTOIR) == (
        YES, "cudart 12.9, nvrtc 13.0, nvJitLink 13.0, driver 13.0: compatible")
