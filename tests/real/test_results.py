# SPDX-License-Identifier: MIT
"""13.0 added result codes: callers compiled for 12 get those that 12 has."""
import pytest

import build


@pytest.mark.parametrize("compiled_for, codes", [
    # INCOMPATIBLE_OPTIONS, UNRECOGNIZED_ARCH, success, INCORRECT_INPUT_TYPE.
    (13, [11, 16, 0, 12]), (12, [3, 1, 0, 3])])
def test_a_caller_on_13_gets_the_codes_that_its_own_has(world, real, compiled_for, codes):
    world.loader(real("13.5").file("nvJitLink"))
    said = world.versioned("results", build.stub("nvJitLink"), f"libnvJitLink.so.{compiled_for}")
    assert [int(line) for line in said] == codes
