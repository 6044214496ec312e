# SPDX-License-Identifier: MIT
"""The first call from many threads, around fork, and at odd moments."""
import pytest

import build
from fakes import answer, driver, fake
from world import user

HERE = build.TESTS / "threads"
STUBS = [build.import_library(library, 12) for library in build.LIBRARIES]
EXPECTED = [("cudart", "cudaDeviceSynchronize"), ("cudart", "cudaFree"),
            ("nvrtc", "nvrtcDestroyProgram"), ("nvJitLink", "nvJitLinkDestroy")]


@pytest.fixture
def installed(world):
    world.search(build.STUBS)
    world.loader(*[fake(library, "12.9") for library in build.LIBRARIES], driver("12.9"))
    return world


def expected(version="12.9"):
    return [str(answer(library, name, version)) for library, name in EXPECTED] + ["0"]


def test_sixteen_threads_race_for_the_first_call(installed):
    program = build.program(HERE / "race.c", *STUBS)
    for _ in range(40):
        assert installed.run(program, timeout=30).lines == expected()


def test_sixteen_threads_race_where_there_is_nothing(world):
    world.search(build.STUBS)
    program = build.program(HERE / "race.c", *STUBS)
    for _ in range(40):
        assert world.run(program, timeout=30).lines == ["303", "303", "11", "6", "0"]


def test_a_race_with_a_thread_that_loads_and_unloads(installed):
    # A dlopen() inside dl_iterate_phdr(), which holds a lock, deadlocks with one in another
    # thread.  So does AddressSanitizer's look for a function's fake stack, which takes the same
    # lock as dlopen().
    program = build.program(HERE / "race.c", *STUBS)
    strangers = [build.shared(build.TESTS / "lib" / "stranger.c", f"-Dstranger=stranger{i}",
                              name=f"libstranger{i}.so") for i in range(4)]
    for _ in range(25):
        assert installed.run(program, *strangers, timeout=30,
                             ASAN_OPTIONS="detect_stack_use_after_return=0").lines == expected()


def test_a_race_with_registrations_pending(installed):
    # Every thread finds them replayed before its own call.
    installed.record()
    program = build.program(HERE / "race.c", build.TESTS / "registrations" / "nvcc.c",
                            "-DTAG=0x1000", *STUBS)
    for _ in range(10):
        (installed.root / "fake.log").unlink(missing_ok=True)
        assert installed.run(program, timeout=30).lines == expected()
        names = [name for _, _, name, _, _ in installed.log()]
        assert names.count("__cudaRegisterFatBinary") == 1
        last = max(i for i, name in enumerate(names) if name.startswith("__cudaRegister"))
        first = min(i for i, name in enumerate(names) if name in ("cudaFree", "cudaDeviceSynchronize"))
        assert last < first


def test_a_search_during_which_another_thread_loads(installed):
    # It has seen no library in the process, and then looks for no file, because this stub
    # has one already: what it returns is no answer yet.
    program = build.program(HERE / "meanwhile.c", build.TESTS / "registrations" / "nvcc.c",
                            "-DTAG=0x1000", STUBS[0])
    said = installed.run(program, answer("cudart", "cudaDeviceSynchronize", "12.9"), check=False)
    assert len(said.lines) == 1 and said.status == 0, said
    assert int(said.out.split()[2]) > 20


@pytest.mark.parametrize("mode", ["before", "after"])
def test_fork(installed, mode):
    program = build.program(HERE / "forks.c", STUBS[0])
    value = answer("cudart", "cudaDeviceSynchronize", "12.9")
    assert installed.run(program, mode).out == f"{value} {value}\n"


@pytest.mark.parametrize("mode", ["before", "after"])
def test_fork_where_there_is_nothing(world, mode):
    world.search(build.STUBS)
    assert world.run(build.program(HERE / "forks.c", STUBS[0]), mode).out == "303 303\n"


