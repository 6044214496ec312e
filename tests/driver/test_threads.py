# SPDX-License-Identifier: MIT
"""The first call of the driver's stubs from many threads."""
import pytest

import build
from fakes import answer, fake
from world import CALL, MISSING

SOURCE = build.TESTS / "driver" / "race.c"
STUBS = [build.import_library(library, 12) for library in build.DRIVER]


@pytest.mark.parametrize("there", [True, False])
def test_sixteen_threads_race_for_the_first_call(world, there):
    world.search(build.STUBS)
    if there:
        world.loader(*[fake(library, "12.9") for library in build.DRIVER])
    wanted = [str(answer(library, CALL[library], "12.9") if there else MISSING[library])
              for library in build.DRIVER]
    program = build.program(SOURCE, *STUBS)
    for _ in range(20):
        assert world.run(program, timeout=30).lines == wanted
