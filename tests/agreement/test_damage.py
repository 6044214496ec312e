# SPDX-License-Identifier: MIT
"""Damaged inputs: what the plan accepts neither crashes nor hangs the real
nvJitLink."""
import collections

import containers
import damage
import linkers
import plans
import pytest
import samples
from verdicts import pieces_folder, publish
from samples import Sample, key

ARCH = "sm_80"
SECONDS = 5


def healthy(kind):
    """Real files of a kind, of the oldest compiler of each of 12 and 13, so that most
    linkers take them; a cubin of the newest, too, whose layouts are others."""
    firsts = {version.split(".")[0]: version for version in reversed(linkers.producers())
              if key(version) >= (12, 0)}
    for producer in dict.fromkeys([*firsts.values(), *linkers.producers()[-1:] * (kind == "cubin")]):
        if kind in samples.KINDS:
            sample = Sample(producer, kind, ARCH, "kh")
            samples.make([sample])
            yield sample.path
            continue
        for maker in (of_major[-1] for of_major in containers.by_major() if of_major):
            for options in ((), ("-compress=false",)):
                made = containers.fatbin(maker, [Sample(producer, k, ARCH, "kh")
                                                 for k in samples.KINDS], *options)
                if kind == "fatbin":
                    yield made
                elif kind == "object":
                    yield containers.host_object(made)
                else:
                    yield containers.archive(containers.host_object(made))


@pytest.mark.parametrize("kind", [*samples.KINDS, "fatbin", "object", "archive"])
def test_what_is_damaged_does_no_harm(kind):
    linkers.need(linkers.versions())
    files = [(f"{path.parent.name}/{path.name}, {name}", file) for path in healthy(kind)
             for name, file in damage.damaged(path)]
    if not files:
        pytest.skip(f"there is nothing here to make a {kind} of (CUDA_VERSIONS)")
    asks = {}
    for version in linkers.versions():
        for name, file in files:
            for lto in (False, True):
                # Only for its key: where what the plan hands over is put.
                job = linkers.Job(version, [f"-arch={ARCH}"] + ["-lto"] * lto, [(kind, file)])
                asks[name, version, lto] = plans.Ask(
                    version, ARCH, [file], lto=lto, flags=plans.ACROSS_MAJORS,
                    folder=pieces_folder(job, plans.ACROSS_MAJORS))
    said = plans.run(asks.values())
    jobs = {which: linkers.Job(ask.version, said[ask].options, said[ask].pieces(ask.folder))
            for which, ask in asks.items()
            if said[ask].ok and not said[ask].message.startswith("cannot write: ")}
    real = linkers.run(jobs.values(), SECONDS)
    counts = collections.Counter(real[job].split()[0] for job in jobs.values())
    text = (f"damaged, {kind}: {len(files)} files, {len(asks)} plans, "
            f"{len(asks) - len(jobs)} refused, of the others the library says: " +
            ", ".join(f"{counts[what]} {what}" for what in sorted(counts)) + "\n")
    publish(f"damaged, {kind}", text)
    harmed = collections.defaultdict(set)
    for (name, version, _), job in jobs.items():
        if real[job].startswith(("crash", "hang")):
            harmed[f"{real[job]}: {name}, {job.inputs[0][0]}"].add(version)
    assert not harmed, f"{len(harmed)} of {text}" + "\n".join(
        f"{what} on {' '.join(sorted(versions, key=key))}"
        for what, versions in sorted(harmed.items())[:200])
