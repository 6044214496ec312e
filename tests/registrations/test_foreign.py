# SPDX-License-Identifier: MIT
"""Handles that this stub never gave: of a real runtime, of another copy of the stub, of nobody.

A file that is bound lazily binds each of nvcc's calls when it is made first, so one half of
them may go to the stub and the other to what became global meanwhile.
"""
import shutil

import pytest

import build
from fakes import answer, fake

CALL = str(answer("cudart", "cudaDeviceSynchronize", "12.9"))
ALL = ["__cudaRegisterFatBinary", "__cudaRegisterFunction", "__cudaRegisterFatBinaryEnd",
       "__cudaInitModule", "cudaDeviceSynchronize", "__cudaUnregisterFatBinary"]


@pytest.fixture
def run(world):
    """run(FROM) -> what was printed, and the calls that the runtime saw."""
    world.record()

    def run(stub, *words):
        lines = world.versioned("foreign", stub, "libcudart.so.12", *words)
        return lines, [call for call in world.log() if call[2] in ALL]
    return run


def copy(world, name):
    """A copy of the stub under another name, as auditwheel makes it."""
    file = world.folder(name) / f"libcudart_stub-{name}.so"
    shutil.copy(build.stub("cudart"), file)
    return file


def test_the_library_in_the_process_gave_it(world, run):
    real = world.put("anywhere", fake("cudart", "12.9")) / "libcudart.so.12"
    lines, calls = run(build.stub("cudart"), real)
    assert lines == ["1", CALL]
    assert [call[2] for call in calls] == ALL
    handle = calls[0][4]
    assert {call[3][0] for call in calls if call[2].startswith("__cuda")} == {0x1000, handle}


@pytest.mark.parametrize("installed", [True, False])
def test_nobody_here_gave_it(world, run, installed):
    if installed:
        world.loader(fake("cudart", "12.9"))
    lines, calls = run(build.stub("cudart"))
    # No library in the process can have given it before the first call: nothing is passed on.
    assert "__cudaRegisterFunction" not in [call[2] for call in calls]
    assert lines[1] == (CALL if installed else "303")


@pytest.mark.parametrize("order", [("a", "b"), ("b", "a")])
def test_another_copy_of_the_stub_gave_it(world, run, order):
    world.loader(fake("cudart", "12.9"))
    first, second = [copy(world, name) for name in order]
    lines, calls = run(first, second)
    assert lines == ["1", CALL]
    # Registered through one copy, launched through the other: the runtime knows all of it.
    assert [call[2] for call in calls] == ALL
    assert {call[3][0] for call in calls[1:4]} == {calls[0][4]} and calls[5][3][0] == calls[0][4]
    assert len({call[0] for call in calls}) == 1
