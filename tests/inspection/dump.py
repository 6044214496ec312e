# SPDX-License-Identifier: MIT
"""Inspects files, and says in a line of JSON what is in each: `dump.py < QUESTIONS`

A question is a line of JSON, words and then files: --payloads, --symbols, --memory (the bytes are
given, not the path), --bytes.  All code is asked for in all three ways; what comes is told as its
length and sum, or as it is.
"""
import ctypes
import json
import sys
import zlib
from ctypes import byref, c_void_p, string_at

from lazycuda.link_abi import Entry, Flag
from lazycuda.link_library import library
from starving import left

link, c = library(), ctypes.CDLL(None)
c.malloc.restype, c.malloc.argtypes, c.free.argtypes = c_void_p, [ctypes.c_size_t], [c_void_p]
FIELDS = "toolkit isa level container ir debug llvm abi fatbin header offset length unpacked".split()


def text(value):
    return None if value is None else value.decode(errors="surrogateescape")


def got(inspection, index, whole):
    """(what came of an entry's code, in words) of each way to have it."""
    for way in ("code", "stored", "copy"):
        length, error = ctypes.c_size_t(), ctypes.c_char_p()
        results = byref(length), byref(error)
        block = (link.lazycuda_entry_fatbin(inspection, index, *results) if way == "copy" else
                 link.lazycuda_entry_payload(inspection, index, way == "code", *results))
        if not block:
            yield f"no-{way}", text(error.value)
            continue
        data = string_at(block, length.value)
        c.free(block)
        yield way, data.decode("latin-1") if whole else f"{len(data)} {zlib.crc32(data)}"


def entry(inspection, index, words):
    one = inspection[0].entries[index][0]
    assert one.size == ctypes.sizeof(Entry)
    symbols = one.symbols[:one.symbol_count] if "--symbols" in words else ()
    return {
        **{name: str(getattr(one, name)) for name in FIELDS}, "flags": hex(one.flags),
        "kind": text(link.lazycuda_kind_name(one.kind)), "arch": f"{one.arch}{text(one.suffix.strip(bytes(1)))}",
        "symbols": str(one.symbol_count), "section": text(one.section or b""),
        "member": text(one.member or b""), "error": text(one.error),
        "names": {text(symbol.name): " ".join((
            "defined" if symbol.defined else "needed", *["weak"] * symbol.weak, *["kernel"] * symbol.kernel,
            *["variable"] * bool(symbol.flags & Flag.SYMBOL_VARIABLE))) for symbol in symbols},
        **dict(got(inspection, index, "--bytes" in words))}


def inspected(path, words):
    flags, block = Flag.INSPECT_PAYLOADS * ("--payloads" in words), None
    if "--memory" in words:
        with open(path, "rb") as file:
            data = file.read()
        block = c.malloc(len(data))         # of exactly that size, for whoever watches
        ctypes.memmove(block, data, len(data))
        inspection = link.lazycuda_inspect(block, len(data), path.encode(), flags)
    else:
        inspection = link.lazycuda_inspect_file(path.encode(), flags)
    one = inspection[0]
    said = {"kind": text(link.lazycuda_kind_name(one.kind)), "fatbins": str(one.fatbin_count),
            "length": str(one.length), "error": text(one.error), "warning": text(one.warning),
            "entries": [entry(inspection, index, words) for index in range(one.entry_count)]}
    link.lazycuda_inspection_free(inspection)
    c.free(block)
    name = ctypes.create_string_buffer(path.encode())
    assert not left(link.lazycuda_inspect_file, link.lazycuda_inspection_free, ctypes.addressof(name), flags)
    return said


for line in sys.stdin:
    given = json.loads(line)
    print(json.dumps([inspected(path, given) for path in given if not path.startswith("--")]), flush=True)
