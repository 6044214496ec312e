# SPDX-License-Identifier: MIT
"""Makes choices in choice.c alone."""
import ctypes
import functools
import pathlib

import build

HERE = pathlib.Path(__file__).resolve().parent
ROOM = build.ROOT / "stubs"
# That these need nothing else is a part of the claim.
SOURCES = [ROOM / "loader" / "choice.c", ROOM / "loader" / "objections.c", ROOM / "base" / "arena.c",
           ROOM / "base" / "cuda_version.c", ROOM / "base" / "constraint.c", ROOM / "base" / "printable.c"]

NAMED, LOADED, FOUND = range(3)                 # enum lc_origin


def candidate(origin, major, version=0, refuses=0, unusable="", latest=0, cuda=(), tier=0, lacks=""):
    """`cuda`: the majors of CUDA that it may belong to, of a library with majors of its own."""
    return origin, major, version, refuses, unusable, latest, sum(1 << one for one in cuda), tier, lacks


def found(*majors):
    return [candidate(FOUND, major) for major in majors]


def choose(voters, own=None, guard="best_effort", major=0, driver=0, branch=0, agreed=0, loaded=(),
           constraint="", program="", forward=0, order="near", callers=()):
    """((candidate, refusal, reason, what it needs of the driver, the CUDA), [reason of each candidate])"""
    own = own or next(iter(voters))
    call = chooser()
    call.set(guard.encode(), major, driver, branch, agreed, list(voters).index(own),
             kept(constraint), kept(program), forward, order.encode())
    for library, candidates in voters.items():
        call.voter(library.encode(), dict(loaded).get(library, 0), sum(1 << one for one in callers))
        for origin, major, version, refuses, unusable, latest, cuda, tier, lacks in candidates:
            call.candidate(origin, major, version, refuses, kept(unusable), latest, cuda, tier, kept(lacks))
    first, *reasons = call.choose().decode().splitlines()
    common, taken, *said = first.split("\t")
    assert len(reasons) == len(voters[own])
    return (int(taken), *said, int(common)), reasons


@functools.lru_cache(maxsize=None)
def kept(text):
    """What C sees after the call, too."""
    return text.encode() or None


@functools.lru_cache(maxsize=None)
def chooser():
    made = ctypes.CDLL(build.compile("libchoose.so", "-std=gnu11", "-g", "-Wall", "-shared", "-fPIC",
                                     "-D_GNU_SOURCE", "-I", ROOM, HERE / "choose.c", *SOURCES))
    made.choose.restype = ctypes.c_char_p
    return made


def used(voters, order, told=("cudart",), **circumstances):
    """What each has after the first calls in this order, as open.c agrees on a major.  `told`: those
    whose SONAMEs tell it."""
    taken, agreed, loaded = {}, 0, {}
    given = dict(voters)
    for own in order:
        said, _ = choose(given, own, agreed=agreed, loaded=loaded, **circumstances)
        if said[0] < 0:
            taken[own] = None
            continue
        file = given[own][said[0]]
        taken[own] = file
        agreed = agreed or said[4] or (file[1] if own in told else 0)
        loaded[own] = 100 * file[1]
        given[own] = [(LOADED, *file[1:])]
    return taken
