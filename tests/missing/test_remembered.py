# SPDX-License-Identifier: MIT
"""A failed search is remembered: the calls after it touch nothing."""
import build
from syscalls import between, system_calls


def test_the_second_call_opens_no_file(world):
    program = build.program(build.TESTS / "missing" / "twice.c", build.import_library("cudart", 12))
    world.search(build.STUBS)
    calls = system_calls(world, program)
    assert "libcudart" in between(calls, "first", "second")
    assert between(calls, "second", "end") == ""
