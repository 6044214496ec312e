# SPDX-License-Identifier: MIT
"""Shared libraries and wheels, made by hand: the same bytes everywhere, and any field can be made
wrong."""
import binascii
import struct

LOAD, DYNAMIC = 1, 2
NEEDED, STRTAB, SYMTAB, STRSZ, SONAME, RPATH, RUNPATH = 1, 5, 6, 10, 14, 15, 29
GNU_HASH, VERSYM = 0x6ffffef5, 0x6ffffff0
VERDEF, VERDEFNUM, VERNEED, VERNEEDNUM = 0x6ffffffc, 0x6ffffffd, 0x6ffffffe, 0x6fffffff


class Strings:
    """A string table, as it grows."""

    def __init__(self):
        self.bytes = b"\0"

    def __call__(self, text):
        if text.encode() + b"\0" not in self.bytes:
            self.bytes += text.encode() + b"\0"
        return self.bytes.index(text.encode() + b"\0")


def dynamic_tables(start, soname=None, needed=(), imports=(), nodes=(), runpath=None, more=()):
    """(bytes that lie at address `start`, address of the dynamic section in them,
    its size).  imports: (name, file, node), of which a node may be None."""
    strings = Strings()
    entries = [(NEEDED, strings(name)) for name in needed]
    entries += [(SONAME, strings(soname))] if soname else []
    entries += [(RUNPATH, strings(runpath))] if runpath else []
    pairs = sorted({(file, node) for _, file, node in imports if node})
    indexes = {pair: i + 2 for i, pair in enumerate(pairs)}
    symbols, versym = bytes(24), b"\0\0"
    for name, file, node in imports:
        symbols += struct.pack("<IBBHQQ", strings(name), 0x12, 0, 0, 0, 0)
        versym += struct.pack("<H", indexes[file, node] if node else 0)
    verneed = b"".join(struct.pack("<HHIII", 1, 1, strings(file), 16, 32 * (i + 1 < len(pairs))) +
                       struct.pack("<IHHII", 1, 0, i + 2, strings(node), 0)
                       for i, (file, node) in enumerate(pairs))
    verdef = b"".join(struct.pack("<HHHHIII", 1, i == 0, i + 1, 1, 1, 20,
                                  28 * (i + 1 < len(nodes))) +
                      struct.pack("<II", strings(node), 0) for i, node in enumerate(nodes))
    hashes = struct.pack("<IIII", 1, len(symbols) // 24, 1, 0) + bytes(8 + 4)
    for text in more:
        strings(text)
    tables = [(GNU_HASH, hashes), (SYMTAB, symbols), (VERSYM, versym), (VERNEED, verneed),
              (VERDEF, verdef), (STRTAB, strings.bytes)]
    made = b""
    for tag, table in tables:
        if table:
            made += bytes(-len(made) % 8)
            entries.append((tag, start + len(made)))
            made += table
    entries += [(STRSZ, len(strings.bytes)), (VERNEEDNUM, len(pairs)), (VERDEFNUM, len(nodes)),
                (0, 0)]
    made += bytes(-len(made) % 8)
    dynamic = start + len(made)
    made += b"".join(struct.pack("<qQ", *entry) for entry in entries)
    return made, dynamic, 16 * len(entries)


def library(**tables):
    """A whole file: one segment, whose addresses are offsets."""
    start = 64 + 2 * 56
    contents, dynamic, length = dynamic_tables(start, **tables)
    size = start + len(contents)
    header = struct.pack("<16sHHIQQQIHHHHHH", b"\177ELF\2\1\1", 3, 62, 1, 0, 64, 0, 0, 64, 56, 2,
                         64, 0, 0)
    programs = [(LOAD, 5, 0, size), (DYNAMIC, 4, dynamic, length)]
    return header + b"".join(struct.pack("<IIQQQQQQ", kind, flags, at, at, at, each, each, 8)
                             for kind, flags, at, each in programs) + contents


def stored(data):
    """Deflate's form of bytes that it does not compress."""
    return b"\1" + struct.pack("<HH", len(data), len(data) ^ 0xffff) + data


def wheel(*members):
    """A zip archive of (name, bytes, whether they are in deflate's form)."""
    body = directory = b""
    for name, data, deflated in members:
        packed = stored(data) if deflated else data
        sizes = struct.pack("<II", len(packed), len(data))
        common = struct.pack("<HHHHHI", 20, 0x800, 8 if deflated else 0, 0, 0x21,
                             binascii.crc32(data))
        directory += b"PK\1\2" + struct.pack("<H", 20) + common + sizes + struct.pack(
            "<HHHHHII", len(name), 0, 0, 0, 0, 0o100755 << 16, len(body)) + name
        body += b"PK\3\4" + common + sizes + struct.pack("<HH", len(name), 0) + name + packed
    end = b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, len(members), len(members), len(directory),
                                  len(body), 0)
    return body + directory + end
