# SPDX-License-Identifier: MIT
"""Many rounds of 32 threads racing over the first call and what may come in between."""
import pytest

import build
import races


@pytest.mark.parametrize("kind", races.KINDS)
def test_rounds(world, kind):
    races.race(world, kind, races.rounds(30 if build.SANITIZER else 300))
