# SPDX-License-Identifier: MIT
"""What lies beside nvrtc and nvJitLink: CUDA's headers are found for source, and cudadevrt is linked
where it is missed."""
import os
import shutil

import pytest

import handles
import other_compilers

HALF = """#include <cuda_fp16.h>
extern "C" __global__ void kernel(__half *a) { a[0] = __hadd(a[0], a[1]); }
"""
CUB = """#include <cub/version.cuh>
extern "C" __global__ void kernel(int *a) { a[0] = CUB_VERSION; }
"""
# Of a wheel of its own, in CUDA 12.
CURAND = """#include <curand_kernel.h>
extern "C" __global__ void kernel(int *a) { a[0] = CURAND; }
"""
# Where the headers of the runtime and of CCCL lie, and nvrtc.
TREES = {
    "12.9": ("nvidia/cuda_runtime/include", "nvidia/cuda_cccl/include", "nvidia/cuda_nvrtc/lib"),
    "13.5": ("nvidia/cu13/include", "nvidia/cu13/include/cccl", "nvidia/cu13/lib"),
}


def installed(world, toolkit):
    """A site-packages with that toolkit's compiler and linker alone."""
    folder = world.folder(TREES[toolkit.version][2])
    for name in ("nvrtc", "nvJitLink"):
        for file in toolkit.file(name).parent.glob(f"lib{name}*.so*"):
            try:
                os.link(file.resolve(), folder / file.name)
            except OSError:     # of another file system
                shutil.copy(file, folder)
    world.search(folder)


def recorded(world, package, *files):
    """A package of that name has these files."""
    info = world.folder("packages").with_name(f"{package}.dist-info")
    info.mkdir()
    (info / "RECORD").write_text("".join(f"{file},,\n" for file in files))


def headers(world, toolkit, version=None):
    """The headers of that toolkit, which say that they are of `version`."""
    own, cccl, _ = (world.folder(folder) for folder in TREES[toolkit.version])
    major, minor = (version or toolkit.version).split(".")
    (own / "cuda.h").write_text(f"#define CUDA_VERSION {1000 * int(major) + 10 * int(minor)}\n")
    (own / "cuda_fp16.h").write_text("struct __half { unsigned short x; };\n"
                                     "__device__ __half __hadd(__half a, __half) { return a; }\n")
    curand = world.folder("nvidia/curand/include") if major == "12" else own
    (curand / "curand_kernel.h").write_text("#define CURAND 1\n")
    (cccl / "cub").mkdir()
    (cccl / "cub" / "version.cuh").write_text("#define CUB_VERSION 200800\n")
    recorded(world, f"nvidia_cuda_cccl{'_cu12' if major == '12' else ''}-{toolkit.version}.1",
             f"{TREES[toolkit.version][1]}/cub/version.cuh")


def linked(world, source, *words, status=0):
    (world.root / "kernel.cu").write_text(source)
    done = world.cli("link", "--arch", "sm_80", "-o", world.root / "out", *words,
                     world.root / "kernel.cu", check=False)
    assert done.status == status, done.out + done.err
    return done.err if status else done.out


@pytest.mark.parametrize("version, isolated", [("12.9", ()), ("13.5", ("--isolated",))])
def test_headers_beside_nvrtc(world, real, version, isolated):
    installed(world, real(version))
    headers(world, real(version))
    for source in (HALF, CUB, CURAND):
        linked(world, source, *isolated)
        handles.check_image(world.root / "out")


def test_headers_of_another_cuda_are_not_taken(world, real):
    installed(world, real("12.9"))
    headers(world, real("12.9"), version="13.0")
    assert "open source file \"cuda_fp16.h\"" in linked(world, HALF, status=1)


@pytest.mark.parametrize("version, advice", [
    ("12.9", "pip install nvidia-cuda-runtime-cu12, and nvidia-cuda-cccl-cu12 for CCCL"),
    ("13.5", "pip install nvidia-cuda-runtime, and nvidia-cuda-cccl for CCCL"),
])
def test_without_headers_the_packages_are_named(world, real, version, advice):
    installed(world, real(version))
    assert advice in linked(world, HALF, status=1)


def test_the_headers_that_nvrtc_brings(world, real):
    installed(world, real("13.5"))
    assert "--use-bundled-headers=FOLDER" in linked(world, HALF, status=1)
    linked(world, HALF, f"--compile-option=--use-bundled-headers={world.root / 'unpacked'}")
    handles.check_image(world.root / "out")


@pytest.mark.parametrize("word", ["-I{}", "--include-path={}"])
def test_named_headers_of_another_version_are_noted(world, real, word):
    installed(world, real("12.9"))
    headers(world, real("12.9"), version="12.4")
    folder = world.root / TREES["12.9"][0]
    note = f"CUDA's headers in {folder} are of 12.4, and nvrtc is of 12.9"
    assert note in linked(world, HALF, f"--compile-option={word.format(folder)}")
    assert note in linked(world, HALF + "x", f"--compile-option={word.format(folder)}", status=1)
    assert note not in linked(world, HALF)


LAUNCHES = """extern "C" __global__ void child(int *p) { p[0] = 1; }
extern "C" __global__ void kernel(int *p) { child<<<1, 1>>>(p); }
"""
MISSED = "__cudaCDP2GetParameterBufferV2 is in libcudadevrt.a, which dynamic parallelism needs: link"


def test_what_launches_kernels_is_named(world, real):
    installed(world, real("12.9"))
    assert f"{MISSED} that of the package nvidia-cuda-runtime-cu12" in linked(world, LAUNCHES, status=1)


@pytest.mark.parametrize("version, words", [("12.9", ()), ("12.9", ("--lto",)),
                                            ("13.5", ("--isolated",))])
def test_the_device_runtime_is_added(world, real, version, words):
    why = other_compilers.fetched(other_compilers.NVCC, version, ["cudadevrt"])
    if why:
        pytest.skip(why)
    installed(world, real(version))
    archive, = (other_compilers.NVCC / version).glob("*/nvidia/*/lib/libcudadevrt.a")
    place = {"12.9": "nvidia/cuda_runtime/lib", "13.5": "nvidia/cu13/lib"}[version]
    file = world.folder(place) / archive.name
    shutil.copy(archive, file)
    recorded(world, f"nvidia_cuda_runtime{'_cu12' if version == '12.9' else ''}-{version}.1",
             f"{place}/{archive.name}")
    said = linked(world, LAUNCHES, *words)
    assert said.count("is linked as well") == 1 and f"{file} is linked as well" in said
    handles.check_image(world.root / "out")
    # What it does not have stays missing, and is compiled once.
    said = linked(world, LAUNCHES.replace("{ child", "{ nothing(); cuda_nothing(); child").replace(
        "extern", 'extern "C" __device__ void nothing(), cuda_nothing(); extern', 1), status=1)
    assert "UNDEFINED_SYMBOL" in said and "nothing" in said and "libcudadevrt.a, which" not in said
