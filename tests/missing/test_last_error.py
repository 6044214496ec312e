# SPDX-License-Identifier: MIT
"""cudaGetLastError gives back what the stub refused, thread by thread."""
import pytest

import build
from fakes import fake

# (versioned.py's step, what it says)
STEPS = {
    "missing": """peek=0 get=0 count=35 other:peek=0 other:get=0 peek=35 get=35 get=0
                  other:advise=303 peek=0""",
    # Refused: compiled for 13, runs on 11.
    "refused": """get=0 advise=801 peek=801 other:peek=0 other:get=0 get=801 get=0
                  other:advise=801 get=0 other:peek=801 other:ours=1 other:get=801 other:get=0""",
    "the runtime's own": "set:3=101 peek=101 get=101 get=0",
    # The stub refused since, so the stub's comes first.
    "both": "set:3=101 advise=801 get=801 get=101 get=0",
    # Clears nothing, as with the real one.
    "success": "advise=801 succeed=0 peek=801 other:advise=801 get=801",
    # Whose text an error gets that both have.  Another error of the runtime is not this one, and no
    # error is none.
    "texts": """advise=801 ours=1 get=801 ours=1 set:1=101 ours=1 set:0=0 ours=1
                set:801=801 ours=0 get=801 ours=0 advise=801 ours=1"""}


@pytest.mark.parametrize("what", STEPS)
def test_an_error_is_given_back(world, what):
    # Most code around <<<>>> asks cudaGetLastError() and nothing else.
    if what != "missing":
        world.loader(fake("cudart", "11.8"))
    steps = [step.rpartition("=") for step in STEPS[what].split()]
    said = world.versioned("errors", build.stub("cudart"), "libcudart.so.13",
                           *(step for step, _, _ in steps))
    assert said == [value for _, _, value in steps]


def test_the_real_runtimes_own_errors(world, toolkit):
    # Without a GPU cudaGetDeviceCount fails, and the last error says so.
    world.loader(toolkit.file("cudart"))
    said = world.probe("stub:cudart", "out:cudaGetDeviceCount:4:0", "call:cudaPeekAtLastError",
                       "call:cudaGetLastError")
    assert said[1]["value"] == said[2]["value"] == said[3]["value"] == 35
