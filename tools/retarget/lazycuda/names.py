# SPDX-License-Identifier: MIT
"""Which library a file name means."""
import fnmatch
import functools
import re
from typing import Dict, FrozenSet, NamedTuple, Tuple

from . import known

# Libraries of the driver, which have no majors and no version nodes.
DRIVER = ("cuda", "nvml")

# libcudart.so.12, libcudart-09529672.so.12.6.77 (auditwheel),
# libcudart.782fcab0.so.11.0 (others), libcuda.so.1
# stubs/base/library_name.h has the grammar, and tests/audit/test_names.py compares.
FILE = re.compile(r"(?P<whole>(?P<stem>.+?)(?:[-.][0-9a-f]{6,})?)\.so"
                  r"(?:\.(?P<numbers>(?P<first>[0-9]{1,9})(?![0-9])[0-9.]*))?\Z")
# The same of any number, without "lib".
ANY_NUMBER = re.compile(r"(?:lib)?(?P<whole>(?P<stem>.+?)(?:[-.][0-9a-f]{6,})?)\.so(?:\.[0-9.]*)?\Z")
# What nvrtc opens for itself: libnvrtc-builtins-a1d5fce3.so.12.6.85
BUILTINS = re.compile(r"libnvrtc-builtins[^/]*\.so[\d.]*\Z")
# What the file's own version begins with, which the name of a copy has that auditwheel renamed, where
# that is not the number of the SONAME; and that number.
COPIES = {"cufile": ((r"1", 0),),
          "cupti": ((r"202[01]|2022\.[123]", 11), (r"202[234]|2025\.[12]", 12), (r"20\d\d", 13))}

class Known(NamedTuple):
    """What there is to know of a library that has a stub."""
    sonames: Tuple[str, ...]
    stem: str                   # of its names: libcublas
    stub: str                   # of its stub's: libcublas_stub
    numbers: FrozenSet[str]     # those of its names; if there are none, it has any
    nodes: FrozenSet[str]
    witnesses: FrozenSet[str]   # of one without nodes: functions, of which every version of it has one


# By the library, as the notes of the stubs have it.
KNOWN: Dict[str, Known] = {}


def learn(library, stub, sonames, nodes, witnesses):
    """A name whose number none of these SONAMEs has does not mean this library.  Copies of the driver's
    have the number of the driver."""
    numbers = [found["first"] for found in map(FILE.match, sonames) if found and found["first"]]
    KNOWN[library] = Known(tuple(sonames), sonames[0].partition(".so")[0], stub.partition(".so")[0],
                           frozenset(numbers if library not in DRIVER else ()), frozenset(nodes),
                           frozenset(witnesses))


class Real(NamedTuple):
    library: str
    major: int          # None: the name does not say, or it has none


def base(name):
    return name.rpartition("/")[2]


def real(name):
    """The real library that a name in DT_NEEDED means, or None."""
    found = FILE.match(base(name))
    if not found:
        return None
    stem, whole, first = found.group("stem", "whole", "first")
    number = int(first) if first else None
    for library, known in KNOWN.items():
        if known.stem not in (stem, whole):
            continue
        if not first or not known.numbers or first in known.numbers:
            # The driver's are .so.1 for good: that is no CUDA.
            return Real(library, None if library in DRIVER else number)
        for version, copied in COPIES.get(library, ()) if stem != whole else ():
            if str(copied) in known.numbers and re.match(rf"(?:{version})(?![0-9])", found["numbers"]):
                return Real(library, copied)
    return None


def _stem_in(name, patterns):
    """The stem of a name, if it has one of these patterns; None."""
    found = ANY_NUMBER.match(base(name))
    stems = found.group("whole", "stem") if found and not found["stem"].endswith("_stub") else ()
    return next((stem for stem in stems if any(fnmatch.fnmatchcase(stem, each) for each in patterns)), None)


@functools.lru_cache(maxsize=None)
def of_cuda(name):
    """"cublas" for a library of CUDA, whether it has a stub or not; None."""
    return _stem_in(name, known.listed) or _stem_in(name, known.cudas)


@functools.lru_cache(maxsize=None)
def is_without_cuda(name):
    """Whether a library is known to have no function of CUDA's, and to need nothing that has."""
    return bool(_stem_in(name, known.systems + known.others))


def _whose(name, kind):
    """The library whose Known.`kind`, "stem" or "stub", a name has, with whatever number; None."""
    found = FILE.match(base(name))
    stems = found.group("stem", "whole") if found else ()
    return next((library for library, known in KNOWN.items() if getattr(known, kind) in stems), None)


def library(name):
    """The library of CUDA, or of a stub, that has such a name with whatever number; None."""
    return _whose(name, "stem") or of_cuda(name)


def node(name):
    """The library that a version node belongs to, or None."""
    return next((library for library, known in KNOWN.items() if name in known.nodes), None)


def is_function(name):
    """Whether a function is the library's, and not one that every stub has for itself."""
    return not name.startswith(("lazycuda_", "LAZYCUDA_"))


def is_builtins(name):
    return bool(BUILTINS.match(base(name)))


def stub(name):
    """The library that a stub's name stands for, or None."""
    return _whose(name, "stub")


def kind(name):
    """What a function's name begins with, if a capital letter follows: "cu" of cuInit."""
    found = re.match("[a-z]+(?=[A-Z])", name)
    return found and found[0]


def claims(file, name):
    """Whether a library's own name stands for more of a function's than its kind:
    libcufile.so.0 for cuFileOpen, and not libc.so.6 for cuInit."""
    stem = re.match("(?:lib)?([^-._]*)", base(file))[1].lower()
    return len(stem) > len(kind(name)) and name.lower().startswith(stem)
