# SPDX-License-Identifier: MIT
"""Every shape of cubin that NVIDIA's compilers write: what the real nvJitLink links, the plan
links."""
import re

import build
import cubin_shapes
import linkers
import plans
import samples
import toolkits


def test_what_becomes_of_links():
    for version, linker in linkers.need(cubin_shapes.pairs()):
        shapes = cubin_shapes.shapes(version)
        samples.make(shapes)
        cubin_shapes.compare(version, shapes, linker).finish()


def test_what_nvjitlink_writes(tmp_path):
    """With -r, from 13.0 on: it is a sound input."""
    for version in linkers.need([one for one in cubin_shapes.newest(linkers.versions())
                                 if samples.key(one) >= (13, 0)]):
        shapes = [shape for shape in cubin_shapes.shapes(version) if shape.option != "ptxas-O0"]
        samples.make(shapes)
        asks = {}
        for number, shape in enumerate(shapes):
            parts = [(one.kind, one.path) for one in (shape, shape.partner()) if one]
            made = tmp_path / f"{number}.cubin"
            job = linkers.Job(version, [f"-arch={shape.arch}", "-r"], parts)
            if linkers.image(job, made).startswith(("yes", "empty")):
                asks[str(shape)] = plans.Ask(version, shape.arch, [made])
        assert len(asks) > 0.9 * len(shapes)
        said = plans.run(asks.values())
        assert {} == {shape: said[ask].message for shape, ask in asks.items()
                      if said[ask].code in ("BAD_INPUT", "BAD_IMAGE")}


def test_the_newest_compiler_is_counted():
    """Its layouts were looked at above, and so are rules (docs/reference/new-release.md)."""
    text = (build.ROOT / "link/formats/cubin_rules.c").read_text()
    counted = re.search(r"NEWEST_COUNTED LC_CUDA\((\d+), (\d+)\)", text)
    assert ".".join(counted.groups()) == toolkits.known()[-1]
