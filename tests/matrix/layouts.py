# SPDX-License-Identifier: MIT
"""Structs as each version's headers lay them out, filled with values that can be
told apart, from symbols.txt alone.
"""
import functools
import hashlib
import re
from dataclasses import dataclass

import symbols

SIZES = {"i8": 1, "i16": 2, "i32": 4, "i64": 8, "u8": 1, "u16": 2, "u32": 4, "u64": 8,
         "f32": 4, "f64": 8, "ptr": 8}
# What lies between fields.  No field's value has such a byte, nor a guard byte.
PADDING = 0x5c
GUARD = 0xa5


@dataclass(frozen=True)
class Field:
    name: str
    type: str
    count: int
    offset: int
    size: int

    @property
    def end(self):
        return self.offset + self.size

    @property
    def reserved(self):
        """Not for a program to use."""
        return re.search(r"(^|[._])(cudaReserved|(internal_)?padding|oversize|reserved\d*|unused"
                         r"|pad)$", self.name)


@functools.lru_cache(maxsize=None)
def rows():
    """{struct: [(Field, Range)]} of cudart."""
    found, structs = {}, symbols.read().libraries["cudart"].structs
    for struct, listed in symbols.read().libraries["cudart"].fields.items():
        found[struct] = []
        for name, kind, offset, span in listed:
            base, _, count = kind.rstrip("]").partition("[")
            base, count = "ptr" if base.startswith("*") else base, int(count or 1)
            size = count * (SIZES[base] if base in SIZES else structs[base][0][0])
            found[struct].append((Field(name, base, count, offset, size), span))
    return found


def is_struct(type_name):
    return type_name not in SIZES and type_name != "?"


@functools.lru_cache(maxsize=None)
def fields(struct, version):
    return tuple(field for field, span in rows()[struct] if version in span)


@functools.lru_cache(maxsize=None)
def size(type_name, version):
    """In the headers of that version.  The layouts with an older version's name
    (cudaDeviceProp_v1) stay what they were."""
    if not is_struct(type_name):
        return SIZES[type_name]
    sizes = [size for size, span, _ in symbols.read().libraries["cudart"].structs[type_name]
             if version in span]
    assert len(sizes) == 1, (type_name, version)
    return sizes[0]


@functools.lru_cache(maxsize=None)
def arm(struct, version, wanted=()):
    """Fields that do not overlap: first those whose names begin as wanted, then
    as many others as there is room for."""
    chosen = []
    # Of a union, a member that fills it.
    everything = sorted(fields(struct, version), key=lambda f: (f.offset, -f.size))
    first = [f for f in everything if f.name.startswith(wanted)] if wanted else []
    for field in (*first, *[f for f in everything if not f.reserved],
                  *[f for f in everything if f.reserved]):
        if all(field.end <= other.offset or other.end <= field.offset for other in chosen):
            chosen.append(field)
    return tuple(sorted(chosen, key=lambda f: f.offset))


@functools.lru_cache(maxsize=None)
def in_union(field, struct, version):
    return any(o.name != field.name and o.offset < field.end and field.offset < o.end
               for o in fields(struct, version))


def value(who, what, length):
    """Bytes that nobody else puts anywhere: `who` is "caller" or "runtime"."""
    made = b""
    while len(made) < length:
        made += hashlib.sha256(f"{who} {what} {len(made)}".encode()).digest()
    return bytes(b if b not in (0, PADDING, GUARD, 0x7e) else 0x11 for b in made[:length])


def number(n, length):
    return (n % (1 << 8 * length)).to_bytes(length, "little")


def filled(who, struct, version, wanted=(), given=None, element=0, padding=PADDING):
    """(bytes, {field: value}): each field has its value, or what is given;
    reserved ones are zero, but for what is reserved in a union: that is padding
    behind its other members."""
    given = given or {}
    image = bytearray([padding]) * size(struct, version)
    values = {}
    for field in fields(struct, version):
        if field.reserved and who == "caller" and not in_union(field, struct, version):
            image[field.offset:field.end] = bytes(field.size)
    for field in arm(struct, version, wanted):
        if field.name in given:
            bits = number(given[field.name], field.size)
        elif field.reserved and who == "caller":
            continue
        else:
            bits = value(who, f"{field.name} {element}", field.size)
        image[field.offset:field.end] = bits
        values[field.name] = bits
    return bytes(image), values


def read(struct, version, image):
    """{field: bytes}, all of them, also those that overlap."""
    return {f.name: image[f.offset:f.end] for f in fields(struct, version)}
