# SPDX-License-Identifier: MIT
"""cublasLt's descriptors: those that it makes and frees, and those in the caller's own memory."""
import itertools

import pytest

import library_lists
import real_libraries

# What the caller's Init_internal is told: the size of the struct that headers of a major have.
SIZES = {12: 64, 13: 64}
REFUSED = 15
# By the CUDA that has it: 13.1 brought other structs.
PLACES = {"12.1": "cu12", "13.0": "cu13", "13.2": "cu13.2", "13.5": "cu13.5"}


@pytest.fixture
def library(request):
    found = real_libraries.files("cublasLt", [PLACES[request.param]])
    if not found:
        pytest.skip(real_libraries.why_absent("cublasLt") or "it could not be fetched")
    return found[0]


@pytest.mark.parametrize("library, caller", itertools.product(PLACES, (12, 13)), indirect=["library"])
def test_what_the_library_makes_serves_callers_of_each_major(world, library, caller, request):
    there = request.node.callspec.params["library"]
    for folder in real_libraries.folders(library):
        world.search(folder)
    own = int(there.split(".")[0])
    direct = world.versioned("handles", library, library.name, SIZES[own])
    through = world.versioned("handles", library_lists.stub("cublasLt"), f"libcublasLt.so.{caller}",
                              SIZES[caller])
    assert [line.split()[2] for line in direct] == ["0"] * 5
    assert through[:-1] == direct[:-1]
    # 13.0 has the structs of 12; a caller of 13 may have been compiled with 13.1, which has not.
    assert through[-1] == (direct[-1] if caller == own or (caller, there) == (12, "13.0")
                           else f"own init {REFUSED}")
