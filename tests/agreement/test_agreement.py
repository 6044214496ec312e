# SPDX-License-Identifier: MIT
"""Every producer's PTX, cubins and LTO-IR on every nvJitLink, and every
architecture for every target: the plan against the real library."""
import linkers
import plans
import samples
from verdicts import Comparison, Reason, case
from samples import Sample, key

ARCHITECTURES = ("sm_52", "sm_70", "sm_75", "sm_80", "sm_90", "sm_90a", "sm_100", "sm_100a",
                 "sm_120")


def major(version):
    return version.split(".")[0]


def number(arch):
    return int(arch.removeprefix("sm_").rstrip("af"))


def suffix(arch):
    return arch[-1] if arch[-1] in "af" else ""


# ---- producers ----

PROMISES = (
    Reason("LTO-IR of another major, without the flag that allows it",
           "documented: with LTO, compatibility is only guaranteed within a major release",
           lambda plan, facts: plan.code == "LTOIR_CROSS_MAJOR" and not facts["across"] and
           major(facts["producer"]) < major(facts["version"])),
)


def producer_cases():
    for version in linkers.versions():
        for producer in linkers.producers():
            for arch in ARCHITECTURES:
                if not samples.compiles(producer, arch):
                    continue
                for kind in samples.KINDS:
                    # LTO-IR twice: as it is, and where other majors are allowed.
                    for across in (False, True)[:1 + (kind == "ltoir")]:
                        yield case(
                            f"{producer} {kind} {arch} on {version}", version, arch,
                            [(kind, Sample(producer, kind, arch, unit).path) for unit in "kh"],
                            lto=kind == "ltoir", flags=plans.ACROSS_MAJORS * across,
                            producer=producer, kind=kind, across=across)


def test_every_producer_on_every_nvjitlink():
    linkers.need()
    samples.make([Sample(producer, kind, arch, unit)
                  for producer in linkers.producers() for kind in samples.KINDS
                  for arch in ARCHITECTURES if samples.compiles(producer, arch) for unit in "kh"])
    comparison = Comparison("producers")
    comparison.add(list(producer_cases()), PROMISES)
    comparison.finish()


# ---- architectures ----

TARGETS = ("sm_50", "sm_52", "sm_61", "sm_70", "sm_75", "sm_80", "sm_87", "sm_90", "sm_90a",
           "sm_100", "sm_100a", "sm_100f", "sm_101", "sm_103", "sm_107", "sm_110", "sm_120",
           "sm_121", "sm_999")


STRICTER_TARGETS = (
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


def compiler_for(arch, version):
    """The newest that is not newer than the linker; None if there is none."""
    able = [producer for producer in linkers.producers()
            if key(producer) <= key(version) and samples.compiles(producer, arch)]
    return able[-1] if able else None


def architecture_cases():
    for version in linkers.versions():
        for arch in samples.COMPILES:
            producer = compiler_for(arch, version)
            if not producer:
                continue
            for kind in samples.KINDS:
                for target in (*samples.COMPILES, "sm_999") if kind == "cubin" else TARGETS:
                    yield case(
                        f"{producer} {kind} {arch} for {target} on {version}", version, target,
                        [(kind, Sample(producer, kind, arch, unit).path) for unit in "kh"],
                        lto=kind == "ltoir", flags=plans.ACROSS_MAJORS * (kind == "ltoir"),
                        producer=producer, kind=kind, code=arch)


def test_every_architecture_for_every_target():
    linkers.need()
    samples.make([Sample(producer, kind, arch, unit)
                  for version in linkers.versions() for arch in samples.COMPILES
                  if (producer := compiler_for(arch, version))
                  for kind in samples.KINDS for unit in "kh"])
    comparison = Comparison("architectures")
    comparison.add(list(architecture_cases()), STRICTER_TARGETS)
    comparison.finish()
