# SPDX-License-Identifier: MIT
"""Compresses on all cores, and decompresses with the fastest library there is.

A stream that is compressed is cut into pieces of one size, each of which begins anew: the bytes depend
on what compresses, but not on how many cores there are.
"""
import collections
import concurrent.futures
import functools
import importlib
import os
import zlib

FAST = "isal.isal_zlib"
LIBRARIES = (FAST, "zlib_ng.zlib_ng", "zlib")
FAST_LEVEL = 3      # the best that isal has
# How zip's flags say that the writer compressed at the highest level; all others use zlib's own.
BEST = 2
# A piece that begins anew costs a thousandth; each core holds a few of them.
PIECE = 2 << 20
MOST_CORES = 16


@functools.lru_cache(maxsize=None)
def library(*names):
    """The first of these that is installed; None."""
    for name in names:
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    return None


def fastest():
    return library(*LIBRARIES)


def inflated(packed, size):
    """What chunks of a deflate stream become, `size` bytes at a time."""
    reader = fastest().decompressobj(-zlib.MAX_WBITS)
    try:
        for chunk in packed:
            while chunk:
                yield reader.decompress(chunk, size)
                chunk = reader.unconsumed_tail
            if reader.unused_data:
                break
        while not reader.eof:
            rest = reader.decompress(b"", size)
            if not rest and not reader.eof:
                raise EOFError("it ends too early")
            yield rest
    except fastest().error as error:
        raise zlib.error(str(error)) from None
    if reader.unused_data:
        raise zlib.error("more follows its end")


def _cores():
    return min(len(os.sched_getaffinity(0)), MOST_CORES)


def _pack(piece, last, flags, fast):
    """A piece of a stream, compressed."""
    packs, level = (library(FAST), FAST_LEVEL) if fast else (zlib, 9 if flags == BEST else 6)
    packer = packs.compressobj(level, zlib.DEFLATED, -zlib.MAX_WBITS)
    return packer.compress(piece) + packer.flush(zlib.Z_FINISH if last else zlib.Z_FULL_FLUSH)


def _pieces(stream):
    """(piece, whether it is the last)"""
    piece = stream.read(PIECE)
    while True:
        following = stream.read(PIECE)
        yield piece, not following
        if not following:
            return
        piece = following


def most(size):
    """The most bytes to which `size` bytes may be compressed."""
    return size + size // 16 + 64


def compress(stream, sink, note, flags=0, fast=False):
    """Write what a stream holds to `sink`, at the level that zip's flags tell, or `fast`: with isal.
    note(piece) is told of each piece."""
    with concurrent.futures.ThreadPoolExecutor(_cores()) as pool:
        pending = collections.deque()
        for piece, last in _pieces(stream):
            pending.append(pool.submit(_pack, piece, last, flags, fast))
            note(piece)
            if len(pending) > _cores():
                sink.write(pending.popleft().result())
        for packed in pending:
            sink.write(packed.result())
