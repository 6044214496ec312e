# SPDX-License-Identifier: MIT
"""nvcc's registration calls are recorded, and replayed when CUDA is needed."""
import pytest

import build
from fakes import answer, fake
from world import probe

SOURCE = build.TESTS / "registrations" / "nvcc.c"
CALL = "cudaDeviceSynchronize"
FIRST = ["__cudaRegisterFatBinary", "__cudaRegisterFunction", "__cudaRegisterVar",
         "__cudaRegisterManagedVar", "__cudaRegisterFatBinaryEnd"]


def extension(tag=0x1000, *flags, major=12):
    """An extension as nvcc makes it."""
    return build.shared(SOURCE, f"-DTAG={tag}", *flags, build.import_library("cudart", major),
                        name=f"libext{tag:x}.so")


@pytest.fixture
def world(world):
    world.search(build.STUBS)
    world.record()
    return world


@pytest.fixture
def installed(world):
    world.loader(fake("cudart", "12.9"))
    return world


def names(calls):
    return [name for _, _, name, _, _ in calls]


def test_importing_an_extension_loads_no_cuda(installed):
    said = installed.probe(f"open:{extension()}", "libraries", "status:cudart")
    assert not [path for path in said[1]["libraries"] if "libcudart.so" in path]
    assert said[2]["state"] == "unknown"
    assert installed.log() == []


def test_they_are_replayed_in_order_before_the_first_call(installed):
    said = installed.probe(f"open:{extension()}", "call:user_call")
    assert said[1]["value"] == answer("cudart", CALL, "12.9")
    log = installed.log()
    # Unregistering at exit is the last.
    replayed = [name for name in names(log) if name.startswith("__cuda")]
    assert replayed[:5] == FIRST
    assert names(log).index(CALL) > names(log).index(FIRST[-1])


def test_handles_are_translated_and_arguments_kept(installed):
    installed.probe(f"open:{extension(0x1000)}", "call:user_call", "call:user_init")
    log = [call for call in installed.log() if call[2].startswith("__cuda")]
    binary, function, variable, managed, end, init = log[:6]
    real = binary[4]
    assert binary[3][0] == 0x1000
    assert function[3][:4] == [real, 0x1001, 0x1002, 0x1003]
    assert function[3][4] & 0xffffffff == 0xffffffff
    assert variable[3][:6] == [real, 0x1004, 0x1005, 0x1006, 0, 0x1007]
    assert managed[3][:6] == [real, 0x1008, 0x1009, 0x100a, 0, 0x100b]
    assert end[3][0] == real
    assert (init[2], init[3][0]) == ("__cudaInitModule", real)


def test_several_extensions_in_the_order_of_their_loading(installed):
    tags = [0x3000, 0x1000, 0x2000]
    installed.probe(*[f"open:{extension(tag)}" for tag in tags], "call:user_call")
    log = installed.log()
    assert [call[3][0] for call in log if call[2] == FIRST[0]] == tags
    handles = [call[4] for call in log if call[2] == FIRST[0]]
    assert len(set(handles)) == 3
    assert [call[3][0] for call in log if call[2] == FIRST[-1]] == handles
    # One after the other, not all binaries first.
    assert [name for name in names(log) if name in FIRST] == FIRST * 3


def test_one_that_comes_after_the_first_call_is_registered_at_once(installed):
    installed.probe(f"open:{extension(0x1000)}", "call:user_call", f"open:{extension(0x2000)}",
                    "call:user_call")
    log = installed.log()
    calls = [i for i, name in enumerate(names(log)) if name == CALL]
    second = [i for i, call in enumerate(log) if call[2] == FIRST[0] and call[3][0] == 0x2000]
    assert calls[0] < second[0] < calls[1]
    assert names(log)[second[0]:second[0] + 5] == FIRST


def test_a_call_in_the_middle_of_registering(installed):
    # A static constructor of the same file that uses CUDA.
    said = installed.probe(f"open:{extension(0x1000, '-DCALL_AT_START')}", "call:user_call")
    assert said[1]["value"] == answer("cudart", CALL, "12.9")
    log = installed.log()
    assert [name for name in names(log) if name in FIRST] == FIRST
    assert {call[3][0] for call in log if call[2] in FIRST[1:]} == {log[names(log).index(FIRST[0])][4]}


# Unregistering.

def test_closing_an_extension_before_the_first_call_forgets_it(installed):
    # Its fat binary is unmapped: replaying it would be a crash.
    said = installed.probe(f"open:{extension(0x1000)}", f"open:{extension(0x2000)}",
                           f"close:{extension(0x1000)}", "call:user_call")
    assert said[2]["close"] == 0
    assert [call[3][0] for call in installed.log() if call[2] == FIRST[0]] == [0x2000]


def test_closing_an_extension_after_the_first_call_unregisters_it(installed):
    installed.probe(f"open:{extension(0x1000)}", "call:user_call", f"close:{extension(0x1000)}",
                    "stub:cudart", f"call:{CALL}")
    log = installed.log()
    real = log[names(log).index(FIRST[0])][4]
    unregistered = [call for call in log if call[2] == "__cudaUnregisterFatBinary"]
    assert [call[3][0] for call in unregistered] == [real]


@pytest.mark.parametrize("world_has_cuda", [False, True])
@pytest.mark.parametrize("commands", [[], ["call:user_call", "call:user_init"]])
def test_unregistering_at_exit_works_in_every_state(world, world_has_cuda, commands):
    if world_has_cuda:
        world.loader(fake("cudart", "12.9"))
    assert world.run(probe(), f"open:{extension()}", *commands).err == ""


# Missing, and later present.

def test_an_extension_imported_before_cuda_is_there_works_afterwards(world):
    late = world.put("torch", fake("cudart", "12.9")) / "libcudart.so.12"
    said = world.probe(f"open:{extension(0x1000)}", "call:user_call", f"open:{extension(0x2000)}",
                       f"open:{late}", "call:user_call")
    assert [said[1]["value"], said[4]["value"]] == [303, answer("cudart", CALL, "12.9")]
    log = world.log()
    assert [call[3][0] for call in log if call[2] == FIRST[0]] == [0x1000, 0x2000]
    assert [name for name in names(log) if name in FIRST] == FIRST * 2


def test_a_fork_has_the_records_too(installed):
    said = installed.probe(f"open:{extension()}", "fork", "call:user_call")
    assert said[-1]["value"] == answer("cudart", CALL, "12.9")
    assert [name for name in names(installed.log()) if name in FIRST] == FIRST


def test_texture_references_on_13_are_an_error_that_is_noticed(world):
    # 12.0 dropped them: nothing to forward to, and the function returns void.
    world.loader(fake("cudart", "13.5"))
    said = world.probe(f"open:{extension(0x1000, '-DTEXTURE', major=11)}", "call:user_call", "call:cudaGetLastError")
    assert said[2]["value"] == 302


# The real thing.

def test_registering_with_a_real_library(world, toolkit):
    world.loader(toolkit.file("cudart"))
    fat = build.shared(SOURCE, "-DFAT", build.import_library("cudart", toolkit.major), name="libfat.so")
    said = world.probe(f"open:{fat}", "call:user_call", f"close:{fat}", "stub:cudart",
                       "status:cudart")
    assert said[1]["value"] == 35
    assert said[4]["version"] == toolkit.version
