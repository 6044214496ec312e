# SPDX-License-Identifier: MIT
"""Runs a caller on a fake runtime, and compares."""
import collections

import build
import expected
import sources
import symbols

KINDS = ("direct", "renamed", "adapted", "refused", "absent")
MAJORS = sorted(build.MAJORS)
VERSIONS = symbols.read().toolkits


def run(world, major, version):
    """[(name, case, verdict, outcome)] of all that a caller can call."""
    target = symbols.version(version)
    newest = sources.newest(major)
    asked, lines = [], []
    for name, caller in sorted(sources.functions(newest).items()):
        said = expected.verdict(name, major, target)
        for case in expected.cases(caller, newest, said, target):
            asked.append((name, case, said))
            lines.append(expected.plan(name, case, expected.arguments(caller, newest, case)))
    plan = world.root / f"plan-{major}-{version}"
    plan.write_text("".join(lines))
    said = world.run(sources.caller(major), plan, LD_LIBRARY_PATH=build.STUBS,
                     LAZYCUDA_CUDART=sources.runtime(target))
    found = list(expected.outcomes(said.out))
    assert [o.name for o in found] == [name for name, _, _ in asked]
    return [(*question, outcome) for question, outcome in zip(asked, found)]


def mistakes(world, major, version):
    """(what went wrong, Counter of what happened) of a caller on a version."""
    wrong, happened = [], collections.Counter()
    for name, case, said, outcome in run(world, major, version):
        for what in expected.check(name, major, symbols.version(version), case, said, outcome):
            wrong.append(f"{name} of {major} on {version} ({said.kind}, {case.label}): {what}")
        if case.label == "main":
            happened[expected.observed(name, outcome, said)] += 1
    return wrong, happened
