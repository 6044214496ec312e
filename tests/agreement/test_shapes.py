# SPDX-License-Identifier: MIT
"""Every shape of cubin that compilers write: what the real nvJitLink links, the plan
links, and it is as shapes.txt says."""
import re

import pytest

import cubin_shapes
import linkers

KEPT = cubin_shapes.TABLE.read_text().splitlines()


def kept(*columns):
    """The lines of the table that begin so."""
    start = [*columns]
    return [line for line in KEPT if line.split(" | ")[:len(start)] == start]


def need(found):
    if not found:
        pytest.skip("there is no real nvrtc or nvJitLink here (CUDA_VERSIONS)")
    return found


def newest(versions):
    """The newest of each major."""
    return list({one.partition(".")[0]: one
                 for one in sorted(versions, key=cubin_shapes.samples.key)}.values())


def test_what_fields_hold():
    """A rule about them is a rule of every file, or it is none.  The other versions' rows change
    with their compilers, which never do; cubin_shapes.py writes them again."""
    for version in need(newest(linkers.producers())):
        cubin_shapes.samples.make(cubin_shapes.shapes(version))
        lines = list(cubin_shapes.field_lines(version))
        assert all(held == places for held, _, places, *_ in (
            line.split(" | ")[4].split() for line in lines)), lines
        assert lines == kept("field", version)


def test_what_becomes_of_links():
    for version, linker in need(cubin_shapes.pairs()):
        cubin_shapes.samples.make(cubin_shapes.shapes(version))
        comparison = cubin_shapes.compare(version, linker)
        comparison.finish()
        if kept("link", f"{version} on {linker}"):
            assert list(cubin_shapes.link_lines(version, linker, comparison)) == \
                kept("link", f"{version} on {linker}")


def test_rules_of_layout_are_for_what_was_counted():
    text = (cubin_shapes.HERE.parents[1] / "link/formats/cubin_usual.c").read_text()
    newest = re.search(r"NEWEST_COUNTED LC_CUDA\((\d+), (\d+)\)", text)
    assert ".".join(newest.groups()) == max(
        (line.split(" | ")[1] for line in kept("field")), key=cubin_shapes.samples.key)


def test_the_newest_of_each_major_is_in_the_table():
    for version in ("11.8", "12.9", "13.5"):
        assert kept("field", version)
    for pair in ("11.8 on 12.9", "12.9 on 12.9", "12.9 on 13.5", "13.5 on 13.5"):
        assert kept("link", pair)
