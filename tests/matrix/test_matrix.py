# SPDX-License-Identifier: MIT
"""Every exported name of the runtime, by callers of every major, on every version.

Callers are compiled for the newest minor of their major; the runtimes are fakes
that write down what reaches them, as their own version's headers lay it out.
What has to happen is worked out in expected.py.
"""
import collections
import pathlib

import pytest

import build
import expected
import sources
import symbols

HERE = pathlib.Path(__file__).resolve().parent
KINDS = ("direct", "renamed", "adapted", "refused", "absent")
MAJORS = sorted(build.MAJORS)
VERSIONS = symbols.read().toolkits


def run(world, major, version, embedded):
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
    said = world.run(sources.caller(major, embedded), plan, LD_LIBRARY_PATH=build.STUBS,
                     LAZYCUDA_CUDART=sources.runtime(target))
    found = list(expected.outcomes(said.out))
    assert [o.name for o in found] == [name for name, _, _ in asked]
    return [(*question, outcome) for question, outcome in zip(asked, found)]


def mistakes(world, major, version, embedded):
    """(what went wrong, Counter of what happened) of a caller on a version."""
    wrong, happened = [], collections.Counter()
    for name, case, said, outcome in run(world, major, version, embedded):
        for what in expected.check(name, major, symbols.version(version), case, said, outcome):
            wrong.append(f"{name} of {major} on {version} ({said.kind}, {case.label}): {what}")
        if case.label == "main":
            happened[expected.observed(name, outcome, said)] += 1
    return wrong, happened


@pytest.mark.minute
@pytest.mark.parametrize("version", [".".join(map(str, sources.newest(major))) for major in MAJORS])
@pytest.mark.parametrize("major", MAJORS)
def test_every_call_of_an_embedded_stub_does_too(world, major, version):
    test_every_call_does_what_it_says(world, major, version, embedded=True)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("major", MAJORS)
def test_every_call_does_what_it_says(world, major, version, embedded=False):
    wrong, happened = mistakes(world, major, version, embedded)
    assert not wrong, "\n".join([f"{len(wrong)} wrong", *wrong[:60]])
    counts = {kind: happened[kind] for kind in KINDS}
    print(f"caller of {major} on {version}:", counts)
    # A row of a table that went missing makes another number.
    assert counts == committed().get((major, version))
    assert sum(counts.values()) == len(sources.functions(sources.newest(major)))


def committed():
    """{(major, version): {kind: number}} of counts.txt"""
    rows = {}
    for line in (HERE / "counts.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            major, span, *numbers = line.split()
            for version in symbols.Range(span).versions():
                rows[int(major), "{}.{}".format(*version)] = dict(zip(KINDS, map(int, numbers)))
    return rows