@pytest.mark.parametrize("microseconds", [0, 50, 100, 200, 300, 500, 1000, 2000])
def test_fork_during_the_first_call(installed, microseconds):
    # The child must neither hang on a lock that its parent's thread held nor
    # see a table half filled.
    program = build.program(HERE / "forks.c", STUBS[0])
    value = answer("cudart", "cudaDeviceSynchronize", "12.9")
    for _ in range(5):
        assert installed.run(program, microseconds, timeout=40).out == f"{value} {value}\n"


def test_fork_while_the_library_is_being_loaded(world):
    # The same at a known moment: the library's constructor takes its time.
    world.search(build.STUBS)
    world.loader(fake("cudart", "12.9", constructor="usleep(300000);"))
    program = build.program(HERE / "forks.c", STUBS[0])
    value = answer("cudart", "cudaDeviceSynchronize", "12.9")
    assert world.run(program, 100000, timeout=40).out == f"{value} {value}\n"


# Odd moments.

def moment(name, *flags):
    return build.shared(HERE / "moments.c", *flags, STUBS[0], name=f"lib{name}.so")


@pytest.mark.parametrize("flag, commands", [
    ("CONSTRUCTOR", []), ("ATEXIT", []), ("DESTRUCTOR", []), ("DESTRUCTOR", ["-"])])
@pytest.mark.parametrize("there", [True, False])
def test_the_first_call_from(world, flag, commands, there):
    world.search(build.STUBS)
    if there:
        world.loader(fake("cudart", "12.9"))
    said = world.run(build.program(HERE / "opens.c"), moment(flag.lower(), f"-D{flag}"), *commands,
                     timeout=30)
    assert int(said.out) == (answer("cudart", "cudaDeviceSynchronize", "12.9") if there else 303)


def test_the_first_call_from_a_constructor_of_the_program_itself(world):
    world.search(build.STUBS)
    world.loader(fake("cudart", "12.9"))
    program = build.program(HERE / "opens.c", HERE / "moments.c", "-DCONSTRUCTOR", STUBS[0])
    assert int(world.run(program).out) == answer("cudart", "cudaDeviceSynchronize", "12.9")


def test_a_nested_dlopen(world):
    # A constructor dlopens a library whose constructor makes the first call.
    world.search(build.STUBS)
    world.loader(fake("cudart", "12.9"))
    inner = moment("inner", "-DCONSTRUCTOR")
    outer = build.shared(HERE / "nested.c", f"-DINNER=\"{inner}\"")
    said = world.run(build.program(HERE / "opens.c"), outer, timeout=30)
    assert int(said.out) == answer("cudart", "cudaDeviceSynchronize", "12.9")


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


def test_closing_a_user_leaves_the_stub_working(world):
    world.search(build.STUBS)
    world.loader(fake("cudart", "12.9"))
    value = answer("cudart", "cudaDeviceSynchronize", "12.9")
    said = world.probe(*[f"open:{user()}", "call:user_call", f"close:{user()}"] * 3,
                       "stub:cudart", "call:cudaDeviceSynchronize")
    assert [line["value"] for line in said if "value" in line] == [value] * 4


def test_closing_a_user_before_its_first_call(world):
    world.search(build.STUBS)
    world.loader(fake("cudart", "12.9"))
    said = world.probe(f"open:{user()}", f"close:{user()}", f"open:{user()}", "call:user_call")
    assert said[-1]["value"] == answer("cudart", "cudaDeviceSynchronize", "12.9")


def test_closing_who_loaded_the_real_library(world):
    # It is in use by the stub: it must not be unmapped under it.
    world.search(build.STUBS)
    file = world.put("torch", fake("cudart", "12.9")) / "libcudart.so.12"
    said = world.probe(f"open:{file}", "stub:cudart", "call:cudaDeviceSynchronize",
                       f"close:{file}", "call:cudaDeviceSynchronize")
    assert said[2]["value"] == said[4]["value"] == answer("cudart", "cudaDeviceSynchronize", "12.9")
