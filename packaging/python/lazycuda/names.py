# SPDX-License-Identifier: MIT
"""Which library a file name means."""
import re
from typing import NamedTuple

STUBS = {"cudart": "libcudart_stub.so", "nvrtc": "libnvrtc_stub.so",
         "nvJitLink": "libnvJitLink_stub.so"}

# libcudart.so.12, libcudart-09529672.so.12.6.77 (auditwheel),
# libcudart.782fcab0.so.11.0 (others)
REAL = re.compile(r"lib(cudart|nvrtc|nvJitLink)(?:[-.][0-9a-f]{6,})?\.so(?:\.(\d+)[\d.]*)?$")
# Not nvrtc: what nvrtc opens for itself.  libnvrtc-builtins-a1d5fce3.so.12.6.85
BUILTINS = re.compile(r"libnvrtc-builtins[^/]*\.so[\d.]*$")
# A stub, also one that auditwheel renamed.
STUB = re.compile(r"lib(cudart|nvrtc|nvJitLink)_stub(?:[-.][0-9a-f]{6,})?\.so$")
NODE = re.compile(r"lib(cudart|nvrtc|nvJitLink)\.so\.(\d+)")


class Real(NamedTuple):
    library: str
    major: int          # None: the name does not say


def base(name):
    return name.rpartition("/")[2]


def real(name):
    """The real library that a name in DT_NEEDED means, or None."""
    found = REAL.match(base(name))
    return found and Real(found[1], int(found[2]) if found[2] else None)


def node(name):
    """The library and major that a version node belongs to, or None."""
    found = NODE.match(name or "")
    return found and Real(found[1], int(found[2]))


def is_builtins(name):
    return bool(BUILTINS.match(base(name)))


def stub(name):
    """The library that a stub's name stands for, or None."""
    found = STUB.match(base(name))
    return found and found[1]
