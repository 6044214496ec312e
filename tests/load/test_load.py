# SPDX-License-Identifier: MIT
"""Loading the stubs opens no file, starts no thread and no CUDA."""
import re
import shutil

import pytest

import build
from fakes import fake
from syscalls import between, files_opened, system_calls

SOURCE = build.TESTS / "load" / "loads.c"


three_and_the_drivers = pytest.mark.parametrize(
    "names", [[], [build.stub_name(library) for library in build.DRIVER]], ids=["three", "drivers"])


@pytest.fixture
def full(world):
    """A machine with everything, so that there is something to find."""
    world.loader(*[fake(library, "13.5") for library in build.STUBBED])
    world.search(build.STUBS)
    world.record()
    return world


@three_and_the_drivers
def test_loading_opens_nothing_but_the_stubs(full, names):
    calls = between(system_calls(full, build.program(SOURCE), "dlopen", *names), "begin", "end")
    assert not re.search(r"\b(clone3?|v?fork|socket|readlink|getdents64)\(", calls)
    opened = files_opened(calls)
    assert len([path for path in opened if path.endswith("_stub.so")]) == (len(names) or 3)
    rest = [path for path in opened if not path.endswith("_stub.so")]
    # libdl may come with them; ld.so's cache leads to it.
    assert all(re.search(r"/libdl\.so\.2$|/ld\.so\.cache$", path) for path in rest), rest
    # ld.so reads the beginning of the stubs themselves, where their notes are.
    asked = re.sub(r"^.*\bread\(.*$", "", calls, flags=re.M)
    assert not re.search(r"lib(cudart\.so\.13|cuda\.so|nvidia-ml\.so)", asked)


def test_linked_stubs_do_nothing_before_main_and_after_it(full):
    # Relocating against them and running exit handlers call nothing either.
    linked = build.program(SOURCE, "-DLINKED", *[build.import_library(library, 12)
                                                 for library in build.LIBRARIES])
    calls = system_calls(full, linked, "nothing")
    opened = files_opened(calls)
    assert any(path.endswith("libcudart_stub.so") for path in opened)
    assert not [path for path in opened if ".so.13" in path or "libcuda.so" in path
                or path.startswith("/proc") or path.startswith("/sys")]
    assert not re.search(r"\b(clone3?|v?fork)\(", calls)
    assert full.log() == []


@three_and_the_drivers
def test_loading_takes_little_memory(full, names):
    # Before the first call: what is relocated, and pages that were read for that; and what the
    # kernel maps around the constructor and around its entry in the PLT, 64 KiB each, if it has them.
    stubs = len(names) or 3
    assert 0 < int(full.run(build.program(SOURCE), "memory", *names).out) < 256 + 128 * stubs


@pytest.mark.skipif(build.SANITIZER is not None, reason="a sanitizer takes room itself")
def test_stubs_leave_the_room_for_threads_variables_to_others(world):
    # All libraries that are opened share 1,664 bytes, as far as they want them at a fixed place.
    library = build.shared(build.TESTS / "load" / "of_thread.c")
    copies = [shutil.copy(library, world.folder("copies") / f"{i}.so") for i in range(20)]
    opens = [f"open:{copy}" for copy in copies]
    stubs = [f"open:{stub}" for stub in sorted(build.STUBS.glob("lib*_stub.so"))]
    alone, after = (sum(said["error"] is None for said in world.probe(*words)[-len(copies):])
                    for words in (opens, stubs + opens))
    assert 0 < alone == after < len(copies)


@pytest.mark.parametrize("value", ["1", "yes"])
def test_an_eager_stub_that_finds_nothing_says_nothing(world, value):
    world.search(build.STUBS)
    said = world.run(build.program(SOURCE), "dlopen", LAZYCUDA_EAGER=value)
    assert "lazycuda" not in said.err and "LAZYCUDA" not in said.err
