# SPDX-License-Identifier: MIT
"""Damaged inputs: what the plan accepts neither crashes nor hangs the real
nvJitLink."""
import collections

import containers
import damage
import header_sweep
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
    linkers take them."""
    firsts = {version.split(".")[0]: version for version in reversed(linkers.producers())
              if key(version) >= (12, 0)}
    for producer in firsts.values():
        if kind in samples.KINDS:
            sample = Sample(producer, kind, ARCH, "kh")
            samples.make([sample])
            yield sample.path
            continue
        for maker in spread_makers():
            for options in ((), ("-compress=false",)):
                made = containers.fatbin(maker, [Sample(producer, k, ARCH, "kh")
                                                 for k in samples.KINDS], *options)
                if kind == "fatbin":
                    yield made
                elif kind == "object":
                    yield containers.host_object(made)
                else:
                    yield containers.archive(containers.host_object(made))


def spread_makers():
    """The newest nvFatbin that compresses each way."""
    lz4 = [v for v in containers.versions() if key(v) < (13, 0)]
    zstd = [v for v in containers.versions() if key(v) >= (13, 0)]
    return lz4[-1:] + zstd[-1:]


@pytest.mark.parametrize("kind", [*samples.KINDS, "fatbin", "object", "archive"])
def test_what_is_damaged_does_no_harm(kind):
    if not linkers.versions():
        pytest.skip("there is no real nvJitLink here (CUDA_VERSIONS)")
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


def test_wrong_fields_of_headers():
    """A part of what header_sweep.py tries, on what is here of its linkers."""
    here = set(linkers.versions())
    found = list(header_sweep.sweep([one for one in header_sweep.CUBINS if one.version in here],
                                    101, [one for one in header_sweep.LINKED if one in here]))
    if not found:
        pytest.skip("there is none of its compilers here (CUDA_VERSIONS)")
    assert not [line for _, harm in found for line in harm]
    assert all("refused" in row and " yes" in row for rows, _ in found for row in rows)


def test_the_table_of_headers():
    """What was tried as a whole is no harm either; header_sweep.py writes it."""
    rows = header_sweep.TABLE.read_text().splitlines()
    assert {row.partition(" | ")[0] for row in rows} == {
        f"{shape} on {linker}" for shape in header_sweep.CUBINS for linker in header_sweep.LINKED
        if samples.key(shape.version) <= samples.key(linker)}
    assert not [row for row in rows for how in header_sweep.HARM if f" {how}" in row]
