# SPDX-License-Identifier: MIT
"""A call that the resolver of an IFUNC makes while the program is loaded.

libc has no locale then, no environment, and nothing thread-local.  The real library
comes through; so a stub has to.
"""
import pytest

import build
from fakes import answer, driver, fake

SOURCE = build.TESTS / "process" / "ifunc.c"
CALL = "cudaDeviceSynchronize"
BINDINGS = ("now", "lazy")


@pytest.fixture(scope="module", params=BINDINGS)
def binding(request):
    return f"-Wl,-z,{request.param}"


@pytest.fixture(params=["program", "library"])
def program(request, world, binding):
    """Whose resolver lies in itself, or in a library of its own."""
    stub = build.stub("cudart")
    world.search(build.STUBS)
    if request.param == "program":
        return build.program(SOURCE, binding, stub)
    library = build.shared(SOURCE, "-DLIBRARY", binding, stub)
    world.search(library.parent)
    return build.program(SOURCE, "-DUSER", binding, library, stub)


def test_it_is_refused_and_nothing_is_remembered(world, program, binding):
    world.loader(fake("cudart", "12.9"), driver("12.9"))
    first, message, after, later = world.run(program).lines
    assert later == f"0 {answer('cudart', CALL, '12.9')}"
    pick, status, *rest = map(int, first.split())
    if status == 0:      # bound lazily, in a library: it is called by main()
        assert binding == "-Wl,-z,lazy" and rest[-1] == 0
        return
    assert (pick, status, *rest) == (2, 303, 0, 303, 1)
    assert "before the process was set up" in message and after == "0 no call was refused"


def test_a_library_that_is_opened_later(world, binding):
    # ld.so is in the midst of a dlopen(); all else is set up.
    world.loader(fake("cudart", "12.9"), driver("12.9"))
    library = build.shared(SOURCE, "-DLIBRARY", binding, build.stub("cudart"))
    world.search(build.STUBS)
    said = world.probe(f"open:{library}", "call:pick", "stub:cudart",
                       f"call:{CALL}@libcudart.so.12")
    assert said[0]["error"] is None and said[1]["value"] in (1, 2)
    assert said[-1]["value"] == answer("cudart", CALL, "12.9")
