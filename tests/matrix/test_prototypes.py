# SPDX-License-Identifier: MIT
"""An adaptor has the prototype of its slot: the compiler refuses any other."""
import pytest

import build


def test_an_adaptor_is_declared_as_its_slot_is():
    source = build.text('#include "adaptors.h"\nint32_t lc_adapt_cudaMemAdvise_11(void *);\n', "c")
    with pytest.raises(build.CompileError, match="conflicting types for .?lc_adapt_cudaMemAdvise_11"):
        build.compile("nothing", "-std=gnu11", "-fsyntax-only", "-I", build.ROOT / "stubs", "-I", build.BUILT,
                      "-I", build.ROOT / "stubs" / "cudart" / "adaptors", source)
