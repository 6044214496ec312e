# SPDX-License-Identifier: MIT
"""Every exported name of the runtime, by callers of every major, on every version.

Callers are compiled for the newest minor of their major; the runtimes are fakes
that write down what reaches them, as their own version's headers lay it out.
What has to happen is worked out in expected.py.
"""
import collections
import pathlib

import pytest

import sources
from comparison import KINDS, MAJORS, VERSIONS, mistakes

HERE = pathlib.Path(__file__).resolve().parent


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("major", MAJORS)
def test_every_call_does_what_it_says(world, major, version):
    wrong, happened = mistakes(world, major, version)
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
            major, version, *numbers = line.split()
            assert len(numbers) == len(KINDS), line
            rows[int(major), version] = dict(zip(KINDS, map(int, numbers)))
    return rows


def test_no_pair_is_left_out(capsys):
    rows = committed()
    assert set(rows) == {(major, version) for major in MAJORS for version in VERSIONS}
    total = collections.Counter()
    for counts in rows.values():
        total.update(counts)
    with capsys.disabled():
        print("\nmatrix:", ", ".join(f"{total[kind]} {kind}" for kind in KINDS), end=" ")
    # Each name of each major on each version.
    assert sum(total.values()) == len(VERSIONS) * sum(
        len(sources.functions(sources.newest(major))) for major in MAJORS)


def test_every_exported_name_has_a_caller():
    # Names only appear within a major, so the newest minor's headers have them all.
    called = set().union(*(sources.functions(sources.newest(major)) for major in MAJORS))
    assert called == {f.name for f in sources.listed().functions}
    for major in MAJORS:
        assert set(sources.functions(sources.newest(major))) == {
            f.name for f in sources.listed().functions if major in f.range.majors()}
