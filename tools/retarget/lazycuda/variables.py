# SPDX-License-Identifier: MIT
"""Which variables of a library a file takes before the stub has the real library's.

The address of a variable is corrected when the real library is loaded.  That comes too late where the
file has a copy of the variable, which ld.so makes, and where a static constructor reads it.
"""
import bisect
import re
import struct

from . import elf

COPY = {"x86_64": 5, "aarch64": 1024}
GLOB_DAT = {"x86_64": 6, "aarch64": 1025}
PT_GNU_EH_FRAME = 0x6474e550
DT_INIT_ARRAY, DT_INIT_ARRAYSZ = 25, 27
# How .eh_frame_hdr says where its table is, how long, and what is in it, as all linkers write it.
ENCODINGS = b"\1\x1b\3\x3b"
# x86-64: the bytes before a distance of 32 bits: of an operand, of a call or jump, of a jump on a
# condition.  A loop over all bytes would take half a minute for 70 MB of code.
REFERS = re.compile(rb"(?:[\x05\x0d\x15\x1d\x25\x2d\x35\x3d\xe8\xe9]|(?<=\x0f)[\x80-\x8f])(?=.{4})", re.S)
DISTANCE = struct.Struct("<i")
NEAR = 1 + 128


def _functions(image):
    """{start: end} of the file's functions."""
    for segment in image.of_type(PT_GNU_EH_FRAME):
        data = image.bytes(segment.address, segment.file_size)
        if data[:4] == ENCODINGS:
            count, = struct.unpack_from("<I", data, 8)
            starts = [segment.address + start for start, _ in struct.iter_unpack(
                "<ii", data[12:12 + 8 * min(count, len(data[12:]) // 8)])]
            # The last one of a segment ends with that.
            ends = sorted([*starts, *(each.address + each.mapped_size
                                      for each in image.of_type(elf.PT_LOAD))])
            return {start: ends[bisect.bisect_right(ends, start)] for start in starts if start < ends[-1]}
    return {}


def _constructors(image, relocations):
    first, size = image.value(DT_INIT_ARRAY), image.value(DT_INIT_ARRAYSZ, 0)
    if first is None:
        return []
    words = struct.unpack(f"<{size // 8}Q", image.bytes(first, size // 8 * 8))
    return [*words, *(addend for at, _, addend in relocations if first <= at < first + size)]


def _x86_64(code, start):
    """(whether it is a jump or call, address) of what code refers to by its distance."""
    for found in REFERS.finditer(code):
        at = found.end()
        yield found[0] >= b"\x80", start + at + 4 + DISTANCE.unpack_from(code, at)[0]
    # Jumps of one byte reach another function from the ends of this one.
    for at in {*range(1, len(code))[:NEAR], *range(1, len(code))[-NEAR:]}:
        if code[at - 1] == 0xeb or code[at - 1] & 0xf0 == 0x70:
            yield True, start + at + 1 + (code[at] ^ 0x80) - 0x80


def _aarch64(code, start):
    pages = {}
    for at, (word,) in enumerate(struct.iter_unpack("<I", code[:len(code) // 4 * 4])):
        here = start + 4 * at
        if word & 0x9f000000 == 0x90000000:         # adrp
            distance = (word >> 29 & 3 | (word >> 5 & 0x7ffff) << 2) << 43
            pages[word & 31] = (here & ~0xfff) + (distance - (distance >> 63 << 64) >> 31)
        elif word & 0xffc00000 == 0xf9400000:       # ldr, of 8 bytes
            yield False, pages.get(word >> 5 & 31, 0) + (word >> 10 & 0xfff) * 8
        elif word & 0x7c000000 == 0x14000000:       # b, bl
            yield True, here + ((word & 0x3ffffff) - (word >> 25 & 1) * 0x4000000) * 4


def _read_early(image, relocations, slots):
    """The first of these slots that a static constructor reads, or what it calls within the file."""
    functions = _functions(image)
    todo = [start for start in _constructors(image, relocations) if start in functions]
    seen = set(todo)
    look = {"x86_64": _x86_64, "aarch64": _aarch64}[image.machine]
    while todo:
        start = todo.pop()
        for goes, address in look(image.bytes(start, functions[start] - start), start):
            if address in slots and not goes:
                return slots[address]
            if goes and address in functions and address not in seen:
                seen.add(address)
                todo.append(address)
    return None


def taken_early(image, names):
    """(the first of these variables that a file takes too early, how); None"""
    names = {*filter(image.has_name, names)}
    if not names:
        return None
    table, size = image.relocations()[0], elf.RELOCATION.size
    relocations = list(elf.RELOCATION.iter_unpack(table[:len(table) // size * size]))
    symbols = image.symbols()
    slots = {}
    for at, info, _ in relocations:
        kind, index = info & 0xffffffff, info >> 32
        name = symbols[index - 1].name if 0 < index <= len(symbols) else None
        if name in names and kind == COPY[image.machine]:
            return name, "has a copy of it"
        if name in names and kind == GLOB_DAT[image.machine]:
            slots[at] = name
    early = _read_early(image, relocations, slots) if slots else None
    return (early, "reads it in a static constructor") if early else None
