# SPDX-License-Identifier: MIT
"""Which package of PyPI has which of CUDA's libraries, for each major of CUDA."""
import re
from typing import Dict, NamedTuple, Tuple

from . import known, names

# The name of a library: libcublas.so.12, or with a pattern for its number, as in torch's
# libcublas.so.*[0-9], or with what an f-string puts there.
LIBRARY = re.compile(r"lib([A-Za-z][A-Za-z0-9]*(?:[_-][a-z][a-z_]*)?)"
                     r"(?:[-.][0-9a-f]{6,})?\*?\.so[0-9.*?{}\[\]-]*\Z")
# The name of a package, in a requirement or a module: nvidia-cublas-cu12==12.1, nvidia.cublas.lib
PACKAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
# The CUDAs that the stubs stand for.
MAJORS = (11, 12, 13)


class Package(NamedTuple):
    family: str             # the name without -cu12
    toolkit: str            # what cuda-toolkit calls it, as in cuda-toolkit[cublas]; or None
    stems: Tuple[str, ...]  # of its libraries' names
    numbers: Dict[int, int]         # that follow their ".so.", by major of CUDA
    requirements: Dict[int, str]    # what to require, by major


def _package(family, toolkit, stems, numbers, since_13=None):
    """`numbers` are those of CUDA 11, 12 and 13, None where there is no package; `since_13` bounds
    the version of the package without a suffix, which a later major may have, too."""
    by_major = {major: number for major, number in zip(MAJORS, numbers)
                if number is not None}
    required = {major: f"{family}=={since_13}.*" if since_13 is not None and major == 13
                else f"{family}-cu{major}" for major in by_major}
    return Package(family, toolkit, tuple(stems.split()), by_major, required)


# The numbers of a package's versions are its own: nvidia-cufft 12 is CUDA 13's.
TABLE = (
    _package("nvidia-cuda-runtime", "cudart", "cudart", (11, 12, 13), 13),
    _package("nvidia-cuda-nvrtc", "nvrtc", "nvrtc nvrtc-builtins", (11, 12, 13), 13),
    _package("nvidia-nvjitlink", "nvjitlink", "nvJitLink", (None, 12, 13), 13),
    _package("nvidia-cublas", "cublas", "cublas cublasLt nvblas", (11, 12, 13), 13),
    _package("nvidia-cufft", "cufft", "cufft cufftw", (10, 11, 12), 12),
    _package("nvidia-curand", "curand", "curand", (10, 10, 10), 10),
    _package("nvidia-cusolver", "cusolver", "cusolver cusolverMg", (11, 11, 12), 12),
    _package("nvidia-cusparse", "cusparse", "cusparse", (11, 12, 12), 12),
    _package("nvidia-cuda-cupti", "cupti", "cupti nvperf_host nvperf_target pcsamplingutil checkpoint",
             (11, 12, 13), 13),
    _package("nvidia-nvtx", "nvtx", "nvToolsExt nvtx3interop", (1, 1, 1), 13),
    _package("nvidia-cufile", "cufile", "cufile cufile_rdma", (None, 0, 0), 1),
    _package("nvidia-nvjpeg", "nvjpeg", "nvjpeg", (11, 12, 13), 13),
    # Before CUDA 13 it is in the package of nvcc.
    Package("nvidia-nvvm", "nvvm", ("nvvm",), dict.fromkeys(MAJORS, 4),
            {11: "nvidia-cuda-nvcc-cu11", 12: "nvidia-cuda-nvcc-cu12", 13: "nvidia-nvvm==13.*"}),
    _package("nvidia-nvfatbin", "nvfatbin", "nvfatbin", (None, 12, 13), 13),
    _package("nvidia-npp", "npp", "nppc nppial nppicc nppidei nppif nppig nppim nppist nppisu nppitc "
             "npps", (11, 12, 13), 13),
    _package("nvidia-cudnn", None, "cudnn cudnn_adv cudnn_cnn cudnn_ops cudnn_graph cudnn_heuristic "
             "cudnn_engines_precompiled cudnn_engines_runtime_compiled cudnn_adv_infer "
             "cudnn_adv_train cudnn_cnn_infer cudnn_cnn_train cudnn_ops_infer cudnn_ops_train",
             (9, 9, 9)),
    _package("nvidia-nccl", None, "nccl", (2, 2, 2)),
    _package("nvidia-cusparselt", None, "cusparseLt", (None, 0, 0)),
    _package("nvidia-nvshmem", None, "nvshmem_host", (None, 3, 3)),
    _package("cutensor", None, "cutensor cutensorMg", (2, 2, 2)),
)
# Libraries that only the packages of some majors have.
ONLY_OF = {"nvToolsExt": (11, 12), "nvtx3interop": (13,)}
# Libraries of which any version works with any CUDA: what calls them need not be of one CUDA.
WITH_ANY = frozenset({"nvToolsExt"})
BY_FAMILY = {package.family: package for package in TABLE}
BY_STEM = {stem: package for package in TABLE for stem in package.stems}
# What the real libraries need in their turn: a file may have functions from there.
IN_TURN = {stem: tuple(needed.split()) for stem, needed in known.in_turn}
# Of those that may stay, those whose packages do not require it.  They may find it only because the file
# that needs them needs it, too: the libcutensor.so.2 of cutensor-cu13 looks for libcublasLt.so.13 in
# nvidia/cublas/lib, and it lies in nvidia/cu13/lib.
NEEDED_BY = {stem: needed for stem, needed in IN_TURN.items() if stem == "cutensor" or stem not in known.listed}
BY_TOOLKIT = {package.toolkit: package for package in TABLE if package.toolkit}
# Packages that have a suffix in every major.  Without one the name means another package.
SUFFIXED = frozenset(package.family for package in TABLE
                     if package.requirements[13].endswith("-cu13"))
