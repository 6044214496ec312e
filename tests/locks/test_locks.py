# SPDX-License-Identifier: MIT
"""No lock is held across a call that leaves a stub, and strange company does no harm."""
import os

import pytest

import build
import inside
import world as worlds
from fakes import answer, fake
from world import user

HERE = build.TESTS / "locks"
CALL = "cudaDeviceSynchronize"
STUBS = [build.import_library(library, 12) for library in build.LIBRARIES]
pytestmark = pytest.mark.usefixtures("stubs_found")


@pytest.fixture
def installed(world):
    world.loader(*[fake(library, "12.9") for library in build.LIBRARIES])
    return world


@pytest.mark.parametrize("library", build.LIBRARIES)
def test_the_table_of_slots_is_written_once_with_the_lock_held(world, library):
    stub = inside.stub(library, HERE / "table.c", "-Wl,--wrap=mprotect", "-pthread")
    for version, writes in ((None, 0), ("12.9", 1)):
        if version:
            world.loader(fake(library, version))
        said = world.run(build.program(build.TESTS / "lib" / "probe.c"), f"open:{stub}",
                         *[f"call:{worlds.CALL[library]}"] * 3, "load")
        opened, unlocked, before, after = map(int, said.lines[-1].split())
        assert (opened, unlocked, before, after) == (writes, 0, 0, 0)


# Whoever the stubs call waits for another thread's CUDA call.

def reenter():
    try:
        return build.shared(HERE / "reenter.c", f"-Wl,--version-script={HERE / 'reenter.map'}",
                            *STUBS[:2])
    except build.CompileError as error:
        pytest.skip(f"cannot stand in for this libc's functions: {str(error).splitlines()[-1]}")


@pytest.mark.parametrize("registers", [False, True])
@pytest.mark.parametrize("there", [False, True])
def test_whatever_a_stub_calls_may_wait_for_a_call_of_another_thread(world, there, registers):
    if there:
        world.loader(fake("cudart", "12.9"), fake("nvrtc", "12.9"))
    kernels = [build.TESTS / "registrations" / "nvcc.c", "-DTAG=0x1000"] if registers else []
    program = build.program(HERE / "calls.c", *kernels, *STUBS[:2])
    said = world.run(program, LD_PRELOAD=reenter(), timeout=60)
    visits, *values = said.lines
    assert values == ([str(answer("cudart", CALL, "12.9")),
                       str(answer("nvrtc", "nvrtcDestroyProgram", "12.9")), "0"]
                      if there else ["303", "11", "2"])
    # It did happen.
    assert int(visits.removeprefix("reentered ")) > 10


# Constructors that wait for another thread's call, with ld.so's lock held.

def waits(library="cudart", name="waits"):
    call = {"cudart": "cudaFree", "nvrtc": "nvrtcDestroyProgram"}[library]
    return build.shared(HERE / "waits.c", f"-DNAME={call}", build.import_library(library, 12),
                        name=f"lib{name}.so")


@pytest.mark.parametrize("there", [False, True])
def test_a_constructor_may_wait_for_any_call_after_the_first(world, there):
    # Also where there is no library: that something was loaded or unloaded is no reason to
    # ask ld.so for anything, not even where a file lies that was opened by a relative path.
    if there:
        world.loader(fake("cudart", "12.9"))
    said = world.run(build.program(HERE / "opens.c", STUBS[0]), "own", "gone:libutil.so.1",
                     f"open:{os.path.relpath(waits(), world.root)}", "own")
    own, free = ((answer("cudart", name, "12.9") for name in (CALL, "cudaFree")) if there
                 else (303, 303))
    assert said.lines == [str(own), str(free), str(own)]


@pytest.mark.parametrize("library", ["cudart", "nvrtc"])
def test_one_that_waits_for_the_first_call_waits_in_vain_and_holds_up_no_other(installed, library):
    # The first call has to load the library, which ld.so does not do meanwhile.
    said = installed.run(build.program(HERE / "opens.c", STUBS[0]), f"open:{waits(library)}", "own",
                         timeout=30)
    assert said.lines == ["not yet", str(answer("cudart", CALL, "12.9"))]


@pytest.mark.parametrize("library", ["cudart", "nvrtc"])
def test_a_real_library_whose_constructor_waits_for_a_call(world, library):
    world.loader(fake("nvrtc", "12.9"), fake(
        "cudart", "12.9", constructor=f'dlopen("{waits(library)}", RTLD_NOW);'))
    said = world.run(build.program(HERE / "opens.c", STUBS[0]), "own", "own", timeout=30)
    assert said.lines == ["not yet", *[str(answer("cudart", CALL, "12.9"))] * 2]


# ld.so's own ways to be strange.

def opens():
    return build.program(HERE / "opens.c", STUBS[0])


@pytest.mark.parametrize("calls", [False, True])
def test_an_audit_library(installed, calls):
    audit = build.shared(HERE / "audit.c", *["-DCALLS"] * calls)
    said = installed.run(opens(), "own", "own", LD_AUDIT=audit, timeout=60)
    value = str(answer("cudart", CALL, "12.9"))
    # With one more search within the first: what it finds is used.
    assert said.lines[:2] == ["opened libcudart.so.12", "looked up cudaMalloc"]
    within = [line for line in said.lines if line.startswith("within")]
    assert within == ([f"within: {value}"] if calls else [])
    assert said.lines[-2:] == [value, value]


@pytest.mark.parametrize("real", [None, "deep"])
def test_deep_binding(installed, real):
    file = installed.put("torch", fake("cudart", "12.8")) / "libcudart.so.12"
    words = [f"{real}:{file}"] if real else []
    said = installed.run(opens(), *words, f"deep:{user()}", "call", "own")
    assert said.lines == [str(answer("cudart", CALL, "12.8" if real else "12.9"))] * 2


@pytest.fixture
def namespaces(world):
    """Debian 11's dlopen() ends the process instead of failing in a namespace of dlmopen()."""
    said = world.run(opens(), f"space:{build.shared(HERE / 'fails.c')}", "call", check=False)
    if said.status:
        pytest.skip(f"no dlopen() may fail in a namespace here: {said.err.strip()}")
    assert said.lines == ["0"]


@pytest.mark.parametrize("first", [[], ["own"]])
def test_a_namespace_of_its_own_has_a_stub_of_its_own(namespaces, installed, first):
    # What dlmopen() gives is another process as far as libraries go.
    value = str(answer("cudart", CALL, "12.9"))
    said = installed.run(opens(), *first, f"space:{user()}", "state", "call", "state", "own")
    assert said.lines == [*[value] * len(first), "0", value, "1", value]
