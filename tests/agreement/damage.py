# SPDX-License-Identifier: MIT
"""Damaged inputs made from real ones: always the same, by a seed.

    damaged(path)           [(name, path)]
"""
import random
import struct

import build

HUGE = (1 << 40, 1 << 62, (1 << 64) - 8)
LARGE = (0, 0xffffffff, 0x7fffffff, 0xfffffff0, 0x80000000)


class Regions:
    """Where a file has headers: [(offset, length)], found as its format lays them out."""

    def __init__(self, content):
        self.content = content
        self.found = []
        kind = self.kind_at(0)
        if kind == "text":
            self.add(0, 400)
        elif kind == "archive":
            self.archive()
        else:
            self.inside(kind, 0)

    def kind_at(self, offset):
        magic = bytes(self.content[offset:offset + 4])
        return {b"\x7fELF": "elf", b"\x50\xed\x55\xba": "fatbin", b"\xed\x43\x4e\x7f": "ltoir",
                b"!<ar": "archive"}.get(magic, "text")

    def add(self, offset, length):
        length = min(length, len(self.content) - offset)
        if length > 0:
            self.found.append((offset, length))

    def inside(self, kind, offset):
        if kind == "elf":
            self.elf(offset)
        elif kind == "fatbin":
            self.fatbin(offset)
        elif kind == "ltoir":
            self.add(offset, struct.unpack_from("<I", self.content, offset + 20)[0])

    def elf(self, start):
        self.add(start, 64)
        sections, = struct.unpack_from("<Q", self.content, start + 40)
        size, count = struct.unpack_from("<HH", self.content, start + 58)
        self.add(start + sections, size * count)
        for i in range(count):
            header = struct.unpack_from("<IIQQQQIIQQ", self.content, start + sections + i * size)
            kind, offset, length = header[1], start + header[4], header[5]
            if kind in (2, 4, 7, 0x70000000):       # symbols, relocations, notes, .nv.info
                self.add(offset, length)
            elif kind == 1:
                self.inside(self.kind_at(offset), offset)

    def fatbin(self, start):
        self.add(start, 16)
        header, size = struct.unpack_from("<HQ", self.content, start + 6)
        at, end = start + header, start + header + size
        while at + 64 <= end:
            length, payload = struct.unpack_from("<IQ", self.content, at + 4)
            self.add(at, length)
            self.inside(self.kind_at(at + length), at + length)
            at += length + payload

    def archive(self):
        self.add(0, 8)
        at = 8
        while at + 60 <= len(self.content):
            self.add(at, 60)
            size = int(self.content[at + 48:at + 58])
            self.inside(self.kind_at(at + 60), at + 60)
            at += 60 + size + size % 2


def truncations(content, regions):
    """At every boundary of a header, and one byte to both sides."""
    for offset, length in regions:
        for at in (offset, offset + length):
            for cut in (at - 1, at, at + 1):
                if 0 < cut < len(content):
                    yield f"cut to {cut}", content[:cut]


def fields(content, regions, random):
    """One field at a time, wherever headers are, and whole headers of zeros."""
    for offset, length in regions:
        yield f"{length} zeros at {offset}", (content[:offset] + bytes(length) +
                                              content[offset + length:])
    while True:
        offset, length = random.choice(regions)
        width = random.choice((1, 2, 4, 4, 8, 8))
        at = offset + random.randrange(max(1, length // width)) * width
        old = content[at:at + width]
        if width == 1:
            new = bytes([old[0] ^ 1 << random.randrange(8)])
        elif width == 2:
            new = struct.pack("<H", random.choice((0, 0xffff, 0x7fff, 1)))
        elif width == 4:
            new = struct.pack("<I", random.choice((*LARGE, int.from_bytes(old, "little") + 1 & 0xffffffff)))
        else:
            new = struct.pack("<Q", random.choice(HUGE))
        if len(old) == width and new != old:
            yield f"{new.hex()} at {at}", content[:at] + new + content[at + width:]


def spread(items, count):
    """At most so many, evenly."""
    items = list(items)
    step = max(1, -(-len(items) // count))
    return items[::step]


def damaged(path, cuts=30, changes=60):
    content = path.read_bytes()
    regions = Regions(content).found
    # By what it is made of: where it was made must not change what is tried.
    seed = random.Random(len(regions))
    made = spread(truncations(content, regions), cuts)
    changed = fields(content, regions, seed)
    made += [next(changed) for _ in range(changes)]
    for name, bytes_ in dict(made).items():
        yield name, build.text(bytes_, path.suffix[1:])
