# SPDX-License-Identifier: MIT
"""Relocatable cubins with all kinds of sections that compilers write, made by hand.

Two functions are in them, the kernel k, which calls f; p is undefined, and v is a variable.
From sm_100 on there is a second set of sections, whose flag is MERC.
"""
import struct

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


def set_of(text, merc, types):
    """[(name, bytes, fields)] of a set; its code is in sections `text`.*, `merc` is what other
    names begin with, `types` are those of sections that have another type in each set."""
    flags = MERC if merc else 0
    symtab = f"{merc}.symtab"
    debug_frame = f"{merc}.debug_frame"

    def row(name, content, type, link=symtab, flags=flags, **fields):
        return name, content, {"type": type, "flags": flags, "link": link, **fields}
    return [
        row(f"{merc}.nv.info", ATTRIBUTES, types["info"]),
        row(f"{merc}.nv.info.k", PARAMETERS, types["info"], info=f"{text}.k"),
        row(f"{merc}.nv.callgraph", CALLS, types["callgraph"], entry=8),
        row(f"{merc}.nv.prototype", words(F, 5), types["prototype"], entry=8),
        row(f"{merc}.rela.text.k", relocation(8, F, 50), types["rela"], info=f"{text}.k", entry=24),
        row(f"{merc}.rela.debug_frame", relocation(16, K, 2), types["rela"], info=debug_frame,
            entry=24),
        row(debug_frame, 2 * UNIT, 1, None),
        *(row(f"{text}.{name}", bytes(32), types["text"], info=8 << 24 | symbol,
              flags=flags or 6) for name, symbol in (("k", K), ("f", F))),
        row(symtab, bytes(SYMBOL.size) + b"".join(
            SYMBOL.pack(STRINGS.index(name), kind, other, types["at"](section), 0, size)
            for name, kind, other, section, size in (
                (b"k", 0x12, 0x10, f"{text}.k", 32), (b"f", 0x12, 0, f"{text}.f", 32),
                (b"p", 0x12, 0, None, 0), (b"v", 0x11, 0, ".nv.global", 4))),
            types["symtab"], ".strtab", info=1, entry=SYMBOL.size)]


def cubin(arch=80, toolkit=129):
    """Of ABI 7 before 13.0, of ABI 8 since."""
    index = {}

    def sets():
        at = {"at": lambda name: index.get(name, 0)}
        yield from set_of(".text", "", {
            "info": NV, "callgraph": NV + 1, "prototype": NV + 2, "rela": 4, "text": 1,
            "symtab": 2, **at})
        if arch >= 100:
            yield from set_of(".nv.capmerc.text", ".nv.merc", {
                "info": NV + 0x83, "callgraph": NV + 0x8a, "prototype": NV + 0x8b,
                "rela": NV + 0x82, "text": NV + 0x16, "symtab": NV + 0x85, **at})

    def rows():
        new = toolkit >= 130
        yield ".strtab", STRINGS, {"type": 3, "flags": 0}
        yield ".nv.constant0.k", bytes(16), {"type": NV + 0x64, "info": ".text.k"}
        yield ".nv.global", b"", {"type": NV + 7, "flags": 3, "size": 4}
        yield ".nv.shared.k", b"", {"type": NV + 10, "flags": 3, "size": 4, "info": ".text.k"}
        if new:
            yield ".nv.compat", b"\2\x09\0\0" b"\4\2\4\0abcd", {"type": NV + 0x86, "flags": 0}
            yield ".note.nv.tkinfo", note(0, 0), {"type": 7}
            yield ".note.nv.cuinfo", note(arch << 16, toolkit), {
                "type": 7, "link": ".note.nv.tkinfo", "info": ".nv.compat"}
        yield from sets()

    for number, (name, *_) in enumerate(list(rows()), 1):
        index[name] = number
    sections = [(name, content, {key: index[value] if isinstance(value, str) else value or 0
                                 for key, value in fields.items()})
                for name, content, fields in rows()]
    if toolkit >= 130:
        return made_up.elf(sections, machine=190, osabi=0x41, abi=8,
                           flags=index[".note.nv.cuinfo"] << 24 | arch << 8 |
                           (4 if arch < 100 else 2))
    return made_up.elf(sections, machine=190, osabi=0x33, abi=7, version=toolkit,
                       flags=arch << 16 | 0x500 | arch)
