# SPDX-License-Identifier: MIT
"""Reads `.note.dlopen` (UAPI.12) out of an ELF file, by its sections and by its segments."""
import json
import re
import struct

import elf


def _sections(path):
    """(offset, size, alignment) of each that has that name."""
    found = re.findall(r"\] \.note\.dlopen +NOTE +\w+ (\w+) (\w+) 00 +A +\d+ +\d+ +(\d+)$",
                       elf.readelf("-S", path), re.M)
    return [(int(offset, 16), int(size, 16), int(align)) for offset, size, align in found]


def _segments(path):
    """The same of all PT_NOTEs."""
    found = re.findall(r"^  NOTE +(\w+) \w+ \w+ (\w+) \w+ R +(\w+)$", elf.readelf("-l", path), re.M)
    return [tuple(int(number, 16) for number in numbers) for numbers in found]


def _notes(data, offset, size):
    end = offset + size
    while offset < end:
        owner, text, kind = struct.unpack_from("<III", data, offset)
        name = data[offset + 12:offset + 12 + owner]
        offset += 12 + (owner + 3) // 4 * 4
        yield name, kind, data[offset:offset + text]
        offset += (text + 3) // 4 * 4
    assert offset == end


def _entries(path, places, wanted=(b"FDO\0", 0x407c0c0a)):
    found, data = [], path.read_bytes()
    for offset, size, align in places:
        if align != 4:
            continue
        for name, kind, text in _notes(data, offset, size):
            if (name, kind) == wanted:
                assert text.endswith(b"\0") and text.count(b"\0") == 1
                found += json.loads(text[:-1])
    return found


def by_section(path):
    return _entries(path, _sections(path))


def by_segment(path):
    return _entries(path, _segments(path))


def packages(path):
    """Those of PyPI that have the library of a stub."""
    return _entries(path, _segments(path), (b"lazycuda\0", 1))
