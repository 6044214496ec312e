# SPDX-License-Identifier: MIT
"""Every shape of cubin that NVIDIA's compilers write: what the real nvJitLink links, the plan
links, and it is as shapes.txt says."""
import re

import pytest

import cubin_shapes
import linkers
import plans
from cubin_shapes import KEPT, as_kept, kept, newest, rules_hold


def need(found):
    if not found:
        pytest.skip("there is no real nvrtc or nvJitLink here (CUDA_VERSIONS)")
    return found


def test_what_fields_hold():
    """A rule about them is a rule of every file, or it is none.  The other versions' rows change
    with their compilers, which never do; cubin_shapes.py writes them again."""
    for version in need(newest(linkers.producers())):
        shapes = cubin_shapes.shapes(version)
        cubin_shapes.samples.make(shapes)
        lines = list(cubin_shapes.field_lines(version, shapes))
        rules_hold(lines)
        assert lines == kept("field", version)


def test_what_becomes_of_links():
    for version, linker in need(cubin_shapes.pairs()):
        shapes = cubin_shapes.shapes(version)
        cubin_shapes.samples.make(shapes)
        as_kept(version, linker, cubin_shapes.compare(version, shapes, linker))


def test_what_nvjitlink_writes(tmp_path):
    """With -r, from 13.0 on: it keeps the rules, and is a sound input."""
    for version in need([one for one in newest(linkers.versions())
                         if cubin_shapes.samples.key(one) >= (13, 0)]):
        shapes = [shape for shape in cubin_shapes.shapes(version) if shape.option != "ptxas-O0"]
        cubin_shapes.samples.make(shapes)
        written = []
        for number, shape in enumerate(shapes):
            parts = [(one.kind, one.path) for one in (shape, shape.partner()) if one]
            job = linkers.Job(version, [f"-arch={shape.arch}", "-r"], parts)
            if linkers.image(job, tmp_path / f"{number}.cubin").startswith(("yes", "empty")):
                written.append((shape, tmp_path / f"{number}.cubin"))
        assert len(written) > 0.9 * len(shapes)
        broken = [(str(shape), *fact) for shape, path in written
                  for *fact, holds in cubin_shapes.facts(cubin_shapes.Cubin(path.read_bytes()))
                  if not holds]
        asks = {shape: plans.Ask(version, shape.arch, [path]) for shape, path in written}
        said = plans.run(asks.values())
        refused = [(str(shape), said[ask].message) for shape, ask in asks.items()
                   if said[ask].code in ("BAD_INPUT", "BAD_IMAGE")]
        assert (broken, refused) == ([], [])


def test_rules_of_layout_are_for_what_was_counted():
    text = (cubin_shapes.HERE.parents[1] / "link/formats/cubin_rules.c").read_text()
    counted = re.search(r"NEWEST_COUNTED LC_CUDA\((\d+), (\d+)\)", text)
    assert ".".join(counted.groups()) == max(
        (line.split(" | ")[1].split()[-1] for line in kept("field")), key=cubin_shapes.samples.key)


def test_the_newest_of_each_major_is_in_the_table():
    for version in ("11.8", "12.9", "13.5"):
        assert kept("field", version)
    for pair in ("11.8 on 12.9", "12.9 on 12.9", "12.9 on 13.5", "13.5 on 13.5"):
        assert kept("link", pair)
    for compiler in ("clang", "triton"):
        for form in ("ptxas 12.9 on 12.9", "ptxas 13.5 on 13.5"):
            assert any(line.startswith(f"link | {compiler} ") and f", {form} | " in line
                       for line in KEPT)
