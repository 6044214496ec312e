# SPDX-License-Identifier: MIT
"""Device code of clang and Triton, and cubins that ptxas assembles from it: what the real
libraries link, is linked."""
import json
import os
import subprocess

import pytest

import build
import cubin_shapes
import linkers
import other_compilers
import toolkits
from cubin_shapes import newest
from verdicts import AGREE_YES


def held(shape, kind):
    """Kind, architecture and whether it is relocatable, as `inspect` has it of one piece of code.
    A cubin does not say that it is for a family."""
    arch = shape.arch.rstrip("f") if kind == "cubin" else shape.target
    return kind, arch, shape.form != "linked"


def is_read(shapes):
    """`lazycuda inspect` finds in each file what there is, for the right architecture."""
    done = build.run(build.TOOL, "inspect", "--json", *(shape.path for shape in shapes))
    files = json.loads(done.stdout)["files"]
    assert len(files) == len(shapes)
    for shape, file in zip(shapes, files):
        found = [(one["kind"], one["arch"], one["relocatable"]) for one in file["entries"]]
        assert not file["error"] and found == [held(shape, shape.kind)], (
            str(shape), file)


def are_linked(comparison, linker, folder):
    """`lazycuda link` links what the plan says, of each source one file, on one real nvJitLink."""
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith(("LAZYCUDA_", "LD_"))}
    environment["LAZYCUDA_NVJITLINK"] = str(toolkits.Toolkit(linker).file("nvJitLink"))
    shown = {one.facts["shape"].unit: one for one, _, _, found in comparison.rows
             if found == AGREE_YES}
    for one in shown.values():
        done = subprocess.run([build.TOOL, "link", "--driver", "none", "--nvrtc", "none", "--arch", one.ask.arch,
                               "-o", folder / "image", *one.ask.inputs], env=environment, capture_output=True)
        assert done.returncode == 0, (one.name, done)
        assert (folder / "image").read_bytes()[:4] == b"\x7fELF"


@pytest.mark.parametrize("finder", other_compilers.FINDERS, ids=lambda one: one.__name__)
def test_what_others_write(finder, tmp_path):
    linkers.need(linkers.versions())
    compiler = finder()
    why = other_compilers.why_no_ptxas()
    if why:
        pytest.skip(f"without ptxas: {why}")
    for form, name, readers in cubin_shapes.forms(compiler):
        shapes = other_compilers.written(compiler, form)
        assert shapes, name
        is_read(shapes)
        for linker in newest(set(linkers.versions()) & set(readers)):
            comparison = cubin_shapes.compare(name, shapes, linker)
            comparison.finish()
            are_linked(comparison, linker, tmp_path)


def test_what_one_of_them_writes(tmp_path):
    """A part of that, of the compiler that is always there."""
    versions = linkers.need(newest(linkers.versions()))
    compiler = other_compilers.clang_of_zig()
    for linker in versions:
        shapes = other_compilers.written(compiler, "ptx", option="O2", arch="sm_80")
        is_read(shapes)
        comparison = cubin_shapes.compare(f"some PTX of {compiler.name}", shapes, linker)
        comparison.finish()
        assert {row[3] for row in comparison.rows} == {AGREE_YES}
        are_linked(comparison, linker, tmp_path)
