# SPDX-License-Identifier: MIT
"""cublasLt's descriptors: those that it makes and frees, and those in the caller's own memory."""
import itertools

import pytest

import build
import library_lists
import real_libraries

# What the caller's Init_internal is told: the size of the struct that headers of a major have.
SIZES = {12: 64, 13: 64}
REFUSED = 15


@pytest.fixture(scope="module")
def reals():
    why = real_libraries.why_absent("cublasLt")
    if why:
        pytest.skip(why)
    return dict(zip((12, 13), real_libraries.files("cublasLt")))


@pytest.mark.parametrize("caller, there", itertools.product((12, 13), repeat=2))
def test_what_the_library_makes_serves_callers_of_each_major(world, reals, caller, there):
    program = build.program(build.TESTS / "libraries" / "handles.c", "-w")
    for folder in real_libraries.folders(reals[there]):
        world.search(folder)
    direct = world.run(program, reals[there], reals[there].name, SIZES[there])
    through = world.run(program, library_lists.stub("cublasLt"), reals[caller].name, SIZES[caller])
    assert [line.split()[2] for line in direct.lines] == ["0"] * 5
    assert through.lines[:-1] == direct.lines[:-1]
    # 13.0 has the structs of 12; a caller of 13 may have been compiled with 13.1, which has not.
    assert through.lines[-1] == (direct.lines[-1] if caller <= there else f"own init {REFUSED}")
