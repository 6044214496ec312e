# SPDX-License-Identifier: MIT
"""Every exported name of the runtime, by callers of every major, on every version.

Callers are compiled for the newest minor of their major; the runtimes are fakes
that write down what reaches them, as their own version's headers lay it out.
What has to happen is worked out in expected.py.
"""
import pathlib

import pytest

import sources
import symbols
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
            major, span, *numbers = line.split()
            for version in symbols.Range(span).versions():
                rows[int(major), "{}.{}".format(*version)] = dict(zip(KINDS, map(int, numbers)))
    return rows
