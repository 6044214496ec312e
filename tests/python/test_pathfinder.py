# SPDX-License-Identifier: MIT
"""What cuda-pathfinder finds, the newest, is found by lazycuda.link as well."""
import subprocess
import sys

import pytest

# Where nvrtc lies.
LAYOUTS = {"wheels 12": "nvidia/cuda_nvrtc/lib/libnvrtc.so.12", "wheels 13": "nvidia/cu13/lib/libnvrtc.so.13",
           "conda": "targets/x86_64-linux/lib/libnvrtc.so.12", "toolkit": "lib64/libnvrtc.so.12"}

BOTH = r"""
import os, pathlib, site
root, layout, nvrtc = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
site.ENABLE_USER_SITE, site.getsitepackages = False, lambda: [str(root)]
from cuda import pathfinder
from cuda.pathfinder._binaries.supported_nvidia_binaries import SITE_PACKAGES_BINDIRS
from cuda.pathfinder._headers.header_descriptor_catalog import HEADER_DESCRIPTOR_CATALOG
major = "13" if "13" in nvrtc else "12"
def put(folder, name, text="x"):
    path = root / folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
def place(wheels, otherwise):
    new = [one for one in wheels if "cu13" in one]
    fitting = (new or wheels) if major == "13" else [one for one in wheels if one not in new]
    return otherwise if "wheels" not in layout else fitting[0] if fitting else None
def tried(find, *words):
    try:
        found = find(*words)
        return found and os.path.realpath(found)
    except Exception as error:
        return str(error)
if layout == "conda":
    put("conda-meta", "history")
targets = "targets/x86_64-linux/" if layout == "conda" else ""
put(".", nvrtc)
asked = []
for one in HEADER_DESCRIPTOR_CATALOG:
    include = (targets if one.conda_targets_layout else "") + one.anchor_include_rel_dirs[0]
    folder = place(one.site_packages_dirs, "/".join((include, *one.include_subdirs)))
    if folder:
        put(folder, one.header_basename)
        asked.append((lambda one=one: f"{pathfinder.find_nvidia_header_directory(one.name)}/{one.header_basename}",
                      lambda one=one: find_header(one.header_basename, root / nvrtc)))
    if one.name in ("cudart", "cccl"):
        name, text = (("cuda.h", f"#define CUDA_VERSION {major}000\n") if one.name == "cudart" else
                      ("cub/version.cuh", "x"))
        put(folder, name, text)
        put(f"nvidia_cuda_{'runtime' if one.name == 'cudart' else 'cccl'}-{major}.0.1.dist-info", "RECORD",
            f"{folder}/{name},,\n")
for name, folders in SITE_PACKAGES_BINDIRS.items():
    put(place(folders, "bin"), name)
    asked.append((lambda name=name: pathfinder.find_nvidia_binary_utility(name),
                  lambda name=name: find_binary(name, root / nvrtc)))
for name, old, new, other in (("device", "nvidia/cuda_nvcc/nvvm/libdevice", "nvidia/cu13/nvvm/libdevice", "nvvm/libdevice"),
                              ("nccl_device", "nvidia/nccl/lib", "nvidia/nccl/lib", "lib"),
                              ("nvshmem_device", "nvidia/nvshmem/lib", "nvidia/nvshmem/lib", "lib")):
    put(place([new, old], other), "libdevice.10.bc" if name == "device" else f"lib{name}.bc")
    asked.append((lambda name=name: pathfinder.find_bitcode_lib(name),
                  lambda name=name: find_bitcode(name, root / nvrtc)))
put(place(["nvidia/cu13/lib", "nvidia/cuda_runtime/lib"], "lib"), "libcudadevrt.a")
asked.append((lambda: pathfinder.find_static_lib("cudadevrt"), lambda: find_static_library("cudadevrt", root / nvrtc)))
both = [(tried(theirs), tried(mine)) for theirs, mine in asked]
say(count=len(both), found=sum(os.path.exists(theirs) for theirs, _ in both),
    differ=[pair for pair in both if pair[0] != pair[1]])
"""


@pytest.fixture(scope="module")
def pathfinder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pathfinder")
    subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--target", folder,
                    "cuda-pathfinder"], check=True)
    return folder


@pytest.mark.parametrize("layout", LAYOUTS)
def test_what_it_finds_is_found(world, python, pathfinder, layout):
    root = world.folder("tree")
    place = {"conda": {"CONDA_PREFIX": root}, "toolkit": {"CUDA_PATH": root}}.get(layout, {})
    found, = python(f"sys.path.insert(0, {str(pathfinder)!r})" + BOTH, root, layout, LAYOUTS[layout], **place)
    assert found["differ"] == [] and found["found"] == found["count"] > 40
