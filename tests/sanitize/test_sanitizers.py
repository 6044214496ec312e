# SPDX-License-Identifier: MIT
"""The stubs built with sanitizers, driven through what they do."""
import random

import pytest

import build
from fakes import DAMAGES, answer, builtins, driver, fake, nvml
from world import probe

ADDRESS = "-fsanitize=address,undefined -fno-sanitize-recover=all"
THREAD = "-fsanitize=thread"
OPTIONS = {"ASAN_OPTIONS": "detect_leaks=0:abort_on_error=0", "UBSAN_OPTIONS": "print_stacktrace=1",
           "TSAN_OPTIONS": "halt_on_error=1:exitcode=66:suppressions="
                           f"{build.TESTS / 'sanitize' / 'thread.supp'}"}


def sanitized(name, flags):
    """Build the stubs with these flags; skips where the compiler cannot."""
    try:
        build.compile("sanitizes", *flags.split(), build.TESTS / "sanitize" / "works.c")
    except build.CompileError as error:
        pytest.skip(f"the compiler has no {flags}: {str(error).splitlines()[-1]}")
    folder = build.BUILD / "tests" / name
    build.make(f"BUILD={folder}", f"CFLAGS=-g -O1 {flags}", f"LDFLAGS={flags}")
    return folder / "lib"


@pytest.fixture
def address(world):
    world.stubs = sanitized("asan", ADDRESS)
    world.cc = [*build.CC, *ADDRESS.split()]
    world.env.update(OPTIONS)
    world.search(world.stubs)
    return world


@pytest.fixture
def thread(world):
    world.stubs = sanitized("tsan", THREAD)
    world.env.update(OPTIONS)
    world.search(world.stubs)
    return world


def clean(said):
    assert "Sanitizer" not in said.err and "runtime error" not in said.err, said.err


def run(world, *words):
    clean(world.run(probe(world.cc), *words))


def opened(world):
    return [f"open:{build.stub(library, world.stubs)}" for library in build.STUBBED]


EVERYTHING = ["load", *[f"status:{library}" for library in build.STUBBED], "driver", "guard",
              "call:cudaProfilerInitialize", "call:cudaMemAdvise@libcudart.so.12",
              "text:cudaGetErrorString:303", "text:cudaGetErrorString:801",
              "text:cudaGetErrorName:303", "text:nvrtcGetErrorString:11",
              "call:cuInit", "call:nvmlInit_v2", "text:nvmlErrorString:12",
              "out:cuGetErrorString:8:1", "out:cuGetProcAddress_v2:8:1:4",
              *[f"error:{library}" for library in build.STUBBED], "call:cudaGetLastError",
              "out:cudaGetDeviceProperties@libcudart.so.13:1100:0", "out:nvrtcVersion:4:0:1"]


def test_nothing_there(address):
    run(address, *opened(address), *EVERYTHING)


@pytest.mark.parametrize("version", ["11.8", "12.9", "13.5"])
def test_one_version(address, version):
    address.loader(*[fake(library, version) for library in build.LIBRARIES
                     if (library, version) != ("nvJitLink", "11.8")], builtins(version),
                   driver("13.5"), nvml("590.1"))
    run(address, *opened(address), *EVERYTHING, "call:nvrtcCompileProgram")


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_files(address, damage):
    damage(address.loader(folder="bad") / "libcudart.so.13", fake("cudart", "13.5"))
    address.loader(fake("cudart", "12.9"), folder="good")
    run(address, *opened(address), *EVERYTHING)


@pytest.mark.parametrize("size", [0, 1, 15, 16, 63, 64, 65, 120, 500, 3000, 8000, 20000, 40000])
def test_cut_off_files(address, size):
    whole = fake("cudart", "13.5").read_bytes()
    (address.loader(folder="bad") / "libcudart.so.13").write_bytes(whole[:size])
    run(address, *opened(address), *EVERYTHING)


@pytest.mark.parametrize("seed", range(40))
def test_damaged_bytes(address, seed):
    # What the search reads of a file it does not trust.
    dice = random.Random(seed)
    whole = bytearray(fake("cudart", "13.5").read_bytes())
    for _ in range(dice.choice([1, 4, 30])):
        whole[dice.randrange(dice.choice([64, 1024, len(whole)]))] = dice.randrange(256)
    path = address.folder("bad") / "libcudart.so.13"
    path.write_bytes(whole)
    # Only looked at: ld.so itself may not survive loading it.
    address.loader(fake("cudart", "13.5"), folder="good")
    address.search(path.parent)
    run(address, *opened(address), *EVERYTHING)


def test_long_and_odd_environments(address):
    long = "/".join(["", *["x" * 200] * 30])
    odd = ":".join(["", ".", "//", "/" * 5000, long, "$ORIGIN", "${LIB}", "/a\x01b"])
    for name in ("LD_LIBRARY_PATH", "CUDA_PATH", "CUDA_HOME", "CONDA_PREFIX", "LAZYCUDA_CUDART",
                 "LAZYCUDA_GUARD", "LAZYCUDA_MAJOR"):
        value = f"{address.stubs}:{odd}" if name == "LD_LIBRARY_PATH" else odd
        clean(address.run(probe(address.cc), *opened(address), *EVERYTHING, **{name: value}))


def test_registrations(address):
    address.loader(fake("cudart", "12.9"))
    first, second = (build.shared(
        build.TESTS / "registrations" / "nvcc.c", f"-DTAG={tag}",
        build.import_library("cudart", 12, address.stubs), name=f"libext{tag}.so")
        for tag in (0x1000, 0x2000))
    run(address, f"open:{first}", f"open:{second}", f"close:{first}", "call:user_call",
        f"open:{first}", "call:user_init", f"close:{second}")


@pytest.mark.parametrize("there", [True, False])
def test_sixteen_threads_without_a_data_race(thread, there):
    race = build.program(build.TESTS / "threads" / "race.c", *THREAD.split(), *[
        build.import_library(library, 12, thread.stubs) for library in build.LIBRARIES])
    if there:
        thread.loader(*[fake(library, "12.9") for library in build.LIBRARIES])
    for _ in range(3):
        said = thread.run(race, check=False, timeout=120)
        if "unexpected memory mapping" in said.err:
            pytest.skip("ThreadSanitizer cannot run with this kernel's address space layout")
        clean(said)
        assert said.status == 0
        assert said.lines[0] == str(
            answer("cudart", "cudaDeviceSynchronize", "12.9") if there else 303)


@pytest.mark.parametrize("there", [True, False])
def test_the_drivers_stubs_without_a_data_race(thread, there):
    race = build.program(build.TESTS / "driver" / "race.c", *THREAD.split(), *[
        build.import_library(library, 12, thread.stubs) for library in build.DRIVER])
    if there:
        thread.loader(*[fake(library, "12.9") for library in build.DRIVER])
    for _ in range(3):
        said = thread.run(race, check=False, timeout=120)
        if "unexpected memory mapping" in said.err:
            pytest.skip("ThreadSanitizer cannot run with this kernel's address space layout")
        clean(said)
        assert said.lines[0] == str(answer("cuda", "cuCtxSynchronize", "12.9") if there else 34)
