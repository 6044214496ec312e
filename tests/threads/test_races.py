# SPDX-License-Identifier: MIT
"""Many rounds of 32 threads racing over the first call and what may come in between."""
import pytest

import build
import races


@pytest.mark.parametrize("library, usual", [("cudart", 100), ("cuda", 30)])
@pytest.mark.parametrize("kind", races.KINDS)
def test_rounds(world, kind, library, usual):
    races.race(world, kind, races.rounds(usual // 10 if build.SANITIZER else usual), library)
