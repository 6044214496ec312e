# SPDX-License-Identifier: MIT
"""Reduces a shared library to what tells which names it exports.

The file keeps its length, and is sparse."""
import os
import struct

HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
SECTION = struct.Struct("<IIQQQQIIQQ")
SHT_STRTAB, SHT_HASH, SHT_DYNAMIC, SHT_DYNSYM = 3, 5, 6, 11
SHT_GNU_HASH, SHT_GNU_VERDEF, SHT_GNU_VERNEED, SHT_GNU_VERSYM = (
    0x6ffffff6, 0x6ffffffd, 0x6ffffffe, 0x6fffffff)
KEPT = (SHT_HASH, SHT_DYNAMIC, SHT_DYNSYM, SHT_GNU_HASH, SHT_GNU_VERDEF, SHT_GNU_VERNEED,
        SHT_GNU_VERSYM)
SHF_ALLOC = 2


def _parts(file):
    """(offset, length) of each part to keep.  Raises ValueError for what is not a 64-bit ELF file
    with section headers."""
    header = file.read(HEADER.size)
    if len(header) < HEADER.size or header[:6] != b"\x7fELF\2\1":
        raise ValueError("it is no ELF file of 64 bits")
    (_, _, _, _, _, phoff, shoff, _, ehsize, phentsize, phnum, shentsize, shnum, _) = (
        HEADER.unpack(header))
    if not shoff or shentsize != SECTION.size:
        raise ValueError("it has no table of sections")
    yield 0, ehsize
    yield phoff, phentsize * phnum
    yield shoff, shentsize * shnum
    file.seek(shoff)
    for _ in range(shnum):
        _, kind, flags, _, offset, size, _, _, _, _ = SECTION.unpack(file.read(SECTION.size))
        if kind in KEPT or kind == SHT_STRTAB and flags & SHF_ALLOC:
            yield offset, size


def reduce(path):
    """Puts the skeleton in place of the library."""
    made = path.with_name(path.name + ".skeleton")
    with open(path, "rb") as whole, open(made, "wb") as out:
        for offset, size in list(_parts(whole)):
            whole.seek(offset)
            out.seek(offset)
            out.write(whole.read(size))
        out.truncate(os.stat(path).st_size)
    made.replace(path)
