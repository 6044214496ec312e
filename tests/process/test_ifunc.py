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


def said(world, program, **options):
    lines = world.run(program, **options).lines
    return [int(word) for word in lines[0].split()], lines[1:4], lines[4:6], [
        int(word) for word in lines[6].split()]


def test_it_is_refused_and_nothing_is_remembered(world, program, binding):
    world.loader(fake("cudart", "12.9"), driver("12.9"))
    (pick, status, count, last, load, version), texts, after, later = said(world, program)
    assert later == [0, answer("cudart", CALL, "12.9")]
    if status == 0:      # bound lazily, in a library: it is called by main()
        assert binding == "-Wl,-z,lazy" and load == 0 and version == 12090
        return
    assert (pick, status, count, last, load, version) == (2, 303, 0, 303, 1, 0)
    assert "before the process was set up" in texts[1]
    assert texts[2] == "no call has been made yet"
    assert after == ["0", "no call was refused"]


def test_a_library_that_is_opened_later(world, binding):
    # ld.so is in the midst of a dlopen(); all else is set up.
    world.loader(fake("cudart", "12.9"), driver("12.9"))
    library = build.shared(SOURCE, "-DLIBRARY", binding, build.stub("cudart"))
    world.search(build.STUBS)
    said = world.probe(f"open:{library}", "call:pick", "stub:cudart",
                       f"call:{CALL}@libcudart.so.12")
    assert said[0]["error"] is None and said[1]["value"] in (1, 2)
    assert said[-1]["value"] == answer("cudart", CALL, "12.9")
