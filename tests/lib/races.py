# SPDX-License-Identifier: MIT
"""Rounds of 32 threads racing: threads/rounds.c.

RACE_ROUNDS says how many of each kind; `make test-races` sets it.
"""
import os

import build
from fakes import answer, fake
from world import CALL

KINDS = ("first", "appears", "closes", "forks")
SECONDS_A_ROUND = 2     # on a machine that has other things to do


def rounds(usual, part=1):
    """How many, or a part of what is asked for where they take long."""
    asked = int(os.environ.get("RACE_ROUNDS") or 0)
    return max(asked // part, 1) if asked else usual


def race(world, kind, count, library="cudart"):
    """That many rounds with the world's own stubs, of the runtime or of the driver."""
    stub = build.import_library(library, 12, world.stubs)
    more = {"cudart": [build.TESTS / "registrations" / "nvcc.c", "-DTAG=0x1000"],
            "cuda": ["-DDRIVER"]}[library]
    program = build.program(build.TESTS / "threads" / "rounds.c", *more, stub, cc=world.cc)
    extension = build.shared(build.TESTS / "lib" / "user.c", f"-DCALLS={CALL[library]}", stub,
                             cc=world.cc)
    real = fake(library, "12.9", cc=world.cc)
    file = (world.put("torch", real) if kind == "appears" else world.loader(real)) / real.name
    world.search(world.stubs)
    said = world.run(program, kind, count, answer(library, CALL[library], "12.9"), file,
                     extension, check=False, timeout=60 + count * SECONDS_A_ROUND)
    # qemu-user may hang in a lock of its own after a fork(): it is not told apart
    # from a process that hears no alarm, which no process on a real machine is.
    lines = [line for line in said.lines if not (world.prefix and line.endswith("deaf"))]
    assert lines == [f"{count} rounds"], said
    assert said.status == 0
