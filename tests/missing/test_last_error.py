# SPDX-License-Identifier: MIT
"""cudaGetLastError gives back what the stub refused, thread by thread."""
import pytest

import build
from fakes import fake

SOURCE = build.TESTS / "missing" / "last_error.c"


@pytest.fixture
def program(world):
    world.search(build.STUBS)
    return build.program(SOURCE, build.import_library("cudart", 13))


@pytest.mark.parametrize("mode", ["missing", "present", "texts"])
def test_an_error_is_given_back(world, program, mode):
    # Most code around <<<>>> asks cudaGetLastError() and nothing else.
    if mode != "missing":
        world.loader(fake("cudart", "11.8"))
    assert world.run(program, mode).out == "ok\n"


def test_the_real_runtimes_own_errors(world, program, toolkit):
    # Without a GPU cudaGetDeviceCount fails, and the last error says so.
    world.loader(toolkit.file("cudart"))
    said = world.probe("stub:cudart", "out:cudaGetDeviceCount:4:0", "call:cudaPeekAtLastError",
                       "call:cudaGetLastError")
    assert said[1]["value"] == said[2]["value"] == said[3]["value"] == 35
