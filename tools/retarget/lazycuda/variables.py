# SPDX-License-Identifier: MIT
"""Which variables of a library a file takes before the stub has the real library's.

The address of a variable is corrected when the real library is loaded.  That comes too late where the
file has a copy of the variable, which ld.so makes, and where a static constructor reads it.
"""
import array
import bisect
import itertools
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
# What is looked at of one file: no other has a tenth of it.
MAX_FUNCTIONS = 1 << 21
NEAR = 1 + 128
# Instructions of which each knows a part of an address lie no farther apart, in bytes.
TOGETHER = 4096


class _Functions:
    """Where the file's functions begin and end, by a table that is sorted for whoever searches it."""

    def __init__(self, image):
        self.starts = array.array("q")
        self.segments = [each.address + each.mapped_size for each in image.of_type(elf.PT_LOAD)]
        for segment in image.of_type(PT_GNU_EH_FRAME)[:1]:
            head = image.bytes(segment.address, min(segment.file_size, 12))
            if head[:4] != ENCODINGS or len(head) < 12:
                continue
            count = min(struct.unpack_from("<I", head, 8)[0], (segment.file_size - 12) // 8, MAX_FUNCTIONS)
            table = struct.iter_unpack("<ii", image.bytes(segment.address + 12, 8 * count))
            self.starts.extend(segment.address + start for start, _ in table)

    def __contains__(self, start):
        at = bisect.bisect_left(self.starts, start)
        return at < len(self.starts) and self.starts[at] == start and self.end(start) > start

    def end(self, start):
        """The last one of a segment ends with that."""
        at = bisect.bisect_right(self.starts, start)
        return min([*self.starts[at:at + 1], *(end for end in self.segments if end > start)], default=start)


def _constructors(image, functions):
    first, size = image.value(DT_INIT_ARRAY), image.value(DT_INIT_ARRAYSZ, 0)
    if first is None:
        return set()
    found = {word for word, in struct.iter_unpack("<Q", image.bytes(first, size // 8 * 8)) if word in functions}
    return found | {addend for at, _, addend in image.relocations(image.relocation_tables()[0])
                    if first <= at < first + size and addend in functions}


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


def _code(image, start, end):
    """(address, bytes) of its parts, which overlap by what belongs together.  Where no function begins, one
    may have 70 MB."""
    for at in range(start, end, elf.File.CHUNK):
        yield at, image.bytes(at, min(elf.File.CHUNK + TOGETHER, end - at))


def _read_early(image, slots):
    """The first of these slots that a static constructor reads, or what it calls within the file.  Where
    there is too much to look at, one counts as read."""
    # Segments may be the same bytes again and again.
    functions, left = _Functions(image), len(image.data)
    seen = _constructors(image, functions)
    todo = list(seen)
    look = {"x86_64": _x86_64, "aarch64": _aarch64}[image.machine]
    while todo:
        start = todo.pop()
        for goes, address in itertools.chain.from_iterable(
                look(code, at) for at, code in _code(image, start, functions.end(start))):
            left -= 1
            if address in slots and not goes or not left:
                return slots.get(address) or min(slots.values())
            if goes and address not in seen and address in functions:
                seen.add(address)
                todo.append(address)
    return None


def taken_early(image, names):
    """(the first of these variables that a file takes too early, how); None"""
    names = {*filter(image.has_name, names)}
    if not names:
        return None
    named = {index: symbol.name for index, symbol in enumerate(image.symbols(), 1) if symbol.name in names}
    slots = {}
    for at, info, _ in image.relocations(image.relocation_tables()[0]):
        kind, name = info & 0xffffffff, named.get(info >> 32)
        if name and kind == COPY[image.machine]:
            return name, "has a copy of it"
        if name and kind == GLOB_DAT[image.machine]:
            slots[at] = name
    early = _read_early(image, slots) if slots else None
    return (early, "reads it in a static constructor") if early else None
