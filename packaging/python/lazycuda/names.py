# SPDX-License-Identifier: MIT
"""Which library a file name means."""
import re
from typing import NamedTuple

# What file names have behind "lib", and the library.
STEMS = {"cudart": "cudart", "nvrtc": "nvrtc", "nvJitLink": "nvJitLink", "cuda": "cuda",
         "nvidia-ml": "nvml"}
STUBS = {library: f"lib{stem}_stub.so" for stem, library in STEMS.items()}
# Those that come with the driver: no majors, no version nodes; and a function that each has.
DRIVER = {"cuda": "cuDriverGetVersion", "nvml": "nvmlSystemGetNVMLVersion"}

# libcudart.so.12, libcudart-09529672.so.12.6.77 (auditwheel),
# libcudart.782fcab0.so.11.0 (others), libcuda.so.1
REAL = re.compile(rf"lib({'|'.join(STEMS)})(?:[-.][0-9a-f]{{6,}})?\.so(?:\.(\d+)[\d.]*)?$")
# Not nvrtc: what nvrtc opens for itself.  libnvrtc-builtins-a1d5fce3.so.12.6.85
BUILTINS = re.compile(r"libnvrtc-builtins[^/]*\.so[\d.]*$")
# A stub, also one that auditwheel renamed, or of a system's folder: libcudart_stub.so.0.
STUB = re.compile(rf"lib({'|'.join(STEMS)})_stub(?:[-.][0-9a-f]{{6,}})?\.so(?:\.\d+)?$")
NODE = re.compile(r"lib(cudart|nvrtc|nvJitLink)\.so\.(\d+)")


class Real(NamedTuple):
    library: str
    major: int          # None: the name does not say, or it has none


def base(name):
    return name.rpartition("/")[2]


def real(name):
    """The real library that a name in DT_NEEDED means, or None."""
    found = REAL.match(base(name))
    if not found:
        return None
    library = STEMS[found[1]]
    # The driver's are .so.1 for good: that is no CUDA.
    return Real(library, int(found[2]) if found[2] and library not in DRIVER else None)


def node(name):
    """The library and major that a version node belongs to, or None."""
    found = NODE.match(name or "")
    return found and Real(found[1], int(found[2]))


def is_builtins(name):
    return bool(BUILTINS.match(base(name)))


def stub(name):
    """The library that a stub's name stands for, or None."""
    found = STUB.match(base(name))
    return found and STEMS[found[1]]


def kind(name):
    """What a function's name begins with, if a capital letter follows: "cu" of cuInit."""
    found = re.match("[a-z]+(?=[A-Z])", name)
    return found and found[0]


def claims(file, name):
    """Whether a library's own name stands for more of a function's than its kind:
    libcufile.so.0 for cuFileOpen, and not libc.so.6 for cuInit."""
    stem = re.match("(?:lib)?([^-._]*)", base(file))[1].lower()
    return len(stem) > len(kind(name)) and name.lower().startswith(stem)
