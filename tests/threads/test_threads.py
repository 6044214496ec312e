# SPDX-License-Identifier: MIT
"""The first call while another thread loads, and at odd moments."""
import pytest

import build
from fakes import answer, driver, fake

HERE = build.TESTS / "threads"
STUBS = [build.import_library(library, 12) for library in build.LIBRARIES]
@pytest.fixture
def installed(world):
    world.search(build.STUBS)
    world.loader(*[fake(library, "12.9") for library in build.LIBRARIES], driver("12.9"))
    return world


def test_a_search_during_which_another_thread_loads(installed):
    # It has seen no library in the process, and then looks for no file, because this stub
    # has one already: what it returns is no answer yet.
    program = build.program(HERE / "meanwhile.c", build.TESTS / "registrations" / "nvcc.c",
                            "-DTAG=0x1000", STUBS[0])
    said = installed.run(program, answer("cudart", "cudaDeviceSynchronize", "12.9"), check=False)
    assert len(said.lines) == 1 and said.status == 0, said
    assert int(said.out.split()[2]) > 20


# Odd moments.

def moment(name, *flags):
    return build.shared(HERE / "moments.c", *flags, STUBS[0], name=f"lib{name}.so")


@pytest.mark.parametrize("flag, commands", [
    ("CONSTRUCTOR", ["open"]), ("ATEXIT", ["open"]), ("DESTRUCTOR", ["open"]),
    ("DESTRUCTOR", ["open", "close"])])
@pytest.mark.parametrize("there", [True, False])
def test_the_first_call_from(world, flag, commands, there):
    world.search(build.STUBS)
    if there:
        world.loader(fake("cudart", "12.9"))
    library = moment(flag.lower(), f"-D{flag}")
    said = world.probe(*[f"{command}:{library}" for command in commands], timeout=30)
    number, = [line for line in said if isinstance(line, int)]
    assert number == (answer("cudart", "cudaDeviceSynchronize", "12.9") if there else 303)


def test_a_real_library_whose_constructor_calls_the_stub(world):
    # The search has not ended, and must not wait for itself.
    world.search(build.STUBS)
    world.loader(fake("cudart", "12.9", constructor=(
        'int (*again)(void) = (int (*)(void))dlsym(dlopen("libcudart_stub.so", RTLD_NOW),'
        ' "cudaGetLastError"); if (again) again();')))
    said = world.probe("stub:cudart", "call:cudaDeviceSynchronize", timeout=30)
    assert said[1]["value"] == answer("cudart", "cudaDeviceSynchronize", "12.9")


def test_a_real_library_whose_constructor_loads_another_stubs_user(world):
    world.search(build.STUBS)
    inner = moment("inner", "-DCONSTRUCTOR")
    world.loader(fake("nvrtc", "12.9", constructor=f'dlopen("{inner}", RTLD_NOW);'),
                 fake("cudart", "12.9"))
    said = world.run(build.program(build.TESTS / "linking" / "caller.c",
                                   "-DNAME=nvrtcDestroyProgram", STUBS[1]), timeout=30)
    assert said.lines == [str(answer("cudart", "cudaDeviceSynchronize", "12.9")),
                          str(answer("nvrtc", "nvrtcDestroyProgram", "12.9"))]
