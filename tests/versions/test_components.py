# SPDX-License-Identifier: MIT
"""What goes with a library of a toolkit, where it is, and whether it fits."""
import json

import pytest

from fakes import fake
from questions import ask, header, put

TREE = {"nvrtc-builtins": "lib64/libnvrtc-builtins.so.12.9", "headers": "include/cuda.h",
        "cccl": "include/cub/version.cuh", "cudadevrt": "lib64/libcudadevrt.a", "libdevice": "nvvm/libdevice/libdevice.10.bc",
        "libnvvm": "nvvm/lib64/libnvvm.so.4", "nvcc": "bin/nvcc"}
WHEELS = {"nvrtc-builtins": "nvidia/cuda_nvrtc/lib/libnvrtc-builtins.so.12.9",
          "headers": "nvidia/cuda_runtime/include/cuda.h",
          "cccl": "nvidia/cuda_cccl/include/cub/version.cuh",
          "cudadevrt": "nvidia/cuda_runtime/lib/libcudadevrt.a",
          "libdevice": "nvidia/cuda_nvcc/nvvm/libdevice/libdevice.10.bc",
          "libnvvm": "nvidia/cuda_nvcc/nvvm/lib64/libnvvm.so",
          "nvcc": "nvidia/cuda_nvcc/bin/nvcc",
          "nccl_device": "nvidia/nccl/lib/libnccl_device.bc",
          "nvshmem_device": "nvidia/nvshmem/lib/libnvshmem_device.bc"}
DEBIAN = {**TREE, "nvrtc-builtins": "lib/x86_64-linux-gnu/libnvrtc-builtins.so.12.9",
          "cudadevrt": "lib/x86_64-linux-gnu/libcudadevrt.a", "libnvvm": "lib/x86_64-linux-gnu/libnvvm.so.4",
          "libdevice": "lib/nvidia-cuda-toolkit/libdevice/libdevice.10.bc"}
TARGETS = {**TREE, "nvrtc-builtins": "targets/x86_64-linux/lib/libnvrtc-builtins.so.12.9",
           "headers": "targets/x86_64-linux/include/cuda.h",
           "cccl": "targets/x86_64-linux/include/cccl/cub/version.cuh",
           "cudadevrt": "targets/x86_64-linux/lib/libcudadevrt.a"}
# With versions of their own, and of no toolkit.
OWN = ("nccl_device", "nvshmem_device")


def components(path):
    """(the library's version, {name: (path, version, fits, relation)})"""
    version, *fields = ask("components", path).split("\t")
    rows = [fields[i:i + 5] for i in range(0, len(fields), 5)]
    return int(version), {name: (path, int(of), int(fits), relation)
                          for name, path, of, fits, relation in rows}


def install(root, tree):
    for name, place in tree.items():
        if name == "headers":
            header(root / place)
        else:
            put(root / place).chmod(0o755)
    return put((root / tree["nvrtc-builtins"]).parent / "libnvrtc.so.12")


@pytest.mark.parametrize("tree", [TREE, TARGETS, WHEELS, DEBIAN])
def test_where_they_are(tmp_path, tree):
    version, found = components(install(tmp_path / "a tree", tree))
    assert version == 12090
    assert {name: row[0] for name, row in found.items()} == {
        **dict.fromkeys(OWN, ""),
        **{name: str(tmp_path / "a tree" / place) for name, place in tree.items()}}
    assert found["nvrtc-builtins"][1:] == (12090, 1, "has to be of CUDA 12.9; is of 12.9")
    assert found["headers"][1:] == (
        12090, 1, "has to be of CUDA 12, and not newer than 12.9; is of 12.9")
    for name in set(OWN) & set(tree):
        assert found[name][1:] == (0, -1, "has to be of CUDA 12; which it is of is not known")


def test_what_is_not_there(tmp_path):
    header(tmp_path / "include" / "cuda.h")
    version, found = components(put(tmp_path / "lib64" / "libnvrtc.so.12"))
    assert version == 12090
    put(tmp_path / "lib64" / "libnvrtc-builtins.so.12.8")      # of another one
    assert components(tmp_path / "lib64" / "libnvrtc.so.12")[1] == found
    assert found["nvrtc-builtins"] == ("", 0, -1, "is not there; has to be of CUDA 12.9;"
                                       " nvidia-cuda-nvrtc-cu12 of PyPI has it")
    assert found["libdevice"] == ("", 0, -1, "is not there; has to be of CUDA 12;"
                                  " nvidia-cuda-nvcc-cu12 of PyPI has it")
    assert found["nvcc"][3].endswith("newer than 12.9; no package of PyPI has it")
    assert found["cudadevrt"][3].endswith("newer than 12.9; nvidia-cuda-runtime-cu12 of PyPI has it")
    header(tmp_path / "include" / "cuda.h", "12080")
    assert components(tmp_path / "lib64" / "libnvrtc.so.12")[1]["cudadevrt"][3].endswith(
        "newer than 12.8; no package of PyPI has it")


def test_a_compiler_that_nobody_may_run(tmp_path):
    library = install(tmp_path, TREE)
    (tmp_path / TREE["nvcc"]).chmod(0o644)
    assert components(library)[1]["nvcc"][2:] == (0, "cannot be run: let it have the mode 755")


@pytest.mark.parametrize("component, fits", [("13.0.48", 0), ("12.9.79", 1), ("12.8.93", 1), ("11.8.89", 0)])
def test_wheels_of_several_versions(tmp_path, component, fits):
    """pip installs any beside each other; each is of its wheel's version."""
    library = install(tmp_path, WHEELS)
    for name, parts in ((f"nvidia_cuda_nvcc_cu12-{component}", ("libdevice", "nvcc")),
                        ("nvidia_cuda_nvrtc_cu12-12.9.86", ("nvrtc-builtins",))):
        put(tmp_path / f"{name}.dist-info" / "RECORD",
            "".join(f"{WHEELS[part]},,\n" for part in parts))
    found = components(library)[1]
    number = ".".join(component.split(".")[:2])
    assert found["nvcc"][2:] == (
        fits, f"has to be of CUDA 12, and not newer than 12.9; is of {number}")
    assert found["libdevice"][2] == int(component.startswith("12"))


def test_status_prints_them(world):
    put(world.root / "cuda" / "bin" / "nvcc").chmod(0o755)
    header(world.root / "cuda" / "include" / "cuda.h", "13020")
    world.put("cuda/lib64", fake("cudart", "13.2"))
    world.search(world.root / "cuda" / "lib64")
    said = world.cli("status", "--components", "cudart").out
    assert (f"with nvcc {world.root}/cuda/bin/nvcc: has to be of CUDA 13, and not newer than 13.2;"
            " is of 13.2") in said
    assert ("without libdevice: is not there; has to be of CUDA 13; nvidia-nvvm of PyPI has it") in said
    library, = json.loads(world.cli("status", "--components", "--json", "cudart").out)["libraries"]
    assert [row["name"] for row in library["components"]] == [
        "headers", "cccl", "cudadevrt", "libdevice", "libnvvm", "nvcc", *OWN]
    assert library["components"][0]["fits"] is True and library["components"][1]["fits"] is None
    assert "components" not in world.cli("status", "--json", "cudart").out
    header(world.root / "cuda" / "include" / "cuda.h", "13030")
    for guard, status in (("best_effort", 0), ("strict", 1)):
        done = world.cli("status", "--components", "cudart", check=False, LAZYCUDA_GUARD=guard)
        assert f"not with headers {world.root}/cuda/include/cuda.h" in done.out and done.status == status
