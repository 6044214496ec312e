# SPDX-License-Identifier: MIT
"""Reads `.note.dlopen` (UAPI.12) out of an ELF file, by its sections and by its segments."""
import json
import struct


def _tables(data):
    """((offset, size, alignment), ...) of the note sections of that name, and of all PT_NOTEs."""
    assert data[:6] == b"\x7fELF\x02\x01"
    phoff, shoff = struct.unpack_from("<QQ", data, 32)
    phentsize, phnum, shentsize, shnum, shstrndx = struct.unpack_from("<5H", data, 54)
    segments = []
    for i in range(phnum):
        kind, _, offset, _, _, size, _, align = struct.unpack_from("<IIQQQQQQ", data,
                                                                   phoff + i * phentsize)
        if kind == 4:       # PT_NOTE
            segments.append((offset, size, align))
    headers = [struct.unpack_from("<IIQQQQIIQQ", data, shoff + i * shentsize) for i in range(shnum)]
    sections = []
    for name, kind, flags, _, offset, size, _, _, align, _ in headers:
        start = headers[shstrndx][4] + name
        if data[start:data.index(b"\0", start)] == b".note.dlopen":
            assert (kind, flags & 2) == (7, 2)      # SHT_NOTE, SHF_ALLOC
            sections.append((offset, size, align))
    return sections, segments


def _notes(data, offset, size):
    end = offset + size
    while offset < end:
        owner, text, kind = struct.unpack_from("<III", data, offset)
        name = data[offset + 12:offset + 12 + owner]
        offset += 12 + (owner + 3) // 4 * 4
        yield name, kind, data[offset:offset + text]
        offset += (text + 3) // 4 * 4
    assert offset == end


def _entries(data, places, wanted=(b"FDO\0", 0x407c0c0a)):
    found = []
    for offset, size, align in places:
        if align != 4:
            continue
        for name, kind, text in _notes(data, offset, size):
            if (name, kind) == wanted:
                assert text.endswith(b"\0") and text.count(b"\0") == 1
                found += json.loads(text[:-1])
    return found


def by_section(path):
    data = path.read_bytes()
    return _entries(data, _tables(data)[0])


def by_segment(path):
    data = path.read_bytes()
    return _entries(data, _tables(data)[1])


def packages(path):
    """Those of PyPI that have the library of a stub."""
    data = path.read_bytes()
    return _entries(data, _tables(data)[1], (b"lazycuda\0", 1))
