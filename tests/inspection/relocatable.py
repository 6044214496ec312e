# SPDX-License-Identifier: MIT
"""Relocatable cubins with all kinds of sections that compilers write, made by hand.

Two functions are in them, the kernel k, which calls f; p is undefined, and v is a variable.
From sm_100 on there is a second set of sections, whose flag is MERC.
"""
import struct
from typing import NamedTuple

import made_up

MERC = 0x10000000
K, F, P, V = 1, 2, 3, 4     # symbols
STRINGS = b"\0k\0f\0p\0v\0"
SYMBOL = struct.Struct("<IBBHQQ")
NV = 0x70000000


def words(*values):
    return struct.pack(f"<{len(values)}I", *values)


def attribute(number, *values):
    return struct.pack("<BBH", 4, number, 4 * len(values)) + words(*values)


def note(*values):
    return words(12, 4 * len(values), 1000) + b"NVIDIA Corp\0" + words(*values)


def relocation(place, symbol, type):
    return struct.pack("<QQq", place, symbol << 32 | type, 0)


UNIT = words(12) + bytes(12)
ATTRIBUTES = (attribute(0x2f, K, 8) + attribute(0x2f, F, 8) + attribute(0x11, K, 0) +
              attribute(0x12, K, 0) + attribute(0x23, F, 0))
PARAMETERS = (struct.pack("<BBH", 3, 0x1b, 255) + attribute(0x17, 0, 0, 8) +
              attribute(0x17, 0, 1 | 8 << 16, 8) + attribute(0x0a, K, 16) + attribute(0x0f, P))
NO = 0xffffffff
CALLS = words(0, NO, 0, NO - 1, 0, NO - 2, K, F, K, P)


class Set(NamedTuple):
    """What differs between the sets: how names begin, of code and of the rest, and types."""
    code: str
    rest: str
    text: int
    symtab: int
    info: int
    callgraph: int
    prototype: int
    rela: int


FIRST = Set(".text", "", 1, 2, NV, NV + 1, NV + 2, 4)
SECOND = Set(".nv.capmerc.text", ".nv.merc", NV + 0x16, NV + 0x85, NV + 0x83, NV + 0x8a, NV + 0x8b,
             NV + 0x82)


def rows_of(one, index):
    """(name, bytes, fields) of each section of a set; link and info may be names.  `index` has
    where sections are."""
    flags = MERC if one is SECOND else 0
    symtab, debug_frame = f"{one.rest}.symtab", f"{one.rest}.debug_frame"
    symbols = (("k", 0x12, 0x10, f"{one.code}.k", 32), ("f", 0x12, 0, f"{one.code}.f", 32),
               ("p", 0x12, 0, None, 0), ("v", 0x11, 0, ".nv.global", 4))

    def row(name, content, type, link=symtab, flags=flags, **fields):
        return name, content, {"type": type, "flags": flags, "link": link, **fields}
    yield row(f"{one.rest}.nv.info", ATTRIBUTES, one.info)
    yield row(f"{one.rest}.nv.info.k", PARAMETERS, one.info, info=f"{one.code}.k")
    yield row(f"{one.rest}.nv.callgraph", CALLS, one.callgraph, entry=8)
    yield row(f"{one.rest}.nv.prototype", words(F, 5), one.prototype, entry=8)
    yield row(f"{one.rest}.rela.text.k", relocation(8, F, 50), one.rela, info=f"{one.code}.k",
              entry=24)
    yield row(f"{one.rest}.rela.debug_frame", relocation(16, K, 2), one.rela, info=debug_frame,
              entry=24)
    yield row(debug_frame, 2 * UNIT, 1, 0)
    for name, symbol in (("k", K), ("f", F)):
        yield row(f"{one.code}.{name}", bytes(32), one.text, info=8 << 24 | symbol,
                  flags=flags or 6)
    yield row(symtab, bytes(SYMBOL.size) + b"".join(
        SYMBOL.pack(STRINGS.index(name.encode()), kind, other, index.get(section, 0), 0, size)
        for name, kind, other, section, size in symbols),
        one.symtab, ".strtab", info=1, entry=SYMBOL.size)


def rows(arch, toolkit, index):
    yield ".strtab", STRINGS, {"type": 3, "flags": 0}
    yield ".nv.constant0.k", bytes(16), {"type": NV + 0x64, "info": ".text.k"}
    yield ".nv.global", b"", {"type": NV + 7, "flags": 3, "size": 4}
    yield ".nv.shared.k", b"", {"type": NV + 10, "flags": 3, "size": 4, "info": ".text.k"}
    if toolkit >= 130:
        yield ".nv.compat", b"\2\x09\0\0" b"\4\2\4\0abcd", {"type": NV + 0x86, "flags": 0}
        yield ".note.nv.tkinfo", note(0, 0), {"type": 7}
        yield ".note.nv.cuinfo", note(arch << 16, toolkit), {
            "type": 7, "link": ".note.nv.tkinfo", "info": ".nv.compat"}
    yield from rows_of(FIRST, index)
    if arch >= 100:
        yield from rows_of(SECOND, index)


def cubin(arch=80, toolkit=129):
    """Of ABI 7 before 13.0, of ABI 8 since."""
    index = {name: number for number, (name, *_) in enumerate(rows(arch, toolkit, {}), 1)}
    sections = [(name, content, {key: index.get(value, value) for key, value in fields.items()})
                for name, content, fields in rows(arch, toolkit, index)]
    if toolkit >= 130:
        return made_up.elf(sections, machine=190, osabi=0x41, abi=8,
                           flags=index[".note.nv.cuinfo"] << 24 | arch << 8 |
                           (4 if arch < 100 else 2))
    return made_up.elf(sections, machine=190, osabi=0x33, abi=7, version=toolkit,
                       flags=arch << 16 | 0x500 | arch)
