# SPDX-License-Identifier: MIT
"""Pairs of device code of every compiler, kind and architecture, in both orders, for every target
and output, drawn at random: the plan against the real library.

The default draws a few hundred; RANDOM_PAIRS=50000 draws that many, RANDOM_SEED another series."""
import os
import random

import pytest

import linkers
import plans
import samples
from samples import Sample, key
from verdicts import Comparison, Reason, case

FEW = ("sm_52", "sm_70", "sm_75", "sm_80", "sm_90", "sm_90a", "sm_100", "sm_100a", "sm_120")
SEED = int(os.environ.get("RANDOM_SEED", 37))
SEEN_BY_THE_LINKER = "a symbol that is undefined"
SEEN_IN_LTOIR = "a symbol of LTO-IR that is defined twice"


# ---- what a plan may refuse that the library links ----

def major(version):
    return version.split(".")[0]


def number(arch):
    return int(arch.removeprefix("sm_").rstrip("af"))


def suffix(arch):
    return arch[-1] if arch[-1] in "af" else ""


# Of one of the two.
OF_ONE = (
    Reason("LTO-IR of another major, without the flag that allows it",
           "documented: with LTO, compatibility is only guaranteed within a major release",
           lambda plan, facts: plan.code == "LTOIR_CROSS_MAJOR" and not facts["across"] and
           major(facts["producer"]) < major(facts["version"])),
    Reason("code for `a` architectures, for another target",
           "documented: linking extended ISA sources (like sm_90a) against any other sm "
           "version will always fail; libraries take cubins until 13.0 and trivial LTO-IR still",
           lambda plan, facts: plan.code == "ARCH_MISMATCH" and suffix(facts["code"]) == "a" and
           facts["code"] != facts["target"]),
    Reason("LTO-IR for a later architecture",
           "documented: targets have to be as late as every input; 12.0 and 12.1 do not look, "
           "13.1 and later take sm_110 for what was sm_101",
           lambda plan, facts: plan.code == "ARCH_MISMATCH" and facts["kind"] == "ltoir" and
           number(facts["code"]) > number(facts["target"]) and
           (facts["version"] in ("12.0", "12.1") or number(facts["code"]) == 110)),
    Reason("targets that this version takes and does not know",
           "12.8 takes sm_100f and its like, which came with 12.9, for what has no `f`",
           lambda plan, facts: plan.code == "ARCH_UNSUPPORTED" and
           facts["version"] == "12.8" and suffix(facts["target"]) == "f"),
)
OF_BOTH = (
    Reason("a function that is defined twice",
           "until 12.5 libraries refuse it; later ones say SUCCESS, and on stderr what is wrong",
           lambda plan, facts: plan.code == "DUPLICATE_SYMBOL"),
    Reason("LTO-IR output of PTX and cubins",
           "what they define is not in it: linked again, it has no kernel",
           lambda plan, facts: plan.code == "PTX_NEEDS_LTO" and facts["output"] == "ltoir" and
           facts["kinds"] != {"ltoir"}),
    Reason("a cubin that is too new, of which nothing is used",
           "LTO-IR beside it defines the function, too, and 12.9 does not look at the cubin's",
           lambda plan, facts: plan.code == "CUBIN_TOO_NEW" and sorted(
               (one.kind, one.unit) for one in facts["pair"]) == [("cubin", "h"), ("ltoir", "kh")]),
)


# ---- pairs ----

def draw(chance, architectures, arch=None):
    """Of that architecture, if the compiler knows it."""
    producer = chance.choice(linkers.producers())
    if not arch or not samples.compiles(producer, arch):
        arch = chance.choice([one for one in architectures if samples.compiles(producer, one)])
    return Sample(producer, chance.choice(samples.KINDS), arch, chance.choice(list(samples.SOURCES)))


def draw_pair(chance, architectures):
    """Mostly of one architecture, and a kernel with its helper.  Not two helpers of which one is
    LTO-IR: that nothing of them is in the image is seen in the image alone (BAD_IMAGE)."""
    first = draw(chance, architectures)
    second = draw(chance, architectures, chance.random() < .8 and first.arch)
    if first.unit != "kh" and chance.random() < .7:
        second = second._replace(unit="h" if first.unit == "k" else "k")
    if first.unit == second.unit == "h" and "ltoir" in (first.kind, second.kind):
        return draw_pair(chance, architectures)
    return first, second


def what_the_linker_sees(pair):
    """Why the library may refuse a pair that the plan takes, or None."""
    units = [one.unit for one in pair]
    kinds = {one.kind for one in pair}
    if set(units) == {"k"}:
        return SEEN_BY_THE_LINKER
    return SEEN_IN_LTOIR if "ltoir" in kinds and sorted(units) != ["h", "k"] else None


def cases(count, architectures):
    chance = random.Random(SEED)
    targets = (*architectures, "sm_110", "sm_121", "sm_999")
    pairs = [draw_pair(chance, architectures) for _ in range(count)]
    samples.make([one for pair in pairs for one in pair])
    for pair in pairs:
        newest = max(key(one.version) for one in pair)
        able = [one for one in linkers.versions() if key(one) >= newest]
        version = chance.choice(able if able and chance.random() < .7 else linkers.versions())
        target = chance.choice(3 * [one.arch for one in pair] + [chance.choice(targets)])
        lto = any(one.kind == "ltoir" for one in pair) or chance.random() < .3
        output = chance.choice(["cubin"] * 5 + ["ptx", "relocatable", "ltoir"])
        across = chance.random() < .7
        yield case(f"{pair[0]} + {pair[1]} for {target} on {version}, {output}, lto {lto}", version,
                   target, [(one.kind, one.path) for one in pair], lto=lto, output=output,
                   flags=plans.ACROSS_MAJORS * across, across=across, pair=pair,
                   kinds={one.kind for one in pair}, left=what_the_linker_sees(pair))


def of_one(reason):
    """A reason for one sample, as one for a pair."""
    return Reason(reason.name, reason.evidence, lambda plan, facts: any(
        reason.holds(plan, {**facts, "kind": one.kind, "producer": one.version, "code": one.arch})
        for one in facts["pair"]))


@pytest.mark.parametrize("count, architectures", [
    (300, FEW), pytest.param(3000, FEW, marks=pytest.mark.minute),
    pytest.param(20000, tuple(samples.COMPILES), marks=pytest.mark.release)], ids=["few", "some", "many"])
def test_random_pairs(count, architectures):
    linkers.need(linkers.versions())
    count = int(os.environ.get("RANDOM_PAIRS", count))
    comparison = Comparison(f"{count} random pairs")
    comparison.add(list(cases(count, architectures)), (*map(of_one, OF_ONE), *OF_BOTH))
    # A few hundred do not meet each of them.
    comparison.finish(every_reason=count >= 15000)
