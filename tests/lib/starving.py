# SPDX-License-Identifier: MIT
"""Calls of C for which memory runs out, by starving.c, which is preloaded.  What they are given are
numbers and addresses."""
import ctypes
import itertools
from ctypes import c_long, c_void_p

c = ctypes.CDLL(None)
c.starved.restype, c.left.restype = c_void_p, c_long


def left(make, release, *given, at=-1):
    """How many blocks are left when what a call made is released."""
    return c.left(c_long(at), make, (c_void_p * 5)(*given), release)


def starve(make, release, *given):
    """How many allocations a call makes: with each of them failing nothing comes, and nothing is left."""
    failed = ctypes.c_bool()
    for at in itertools.count(-1):
        made = c.starved(c_long(at), make, (c_void_p * 5)(*given), ctypes.byref(failed))
        assert bool(made) != failed.value, f"allocation {at}: {'something' if made else 'nothing'} came"
        release(ctypes.cast(made, release.argtypes[0]))
        assert not left(make, release, *given, at=at), f"allocation {at}: something is left"
        if at >= 0 and made:
            return at
