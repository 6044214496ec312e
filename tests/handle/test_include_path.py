# SPDX-License-Identifier: MIT
"""CUDA's headers for source: those that go with the nvrtc that is used are found."""
import os

import pytest

import handles

HALF = """#include <cuda_fp16.h>
extern "C" __global__ void kernel(__half *a) { a[0] = __hadd(a[0], a[1]); }
"""
CUB = """#include <cub/version.cuh>
extern "C" __global__ void kernel(int *a) { a[0] = CUB_VERSION; }
"""
# Where the headers of the runtime and of CCCL lie, and nvrtc.
TREES = {
    "12.9": ("nvidia/cuda_runtime/include", "nvidia/cuda_cccl/include", "nvidia/cuda_nvrtc/lib"),
    "13.5": ("nvidia/cu13/include", "nvidia/cu13/include/cccl", "nvidia/cu13/lib"),
}


def installed(world, toolkit):
    """A site-packages with that toolkit's compiler and linker alone, and how much that is."""
    folder = world.folder(TREES[toolkit.version][2])
    for name in ("nvrtc", "nvJitLink"):
        for file in toolkit.file(name).parent.glob(f"lib{name}*.so*"):
            os.symlink(file.resolve(), folder / file.name) if name != "nvrtc" else \
                (folder / file.name).write_bytes(file.read_bytes())
    world.search(folder)


def headers(world, toolkit, version=None):
    """The headers of that toolkit, which say that they are of `version`."""
    own, cccl, _ = (world.folder(folder) for folder in TREES[toolkit.version])
    major, minor = (version or toolkit.version).split(".")
    (own / "cuda.h").write_text(f"#define CUDA_VERSION {1000 * int(major) + 10 * int(minor)}\n")
    (own / "cuda_fp16.h").write_text("struct __half { unsigned short x; };\n"
                                     "__device__ __half __hadd(__half a, __half) { return a; }\n")
    (cccl / "cub").mkdir()
    (cccl / "cub" / "version.cuh").write_text("#define CUB_VERSION 200800\n")
    info = world.folder("nvidia_cuda_cccl-1.dist-info").with_name(
        f"nvidia_cuda_cccl{'_cu12' if major == '12' else ''}-{toolkit.version}.1.dist-info")
    info.mkdir()
    (info / "RECORD").write_text(f"{TREES[toolkit.version][1]}/cub/version.cuh,,\n")


def linked(world, source, *words, status=0):
    (world.root / "kernel.cu").write_text(source)
    done = world.cli("link", "--arch", "sm_80", "-o", world.root / "out", *words,
                     world.root / "kernel.cu", check=False)
    assert done.status == status, done.out + done.err
    return done.out


@pytest.mark.parametrize("version", TREES)
@pytest.mark.parametrize("isolated", [(), ("--isolated",)])
def test_headers_beside_nvrtc(world, real, version, isolated):
    installed(world, real(version))
    headers(world, real(version))
    for source in (HALF, CUB):
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


@pytest.mark.parametrize("word", ["-I{}", "-I={}", "--include-path={}"])
def test_named_headers_of_another_version_are_noted(world, real, word):
    installed(world, real("12.9"))
    headers(world, real("12.9"), version="12.4")
    folder = world.root / TREES["12.9"][0]
    note = f"CUDA's headers in {folder} are of 12.4, and nvrtc is of 12.9"
    assert note in linked(world, HALF, f"--compile-option={word.format(folder)}")
    assert note not in linked(world, HALF)