TOOLKIT = "cuda-toolkit"
# The end of a package's name that tells the major: -cu12, -cu121, -cuda12x, -cuda-12.
OF_MAJOR = re.compile(r"-cu(?:da-?)?(1\d)\d?x?$")
# NVIDIA's that have Python code alone.
NO_LIBRARIES = frozenset(("nvidia-cudnn-frontend", "nvidia-ml-py", "nvidia-nvtx-python"))
# Packages whose versions count as CUDA does, and tell the major.
COUNTS_CUDA = frozenset(package.family for package in TABLE
                        if package.requirements.get(13) == f"{package.family}==13.*")
# Those that have no library that a stub stands for: headers and the compiler.
ALSO_OF_TOOLKIT = frozenset(f"nvidia-{name}" for name in (
    "cuda-cccl", "cuda-crt", "cuda-nvcc", "cuda-profiler-api", "nvml-dev"))


def in_turn(libraries):
    """What these need in their turn, and what that needs."""
    found, todo = set(), list(libraries)
    while todo:
        more = set(IN_TURN.get(todo.pop(), ())) - found
        found |= more
        todo += more
    return found


def canonical(name):
    """A package's or extra's name in the form in which spellings are compared."""
    return re.sub(r"[-_.]+", "-", name).lower()


def family(name):
    """The name without the -cu12 of a package for one CUDA."""
    return re.sub(r"-cu\d+$", "", canonical(name))


def is_cudas(name):
    """Whether a package is of CUDA: NVIDIA's, or one whose name tells the CUDA that it is for."""
    name = canonical(name)
    return name in (TOOLKIT, "cuquantum", "tensorrt") or bool(OF_MAJOR.search(name)) or \
        name.startswith("nvidia-") and name not in NO_LIBRARIES


def cuda_of(name, version):
    """The major of CUDA that a package is for, by its canonical name and its version; None."""
    told, number = OF_MAJOR.search(name), version.partition(".")[0]
    if told:
        return int(told[1])
    package = BY_FAMILY.get(name)
    if package:
        return next((major for major, text in package.requirements.items() if text == f"{name}=={number}.*"), None)
    return int(number) if name in ALSO_OF_TOOLKIT and number.isdigit() and int(number) in MAJORS else None


def stem(text):
    """"cublas" for a file name, path or pattern of that library, whatever its number; None if
    it is none of CUDA's."""
    found = LIBRARY.match(names.base(text))
    # A hash may have letters alone: libcudart-abcdefab.so.12
    ways = (found[1], found[1].partition("-")[0]) if found else ()
    return next((way for way in ways if way in BY_STEM), None)


def opened_by(text):
    """The stem of the library that opens this one for itself: cudnn for libcudnn_ops.so.9, nvrtc
    for its builtins; None if none does."""
    found = stem(text)
    opener = re.split("[-_]", found)[0] if found else None
    return opener if opener != found and opener in BY_STEM else None


def of_library(text):
    """The package that has the library of that name, or None."""
    return BY_STEM.get(stem(text))


def majors(text):
    """The majors of CUDA whose library has this name."""
    # No library has a number of ten digits.
    found, number = of_library(text), re.search(r"\.so\.([0-9]{1,9})(?![0-9])", text)
    if not found or not number:
        return set()
    of = ONLY_OF.get(stem(text), found.numbers)
    return {major for major, each in found.numbers.items() if each == int(number[1]) and major in of}


def of_text(text):
    """The package that a text is the name of, or a requirement on; None."""
    found = PACKAGE.match(text)
    rest = text[found.end():].lstrip() if found else "?"
    if not found or (rest and rest[0] not in "<>=!~;[(@"):
        return None
    # "cutensor" is also what modules are called.
    name = canonical(found[0])
    return None if name in SUFFIXED else BY_FAMILY.get(family(name))


def of_module(text):
    """The package of a module: nvidia.cublas.lib is nvidia-cublas's; None."""
    words = text.split(".")
    if words[0] != "nvidia" or len(words) < 2 or not all(word.isidentifier() for word in words):
        return None
    return BY_FAMILY.get(canonical(f"nvidia-{words[1]}"))
