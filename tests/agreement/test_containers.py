# SPDX-License-Identifier: MIT
"""Real fatbins, host objects and archives: what the plan takes out of them links
where nvJitLink alone fails, and never worse than it."""
import itertools

import containers
import linkers
import plans
import pytest
import samples
from verdicts import Comparison, RESCUED, case
from samples import Sample, key

ARCH = "sm_80"
ACROSS = plans.ACROSS_MAJORS


@pytest.fixture(autouse=True)
def real_libraries():
    for versions, name in ((linkers.versions(), "nvJitLink"), (containers.versions(), "nvFatbin")):
        if not versions:
            pytest.skip(f"there is no real {name} here (CUDA_VERSIONS)")


def k_and_h(maker, producer, kinds, *options):
    """Two fatbins, of which one needs the other."""
    return [containers.fatbin(maker, [Sample(producer, kind, ARCH, unit) for kind in kinds],
                              *options) for unit in "kh"]


def neighbours(version):
    """The newest compiler whose output this linker knows, and the oldest whose it does not."""
    known = [p for p in linkers.producers() if key(p) <= key(version)]
    newer = [p for p in linkers.producers() if key(p) > key(version)]
    return (known or [None])[-1], (newer or [None])[0]


def maker():
    """The oldest nvFatbin of 12."""
    found = containers.by_major()[0]
    return found[0] if found else pytest.skip("there is no nvFatbin of 12 here")


def compare(what, cases, least_rescued):
    comparison = Comparison(f"containers, {what}")
    comparison.add(cases)
    comparison.finish()
    assert comparison.counts[RESCUED] >= least_rescued, comparison.text()


# ---- what nvJitLink alone fails ----

def test_an_entry_that_is_too_new_does_not_hide_the_ptx_beside_it():
    cases = []
    for version in linkers.versions():
        known, newer = neighbours(version)
        if not known or not newer:
            continue
        for beside in ("cubin", "ltoir"):
            inputs = [("fatbin", containers.fatbin(
                maker(), [Sample(known, "ptx", ARCH, unit), Sample(newer, beside, ARCH, unit)],
                "-compress=false")) for unit in "kh"]
            cases.append(case(f"PTX of {known} and {beside} of {newer} on {version}", version, ARCH,
                              inputs, lto=beside == "ltoir", contained=True))
    compare("an entry too new", cases, len(cases))


@pytest.mark.parametrize("how", ["fatbins", "objects", "ld -r", "archive"])
def test_every_container_of_a_file_is_used(how):
    cases = []
    for version in linkers.versions():
        producer, _ = neighbours(version)
        for kind in samples.KINDS:
            parts = k_and_h(maker(), producer, [kind], "-compress=false")
            if how == "fatbins":
                inputs = [("fatbin", containers.joined(*parts))]
            elif how == "objects":
                inputs = [("object", containers.host_object(part)) for part in parts]
            elif how == "ld -r":
                inputs = [("object", containers.partial_link(*map(containers.host_object, parts)))]
            else:
                inputs = [("archive", containers.archive(*map(containers.host_object, parts)))]
            cases.append(case(f"{how} of {producer} {kind} on {version}", version, ARCH, inputs,
                              lto=kind == "ltoir", contained=True))
    compare(how, cases, 0 if how in ("objects", "archive") else len(cases))


# ---- everything else ----

# Their LTO-IR has containers of one version, which is all that can be seen of
# it when it is compressed.
ALIKE = (("12.4", "12.5"), ("12.8", "12.9"), ("13.1", "13.2"), ("13.3", "13.4", "13.5"))
UNSEEN = "compressed LTO-IR of a version that its container does not tell from the linker's"


def unseen(maker, version, how):
    alike = any(maker in some and version in some for some in ALIKE)
    return UNSEEN if how != "raw" and alike and key(maker) > key(version) else None


COMPRESSION = {"raw": ("-compress=false",), "all": ("-compress-all",)}


def test_every_content_and_compression():
    """Fatbins of every nvFatbin with the code of its own version, on every
    linker: one kind, and all three."""
    cases = []
    for version, maker in itertools.product(linkers.versions(), containers.versions()):
        if maker not in linkers.producers():
            continue
        for kinds in (*((kind,) for kind in samples.KINDS), samples.KINDS):
            for (how, options), lto in itertools.product(COMPRESSION.items(), (False, True)):
                cases.append(case(
                    f"{'+'.join(kinds)} of {maker}, {how}{', -lto' if lto else ''}, on {version}",
                    version, ARCH,
                    [("fatbin", path) for path in k_and_h(maker, maker, kinds, *options)],
                    lto=lto, flags=ACROSS, contained=True,
                    left=unseen(maker, version, how) if "ltoir" in kinds else None))
    compare("content and compression", cases, 0)
