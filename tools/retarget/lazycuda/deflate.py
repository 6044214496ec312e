# SPDX-License-Identifier: MIT
"""Compresses on all cores, and decompresses, with the fastest library there is.

A stream that is compressed is cut into pieces of one size, each of which begins anew: the bytes depend
on the library, but not on how many cores there are.
"""
import collections
import concurrent.futures
import functools
import importlib
import os
import zlib

# With the level at which each is both fast and nearly as good as zlib at 6.
LIBRARIES = (("isal.isal_zlib", 3), ("zlib_ng.zlib_ng", 6), ("zlib", 6))
# A piece that begins anew costs a thousandth; each core holds a few of them.
PIECE = 2 << 20
MOST_CORES = 16


@functools.lru_cache(maxsize=None)
def _library():
    for name, level in LIBRARIES:
        try:
            return importlib.import_module(name), level
        except ImportError:
            continue


def inflated(packed, size):
    """What chunks of a deflate stream become, `size` bytes at a time."""
    library, _ = _library()
    reader = library.decompressobj(-zlib.MAX_WBITS)
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
    except library.error as error:
        raise zlib.error(str(error)) from None
    if reader.unused_data:
        raise zlib.error("more follows its end")


def _cores():
    return min(len(os.sched_getaffinity(0)), MOST_CORES)


def _pack(piece, last):
    """A piece of a stream, compressed."""
    library, level = _library()
    packer = library.compressobj(level, zlib.DEFLATED, -zlib.MAX_WBITS)
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


def compress(stream, sink, note):
    """Write what a stream holds to `sink`; note(piece) is told of each piece."""
    with concurrent.futures.ThreadPoolExecutor(_cores()) as pool:
        pending = collections.deque()
        for piece, last in _pieces(stream):
            pending.append(pool.submit(_pack, piece, last))
            note(piece)
            if len(pending) > _cores():
                sink.write(pending.popleft().result())
        for packed in pending:
            sink.write(packed.result())
