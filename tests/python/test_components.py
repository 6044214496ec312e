# SPDX-License-Identifier: MIT
"""What lies beside the tools, as lazycuda.link looks it up."""
import pytest

import test_beside as beside

ALL = """
for one in find_components(*sys.argv[1:]):
    say(name=one.name, path=one.path, version=one.version, fits=one.fits, library=one.library)
"""
TRY = """
for call in sys.argv[1:]:
    try:
        say(found=eval(call))
    except (OSError, ValueError) as error:
        say(error=str(error), of=type(error).__name__)
"""


@pytest.mark.parametrize("version", beside.TREES)
def test_what_lies_beside_the_tools_is_found(world, real, python, version):
    toolkit = real(version)
    beside.installed(world, toolkit)
    beside.headers(world, toolkit)
    nccl = world.folder("nvidia/nccl/lib") / "libnccl_device.bc"
    nccl.write_text("BC")
    own, cccl, lib = (world.root / folder for folder in beside.TREES[version])
    parts = {one["name"]: one for one in python(ALL)}
    library = str(next(lib.glob("libnvrtc.so.*")).resolve())
    assert parts["headers"] == {"name": "headers", "path": f"{own}/cuda.h", "version": version,
                                "fits": True, "library": library}
    assert parts["nccl_device"]["path"] == str(nccl) and parts["nccl_device"]["fits"] is None
    assert python(ALL, library) == list(parts.values())
    fp16, cub, bitcode, missing, device, unknown = python(
        TRY, "find_header('cuda_fp16.h')", "find_header('cub/version.cuh')",
        "find_bitcode('nccl_device')", "find_header('no.h')", "find_static_library()",
        "find_bitcode('nothing')")
    assert fp16 == {"found": f"{own}/cuda_fp16.h"} and cub == {"found": f"{cccl}/cub/version.cuh"}
    assert bitcode == {"found": str(nccl)}
    assert f"it is not in {own}; it is not in {cccl}" in missing["error"]
    package = "nvidia-cuda-runtime" + "-cu12" * (version == "12.9")
    assert f"{package} of PyPI has it: 'cudadevrt'" in device["error"]
    assert device["of"] == missing["of"] == "FileNotFoundError"
    assert unknown["error"].endswith("device, nccl_device, nvshmem_device are")
    shmem = world.folder("nvidia/nvshmem/lib")
    for arch in (75, 90, 100):
        (shmem / f"libnvshmem_device_sm_{arch}.bc").write_text("BC")
    older, newer, none, vague = python(TRY, *(f"find_bitcode('nvshmem_device'{more})" for more in (
        ", arch=(8, 9)", ", arch='sm_103a'", ", arch='sm_70'", "")))
    assert older == {"found": f"{shmem}/libnvshmem_device_sm_75.bc"}
    assert newer == {"found": f"{shmem}/libnvshmem_device_sm_100.bc"}
    assert "none for sm_70" in none["error"] and "sm_75, sm_90, sm_100: give" in vague["error"]


def test_of_another_cuda_is_not_taken(world, real, python):
    beside.installed(world, real("12.9"))
    beside.headers(world, real("12.9"), version="13.0")
    header, = python(TRY, "find_header('cuda_fp16.h')")
    assert "has to be of CUDA 12, and not newer than 12.9; is of 13.0" in header["error"]


def test_a_package_is_named_for_its_own_headers(world, real, python):
    beside.installed(world, real("12.9"))
    other, own = python(TRY, "find_header('curand_kernel.h')", "find_header('cub/cub.cuh')")
    assert "nvidia-cuda-cccl" not in other["error"]
    assert "nvidia-cuda-cccl-cu12 of PyPI has it" in own["error"] and "cuda-runtime" not in own["error"]


def test_where_there_is_nothing(python):
    parts, header, other, *wrong = python(
        TRY, "find_components()", "find_header('cuda.h')", "find_header('cuda.h', '/nowhere.so')",
        "find_header('/etc/passwd')", "find_header('a/../../b')", "find_components('a\\0')")
    assert [one["of"] for one in wrong] == 3 * ["ValueError"]
    assert parts == {"found": []}
    assert "no nvrtc and no nvJitLink" in header["error"] and "no such library" in other["error"]
