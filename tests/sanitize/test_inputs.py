# SPDX-License-Identifier: MIT
"""Damaged files and odd environments, for the sanitizers above all: a process
does everything that it can, and ends well."""
import random

import pytest

import build
from fakes import builtins, driver, fake, nvml

EVERYTHING = ["load", *[f"status:{library}" for library in build.STUBBED], "driver", "guard",
              "call:cudaUnbindTexture", "call:cudaMemAdvise@libcudart.so.12",
              "text:cudaGetErrorString:303", "text:cudaGetErrorString:801",
              "text:cudaGetErrorName:303", "text:nvrtcGetErrorString:11",
              "call:cuInit", "call:nvmlInit_v2", "text:nvmlErrorString:12",
              "out:cuGetErrorString:8:1", "out:cuGetProcAddress_v2:8:1:4",
              *[f"error:{library}" for library in build.STUBBED], "call:cudaGetLastError",
              "out:cudaGetDeviceProperties@libcudart.so.13:1100:0", "out:nvrtcVersion:4:0:1"]


def run(world, *more, **env):
    world.probe(*[f"stub:{library}" for library in build.STUBBED], *EVERYTHING, *more, **env)


def test_nothing_there(world):
    run(world)


@pytest.mark.parametrize("version", ["11.8", "12.9", "13.5"])
def test_one_version(world, version):
    world.loader(*[fake(library, version) for library in build.LIBRARIES
                   if (library, version) != ("nvJitLink", "11.8")], builtins(version),
                 driver("13.5"), nvml("590.1"))
    run(world, "call:nvrtcCompileProgram")


@pytest.mark.parametrize("seed", range(12))
def test_damaged_bytes(world, seed):
    # What the search reads of a file it does not trust.
    dice = random.Random(seed)
    whole = bytearray(fake("cudart", "13.5").read_bytes())
    for _ in range(dice.choice([1, 4, 30])):
        whole[dice.randrange(dice.choice([64, 1024, len(whole)]))] = dice.randrange(256)
    path = world.folder("bad") / "libcudart.so.13"
    path.write_bytes(whole)
    # Only looked at: ld.so itself may not survive loading it.
    world.loader(fake("cudart", "13.5"), folder="good")
    world.search(path.parent)
    run(world)


def test_long_and_odd_environments(world):
    long = "/".join(["", *["x" * 200] * 30])
    odd = ":".join(["", ".", "//", "/" * 5000, long, "$ORIGIN", "${LIB}", "/a\x01b"])
    for name in ("LD_LIBRARY_PATH", "CUDA_PATH", "CUDA_HOME", "CONDA_PREFIX", "LAZYCUDA_CUDART",
                 "LAZYCUDA_GUARD", "LAZYCUDA_MAJOR"):
        run(world, **{name: odd})


def test_registrations(world):
    world.search(build.STUBS)
    world.loader(fake("cudart", "12.9"))
    first, second = (build.shared(
        build.TESTS / "registrations" / "nvcc.c", f"-DTAG={tag}",
        build.import_library("cudart", 12), name=f"libext{tag}.so") for tag in (0x1000, 0x2000))
    world.probe(f"open:{first}", f"open:{second}", f"close:{first}", "call:user_call",
                f"open:{first}", "call:user_init", f"close:{second}")
