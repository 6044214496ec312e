# SPDX-License-Identifier: MIT
"""A failed search is remembered: the calls after it touch nothing."""
import pytest

import build
from fakes import answer, fake
from syscalls import between, system_calls

HERE = build.TESTS / "missing"
STUBS = [build.import_library(library, 12) for library in build.STUBBED]
# In a tick of the coarse clock each stub asks ld.so at most so often.
LOOKS_A_TICK = 32
pytestmark = pytest.mark.usefixtures("stubs_found")


def test_nor_does_it_where_a_named_library_cannot_be_loaded(world, patchelf):
    # ld.so counts what it began to load: that is no reason to begin again.
    broken = world.put("named", fake("cudart", "12.9")) / "libcudart.so.12"
    patchelf("--add-needed", "libneeded.so", broken)
    program = build.program(HERE / "twice.c", STUBS[0])
    world.env["LAZYCUDA_CUDART"] = broken
    calls = system_calls(world, program)
    assert "libneeded.so" in between(calls, "first", "second")
    assert between(calls, "second", "end") == ""


def test_a_library_that_is_named_after_a_failed_search(world):
    file = world.put("named", fake("cudart", "12.9")) / "libcudart.so.12"
    stranger = build.shared(build.TESTS / "lib" / "stranger.c")
    call = "call:cudaDeviceSynchronize"
    said = world.probe("stub:cudart", call, f"setenv:LAZYCUDA_CUDART={file}", f"open:{stranger}",
                       call)
    assert said[1]["value"] == 303
    assert said[-1]["value"] == answer("cudart", "cudaDeviceSynchronize", "12.9")


def test_a_million_calls_of_four_threads_make_no_system_call(world):
    assert world.run(build.program(HERE / "storm.c", *STUBS), "sealed").status == 0


def as_libc(source):
    """With a dl_iterate_phdr() that the stubs ask: they ask no other but that of a libc.so.6."""
    return build.shared(HERE / source, name="libc.so.6")


def test_a_million_calls_seldom_ask_what_is_loaded(world):
    # ld.so answers under a lock of its own.
    count = as_libc("count.c")
    said = world.run(build.program(HERE / "storm.c", *STUBS), "ticks", LD_PRELOAD=count)
    ticks, asked = map(int, said.lines)
    searches = 4 * len(STUBS) * 10      # of four threads, each asks a few times
    assert asked <= (ticks + 2) * LOOKS_A_TICK * len(STUBS) + searches


def test_what_is_loaded_in_the_midst_of_a_storm_is_picked_up(world):
    file = world.put("torch", fake("cudart", "12.9")) / "libcudart.so.12"
    said = world.run(build.program(HERE / "storm.c", *STUBS), "appear", file)
    assert int(said.out) == answer("cudart", "cudaDeviceSynchronize", "12.9")


@pytest.mark.parametrize("failing", [0, 1, 30])
def test_what_is_loaded_after_a_few_failing_calls_serves_the_next_one(world, failing):
    # Always: not only when the clock has gone on.
    file = world.put("torch", fake("cudart", "12.9")) / "libcudart.so.12"
    call = "call:cudaDeviceSynchronize"
    for _ in range(20):
        said = world.probe("stub:cudart", *[call] * failing, f"open:{file}", "stub:cudart", call)
        assert [line["value"] for line in said[1:failing + 1]] == [303] * failing
        assert said[-1]["value"] == answer("cudart", "cudaDeviceSynchronize", "12.9")
