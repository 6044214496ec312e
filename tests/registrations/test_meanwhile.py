# SPDX-License-Identifier: MIT
"""Files are closed, threads are cancelled and calls are left while the first call is made."""
import os

import pytest

import build
from fakes import answer, fake

FOLDER = build.TESTS / "registrations"
CALL = str(answer("cudart", "cudaDeviceSynchronize", "12.9"))
REGISTER, UNREGISTER = "__cudaRegisterFatBinary", "__cudaUnregisterFatBinary"
ROUNDS = int(os.environ.get("RACE_ROUNDS", "3"))


@pytest.fixture
def run(world):
    """run(KIND, extensions) -> what the program printed, and [(name, handle)] of what the
    runtime was told."""
    world.search(build.STUBS)
    world.record()
    world.loader(fake("cudart", "12.9"))
    program = build.program(FOLDER / "meanwhile.c", "-rdynamic", build.import_library("cudart", 12))
    extensions = [build.shared(FOLDER / "nvcc.c", "-DOWN=0x30000", build.import_library("cudart", 12),
                               name=f"libclosed{number}.so") for number in (1, 2)]

    def run(kind, count=2):
        (world.root / "fake.log").unlink(missing_ok=True)
        printed = world.run(program, kind, *extensions[:count]).lines
        told = [(name, result if name == REGISTER else arguments[0])
                for _, _, name, arguments, result in world.log()
                if name in (REGISTER, UNREGISTER)]
        return printed, told
    return run


def unregistered(told):
    return [handle for name, handle in told if name == UNREGISTER]


@pytest.mark.parametrize("kind", ["being", "done"])
def test_closed_by_another_thread(run, kind):
    for _ in range(ROUNDS):
        printed, told = run(kind)
        assert printed[0] == CALL
        # The runtime reads a file's fat binary until it is told that the file goes.
        assert unregistered(told)[0] == told[0][1]
        assert sorted(unregistered(told)) == sorted(set(unregistered(told)))


def test_closed_when_the_slots_could_not_be_written(run):
    printed, told = run("unwritten")
    assert printed[:2] == ["303", CALL]
    assert [name for name, _ in told[:3]] == [REGISTER, REGISTER, UNREGISTER]
    assert told[2][1] == told[0][1]


def test_closed_by_the_library_itself(run):
    printed, told = run("itself")
    assert printed[0] == CALL
    # It hears of that once it has given a handle.
    assert [name for name, _ in told[:2]] == [REGISTER, UNREGISTER] and told[0][1] == told[1][1]


# ---- leaving early ----

def test_a_thread_is_cancelled_after_what_the_stub_does_in_it(run):
    # The library's function is the next cancellation point.
    printed, told = run("cancel")
    assert printed == ["cancelled", CALL, "0 naps", "0 naps"]
    assert [name for name, _ in told[:2]] == [REGISTER, REGISTER]


@pytest.mark.parametrize("kind", ["jump", "version"])
def test_a_library_that_leaves_by_longjmp(run, kind):
    # The call after that is made, and fork() waits for nobody.
    assert run(kind)[0] == ["left", CALL, "0 naps", "0 naps"]


def test_a_thread_that_never_comes_back_is_waited_for_once(run):
    left, first, second = run("lost")[0]
    assert (left, second) == ("left", "0 naps") and int(first.split()[0]) > 1000


def test_a_new_process_without_the_thread_that_registers(run):
    printed, told = run("forked")
    assert printed[:2] == [CALL, "0 naps"]
    # It begins anew with the one that was cut short.
    assert [name for name, _ in told[:4]] == [REGISTER] * 2 + [UNREGISTER] * 2
    assert unregistered(told)[:2] == [told[0][1], told[1][1]]


def test_one_that_comes_back_late_counts_no_more(run):
    first, refused, *rest = run("late")[0]
    assert int(first.split()[0]) > 1000 and refused == "303" and CALL in rest
    # Another thread holds the stub's lock: fork() waits for that one.
    assert any(0 < int(line.split()[0]) < 1000 for line in rest if line.endswith("naps"))
