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


def test_without_a_library(world, program):
    assert world.run(program, "missing").out == "ok\n"


def test_with_a_library_that_lacks_what_is_asked(world, program):
    # Most code around <<<>>> asks cudaGetLastError() and nothing else.
    world.loader(fake("cudart", "11.8"))
    assert world.run(program, "present").out == "ok\n"


def test_an_error_of_the_runtime_has_the_runtimes_text(world, program):
    # Also where an earlier refusal of the stub had the same number.
    world.loader(fake("cudart", "11.8"))
    assert world.run(program, "texts").out == "ok\n"


def test_the_real_runtimes_own_errors(world, program, toolkit):
    # Without a GPU cudaGetDeviceCount fails, and the last error says so.
    world.loader(toolkit.file("cudart"))
    said = world.probe("stub:cudart", "out:cudaGetDeviceCount:4:0", "call:cudaPeekAtLastError",
                       "call:cudaGetLastError")
    assert said[1]["value"] == said[2]["value"] == said[3]["value"] == 35
