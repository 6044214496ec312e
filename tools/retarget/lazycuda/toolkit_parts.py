# SPDX-License-Identifier: MIT
"""Where CUDA's headers and its compiler lie: in packages of PyPI, in a toolkit, in conda."""
import os
import pathlib
import re
import site
import sys
from importlib import metadata
from typing import List, NamedTuple, Optional, Tuple

from . import packages
from .repoint import Refused

# What of a folder is CUDA's compiler: conda's bin has all of a system's programs.
PROGRAMS = ("__nvcc_device_query", "bin2c", "crt", "cu++filt", "cuda-gdb", "cudafe++", "cuobjdump", "fatbinary",
            "nvcc", "nvcc.profile", "nvdisasm", "nvlink", "nvprune", "ptxas", "tileiras")
# Folders of a package that tell where its root is.
INSIDE = ("include", "bin", "nvvm", "lib")
# Headers that are looked for first, and the package that has each, as of CUDA 12 and 13.
HEADERS = (("cuda_runtime_api.h", "nvidia-cuda-runtime"), ("crt/host_defines.h", "nvidia-cuda-nvcc"),
           ("nv/target", "nvidia-cuda-cccl"), ("nvrtc.h", "nvidia-cuda-nvrtc"), ("nvJitLink.h", "nvidia-nvjitlink"),
           ("nvml.h", "nvidia-nvml-dev"), ("cudaProfiler.h", "nvidia-cuda-profiler-api"),
           ("cublas_v2.h", "nvidia-cublas"), ("cufft.h", "nvidia-cufft"), ("curand.h", "nvidia-curand"),
           ("cusolverDn.h", "nvidia-cusolver"), ("cusparse.h", "nvidia-cusparse"), ("cupti.h", "nvidia-cuda-cupti"),
           ("nvtx3/nvToolsExt.h", "nvidia-nvtx"), ("cufile.h", "nvidia-cufile"), ("nvjpeg.h", "nvidia-nvjpeg"),
           ("npp.h", "nvidia-npp"), ("nvFatbin.h", "nvidia-nvfatbin"), ("cudnn.h", "nvidia-cudnn"),
           ("nccl.h", "nvidia-nccl"), ("cusparseLt.h", "nvidia-cusparselt"), ("nvshmem.h", "nvidia-nvshmem"),
           ("cutensor.h", "cutensor"))
# Packages that count as CUDA does, and have a second number of their own: cuBLAS 13.10 beside CUDA 13.5.  CCCL's
# version is that of a CUDA, and its own beside others.
OWN_SECOND = frozenset(f"nvidia-{name}" for name in ("cublas", "cuda-cccl", "npp", "nvjpeg"))
# What is in another package since CUDA 13.
SINCE_13 = {"crt/host_defines.h": "nvidia-cuda-crt"}


class Part(NamedTuple):
    name: str                           # of the package, or the folder
    root: pathlib.Path                  # where bin and nvvm are, if there are any
    include: pathlib.Path               # may not be there
    version: Optional[Tuple[int, int]]  # of CUDA, if it tells that


def version_text(version):
    return "{}.{}".format(*version)


def _pair(text):
    found = re.match(r"(\d+)\.(\d+)", text)
    return (int(found[1]), int(found[2])) if found else None


def of_headers(include):
    """The CUDA that headers are of, as they say themselves; None."""
    for name, macro in (("cuda_runtime_api.h", "CUDART_VERSION"), ("cuda.h", "CUDA_VERSION")):
        file = include / name
        found = re.search(rf"#define\s+{macro}\s+(\d+)", file.read_text(errors="replace")) if file.is_file() else None
        if found:
            return int(found[1]) // 1000, int(found[1]) % 1000 // 10
    return None


# ---- packages ----

def python_folders():
    """Where this Python looks for modules.  -I, with which the command in C starts it, leaves out those of
    the user."""
    own = [site.getusersitepackages()] if sys.prefix == sys.base_prefix else []
    return [folder for folder in (*sys.path[1:], *own) if os.path.isdir(folder)]


def _roots(package):
    """The folders of a package that have include, bin or the like in them."""
    found = {}
    for file in package.files or ():
        where = next((i for i, word in enumerate(file.parts) if word in INSIDE), 0)
        # nvidia/cu13 and cutensor; not nvidia itself, nor ../../bin.
        if where and file.parts[:where] != ("nvidia",) and file.parts[0] != "..":
            found[pathlib.Path(package.locate_file("")) / pathlib.Path(*file.parts[:where])] = True
    return list(found)


def of_packages(folders) -> List[Tuple[int, Part]]:
    """(major of CUDA, Part) of each package of CUDA's."""
    found = []
    for package in metadata.distributions(path=list(map(str, folders))):
        name = packages.canonical(package.metadata["Name"] or "")
        major = packages.cuda_of(name, package.version)
        counts = packages.family(name) in (packages.COUNTS_CUDA | packages.ALSO_OF_TOOLKIT) - OWN_SECOND
        for root in _roots(package) if major else ():
            found.append((major, Part(name, root, root / "include", _pair(package.version) if counts else None)))
    return sorted(found)


# ---- toolkits ----

def wrapper(root):
    """A folder's nvcc, if it is another program, which starts the real one: that reads nvcc.profile beside
    it, and of what it finds there it takes headers and libraries."""
    nvcc = root / "bin" / "nvcc"
    return nvcc if nvcc.exists() and not (root / "bin" / "nvcc.profile").exists() else None


def target(machine):
    """What NVIDIA calls the folder of a machine."""
    return f"targets/{'sbsa' if machine == 'aarch64' else machine}-linux"


def of_folder(folder, machine) -> List[Part]:
    """A toolkit, or what conda made."""
    includes = (folder / target(machine) / "include", folder / "include")
    include = next((each for each in includes if of_headers(each)), None)
    where = include
    if include and not (include / "cuda_runtime_api.h").exists():
        # Debian's /usr/lib/cuda has a link to /usr/include/cuda.h, and no other header.
        where = (include / "cuda.h").resolve().parent
    if where and (where / "stdio.h").exists():
        raise Refused("NOT_CUDA_ALONE", f"{where} has the headers of a system, and not of CUDA alone; give "
                                        "the folder of a toolkit, or `none` where compilers find CUDA's headers there")
    return [Part(str(folder), folder, include, of_headers(include))] if include else []


def find(given, major, machine):
    """(Parts of that CUDA, Parts of others); `given` is a folder or None: what this Python and conda have."""
    if given:
        parts = [(part.version[0], part) for part in of_folder(given, machine)] or of_packages([given])
        if not parts:
            raise Refused("NO_HEADERS", f"{given} has no headers of CUDA: there is neither an include/cuda.h nor a "
                                        "package of PyPI in it; give a toolkit, or a folder of site-packages")
    else:
        parts = of_packages(python_folders())
        conda = os.environ.get("CONDA_PREFIX")
        if conda and not any(major == each for each, _ in parts):
            parts += [(part.version[0], part) for part in of_folder(pathlib.Path(conda), machine)]
    return [part for each, part in parts if each == major], [part for each, part in parts if each != major]


def requirement(header, major):
    """What pip installs to get a header."""
    name = (SINCE_13.get(header) if major > 12 else None) or dict(HEADERS)[header]
    known = packages.BY_FAMILY.get(name)
    if known:
        return known.requirements.get(major)
    return f"{name}-cu{major}" if major < 13 else f"{name}=={major}.*"
