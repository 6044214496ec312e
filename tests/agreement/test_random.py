# SPDX-License-Identifier: MIT
"""Random pairs of the corpus, for random targets and outputs: the plan against the real library.

RANDOM_PAIRS=15000 draws that many, RANDOM_SEED another series."""
import os
import random

import linkers
import plans
import samples
from samples import Sample
from test_agreement import ARCHITECTURES, PROMISES, STRICTER_TARGETS
from test_mixed import DEFINED_TWICE, OUTPUTS, SEEN_BY_THE_LINKER, SEEN_IN_LTOIR
from verdicts import Comparison, Reason, case

PAIRS = int(os.environ.get("RANDOM_PAIRS", 300))
SEED = int(os.environ.get("RANDOM_SEED", 37))
TARGETS = (*ARCHITECTURES, "sm_110", "sm_121")


def draw(chance, arch=None):
    """Of that architecture, if the compiler knows it."""
    producer = chance.choice(linkers.producers())
    if not arch or not samples.compiles(producer, arch):
        arch = chance.choice([one for one in ARCHITECTURES if samples.compiles(producer, one)])
    return Sample(producer, chance.choice(samples.KINDS), arch, chance.choice(list(samples.SOURCES)))


def draw_pair(chance):
    """Mostly of one architecture.  Not two helpers of which one is LTO-IR: that nothing of them is
    in the image is seen in the image alone (BAD_IMAGE)."""
    first = draw(chance)
    second = draw(chance, chance.random() < .8 and first.arch)
    if first.unit == second.unit == "h" and "ltoir" in (first.kind, second.kind):
        return draw_pair(chance)
    return first, second


def what_the_linker_sees(pair):
    """Why the library may refuse a pair that the plan takes, or None."""
    units = [one.unit for one in pair]
    kinds = {one.kind for one in pair}
    if set(units) == {"k"}:
        return SEEN_BY_THE_LINKER
    return SEEN_IN_LTOIR if "ltoir" in kinds and sorted(units) != ["h", "k"] else None


def cases():
    chance = random.Random(SEED)
    pairs = [draw_pair(chance) for _ in range(PAIRS)]
    samples.make([one for pair in pairs for one in pair])
    for pair in pairs:
        version = chance.choice(linkers.versions())
        target = chance.choice(3 * [one.arch for one in pair] + [chance.choice(TARGETS)])
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


UNUSED = Reason("a cubin that is too new, of which nothing is used",
                "LTO-IR beside it defines the function, too, and 12.9 does not look at the cubin's",
                lambda plan, facts: plan.code == "CUBIN_TOO_NEW" and
                sorted((one.kind, one.unit) for one in facts["pair"]) == [
                    ("cubin", "h"), ("ltoir", "kh")])
REASONS = (*map(of_one, (*PROMISES, *STRICTER_TARGETS)), *DEFINED_TWICE, *OUTPUTS, UNUSED)


def test_random_pairs():
    linkers.need()
    comparison = Comparison("random pairs")
    comparison.add(list(cases()), REASONS)
    # A few hundred do not meet each of them.
    comparison.finish(every_reason=PAIRS >= 15000)
