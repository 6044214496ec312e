# SPDX-License-Identifier: MIT
"""liblazycuda_link.so, as ctypes sees it: where it is, and its functions.  Users of lazycuda.link
need none of this."""
from __future__ import annotations

import ctypes
import os
import threading
from ctypes import POINTER, c_char_p, c_int, c_void_p
from typing import List, Optional

from . import paths
from .link_abi import FUNCTIONS, Input, Others, Support

SONAME = "liblazycuda_link.so"
# Names a file, which is then the only one that is tried.
VARIABLE = "LAZYCUDA_LINK_LIBRARY"

# Made once: an interpreter that imports ctypes later in this process empties the cache that
# ctypes.POINTER() and ctypes.pointer() look into, and would get other types.
TextPointer, NumberPointer = POINTER(c_char_p), POINTER(c_int)
InputPointer, SupportPointer, OthersPointer = POINTER(Input), POINTER(Support), POINTER(Others)
SupportPointers = POINTER(SupportPointer)


class LibraryNotFound(OSError):
    """liblazycuda_link cannot be loaded; the message says which files were tried, what
    is wrong with each, and how to say where it is."""


def candidates() -> List[str]:
    """The files to try, in this order."""
    named = os.environ.get(VARIABLE)
    if named:
        return [named]
    beside = sorted(path for path in paths.libdir().glob(f"{SONAME}*") if path.is_file())
    # Without a folder it is looked for as every library is; a system's has a number.
    return [*map(str, beside[:1]), SONAME, f"{SONAME}.0"]


def _open() -> ctypes.CDLL:
    tried = []
    for name in candidates():
        try:
            opened = ctypes.CDLL(name)      # not PyDLL: calls let other threads run
            for function, (result, arguments) in FUNCTIONS.items():
                getattr(opened, function).restype = result
                getattr(opened, function).argtypes = arguments
            return opened
        except OSError as error:
            tried.append(f"{name}: {error}")
        except AttributeError as error:
            tried.append(f"{name}: of another version of lazycuda: {error}")
    raise LibraryNotFound(
        f"{SONAME} cannot be loaded: {'; '.join(tried)}.  It is in lazycuda's wheel, and in what"
        f" `make install` makes; {VARIABLE} names another file")


_lock = threading.Lock()
_opened: Optional[ctypes.CDLL] = None


def library() -> ctypes.CDLL:
    """The library, loaded once a process; raises LibraryNotFound."""
    global _opened
    with _lock:
        if _opened is None:
            _opened = _open()
        return _opened


def free(block: Optional[int]) -> None:
    """Frees what C's malloc() returned."""
    c_free = ctypes.CDLL(None).free
    c_free.argtypes, c_free.restype = [c_void_p], None
    c_free(block)
