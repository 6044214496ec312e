# SPDX-License-Identifier: MIT
"""Reads which members a wheel's archive has and where each lies, before anything is unpacked.

Readers of zip archives differ: one goes by the directory, another by the headers before the members,
and names that are spelled differently mean one file.  What two of them could take for two wheels is
refused.  tools/zip.c does the same for `lazycuda audit`, in the same words.
"""
import os
import re
import struct
from typing import NamedTuple, Tuple

from .repoint import Refused

END = struct.Struct("<4s4H2LH")             # the end record
WIDE_END = struct.Struct("<4sQ2H2L4Q")      # the same with 64 bits
WIDE_PLACE = struct.Struct("<4sLQL")        # where that is
ENTRY = struct.Struct("<4s2B5H3L5H2L")      # of the directory
LOCAL = struct.Struct("<4s5H3L2H")          # the header before a member
UTF8, FOLLOWS = 0x800, 8        # flags: how a name is written; sizes follow the member
UNREADABLE = 0x61               # it is encrypted or patched
AGREED = UTF8 | FOLLOWS | UNREADABLE
STORED, DEFLATED = 0, 8
WIDE, UNICODE_NAME = 1, 0x7075  # extra fields
TOP = 0xffffffff                # the number is among the extra fields
# Deflate makes at most so many bytes of one.
EXPANSION = 1032
# Of 190 wheels with CUDA none unpacks to 9 times its size.
MOST, MOST_TIMES = 512 << 20, 100
# The largest of these have 64 kB, 1.3 MB and 229 bytes.
LIMITS = {"METADATA": 16 << 20, "RECORD": 16 << 20, "WHEEL": 1 << 20}
OWN = re.compile(r"[^/]+\.dist-info/(METADATA|RECORD|WHEEL)\Z")
DAMAGED = "has a damaged directory, or an end record that is not of it"


class Member(NamedTuple):
    """As zipfile calls these."""
    date_time: Tuple[int, ...]
    create_system: int
    external_attr: int
    flag_bits: int
    compress_type: int
    CRC: int
    compress_size: int
    file_size: int
    at: int             # where its bytes begin


def _refuse(why, name=None):
    """`name`: of the member whose fault it is, as it is written."""
    raise Refused("WHEEL", why if name is None else
                  f"holds {name.partition(bytes(1))[0].decode(errors='replace')}, {why}")


# ---- names ----

def installed(name):
    """Where pip puts a member, relative to site-packages; None: elsewhere."""
    first, _, rest = name.partition("/")
    if not first.endswith(".data"):
        return name
    scheme, _, rest = rest.partition("/")
    return rest if scheme in ("platlib", "purelib") else None


def _name(raw, flags):
    """A member's name with one spelling for one place; "" for the root."""
    if len(raw) > 4095:
        _refuse("a name that is longer than any path may be", raw)
    try:
        name = raw.partition(b"\0")[0].decode("utf-8" if flags & UTF8 else "ascii")
    except UnicodeDecodeError:
        _refuse("a name that is not marked as UTF-8, or is not", raw)
    parts, folder = name.split("/"), name.endswith("/")
    kept = [part for part in parts if part not in ("", ".")]
    if not parts[0] or ".." in parts or b"\0" in raw or "\\" in name or not (kept or folder):
        _refuse("which would lie outside of it", raw)
    if any(len(part.encode()) > 255 for part in kept):
        _refuse("a name that is longer than any path may be", raw)
    # pip goes by how the name begins, others by the folder.
    if kept and kept[0].endswith(".data") and (kept[0] != parts[0] or not folder and len(kept) < 3):
        _refuse("which installers put at different places", raw)
    return "/".join(kept) + ("/" if folder and kept else "")


def _check_places(names):
    """A file may be neither at the place of another nor above it."""
    def place(name):
        rest = installed(name)
        # Whatever the folder is called, pip installs from it.
        return (".data/" + name.partition("/")[2] if rest is None else rest).replace("/", "\0")
    found = sorted((place(name), name) for name in names)
    for (one, first), (other, second) in zip(found, found[1:]):
        if not first.endswith("/") and (one == other or other.startswith(one + "\0")):
            _refuse(f"holds {first} and {second}, which are one place")


def check_added(members, added):
    """What is added to the members obeys the same rules."""
    for name in added:
        _name(os.fsencode(name), UTF8)
    _check_places({*members, *added})


# ---- the archive ----

def _find(read, size):
    """Where the directory begins and ends, and how many members it has."""
    begin = max(0, size - END.size - 0xffff - WIDE_PLACE.size - WIDE_END.size)
    tail = read(begin, size - begin)
    at = tail.rfind(b"PK\5\6", max(0, len(tail) - END.size - 0xffff), len(tail) - END.size + 4)
    if at < 0:
        _refuse("is no zip archive, or cut short: it has no end record")
    _, *disks, here, count, length, start, comment = END.unpack_from(tail, at)
    end, agree = begin + at, comment == len(tail) - at - END.size
    if tail[max(0, at - WIDE_PLACE.size):at].startswith(b"PK\6\7"):
        end -= WIDE_PLACE.size + WIDE_END.size
        if end < begin:
            _refuse(DAMAGED)
        magic, more, _, _, *wide_disks, here64, count64, length64, start64 = WIDE_END.unpack_from(
            tail, end - begin)
        _, disk, place, all_disks = WIDE_PLACE.unpack_from(tail, at - WIDE_PLACE.size)
        agree &= magic == b"PK\6\6" and (more, disk, place) == (44, 0, end) and all_disks < 2
        agree &= all(few in (many, top) for few, many, top in (
            (here, here64, 0xffff), (count, count64, 0xffff), (length, length64, TOP), (start, start64, TOP)))
        disks, here, count, length, start = disks + wide_disks, here64, count64, length64, start64
    if not agree or any(disks) or here != count or start + length != end:
        _refuse(DAMAGED)
    return start, end, count


def _extras(extra, name, numbers):
    """These numbers, with those that need 64 bits; None if the fields are damaged, or one has another
    name, which some readers take."""
    numbers, at = list(numbers), 0
    while at + 4 <= len(extra):
        kind, length = struct.unpack_from("<HH", extra, at)
        field = extra[at + 4:at + 4 + length]
        if len(field) < length or kind == UNICODE_NAME and field[5:] != name:
            return None
        for i, number in enumerate(numbers if kind == WIDE else ()):
            if number == TOP and len(field) >= 8:
                numbers[i], field = int.from_bytes(field[:8], "little"), field[8:]
        at += 4 + length
    return numbers


def _behind(read, member, end):
    """Where a member ends, with its sizes behind it if they are there."""
    if not member.flag_bits & FOLLOWS:
        return end
    there = read(end, 24)
    for form in ("<LQQ", "<LLL"):
        sizes = member.CRC, member.compress_size, member.file_size
        for mark in (b"PK\7\x08", b""):
            if form == "<LQQ" or max(sizes) <= TOP:
                said = mark + struct.pack(form, *sizes)
                if there.startswith(said):
                    return end + len(said)
    return None


def _locate(read, name, member, header):
    """Where the member's bytes begin and where the next header is; None if the header before it is not
    what the directory says."""
    head = read(header, LOCAL.size + len(name))
    if len(head) < LOCAL.size + len(name):
        return None
    magic, _, flags, method, _, _, crc, packed, size, length, extra = LOCAL.unpack_from(head)
    if (magic, head[LOCAL.size:], length) != (b"PK\3\4", name, len(name)) or \
            (flags ^ member.flag_bits) & AGREED or method != member.compress_type:
        return None
    sizes = _extras(read(header + len(head), extra) if extra else b"", name, (size, packed))
    wanted = [member.file_size, member.compress_size]
    if sizes != wanted and not (flags & FOLLOWS and sizes in ([0, 0], [TOP, TOP])) or \
            crc != member.CRC and not (flags & FOLLOWS and not crc):
        return None
    begin = header + len(head) + extra
    end = _behind(read, member, begin + member.compress_size)
    return end and (begin, end)


def read(stream, size):
    """{name: Member} of the archive in a file of that size, in its order."""
    def at(place, length):
        return os.pread(stream.fileno(), length, place)
    start, end, count = _find(at, size)
    directory, place, follows, total, found = at(start, end - start), 0, 0, 0, []
    while place < len(directory):
        if len(directory) - place < ENTRY.size:
            _refuse(DAMAGED)
        (magic, _, system, _, flags, method, clock, day, crc, packed, unpacked, length, extra, comment, disk,
         _, attributes, header) = ENTRY.unpack_from(directory, place)
        rest = place + ENTRY.size
        place = rest + length + extra + comment
        if magic != b"PK\1\2" or disk or place > len(directory):
            _refuse(DAMAGED)
        raw = directory[rest:rest + length]
        name = _name(raw, flags)
        numbers = _extras(directory[rest + length:rest + length + extra], raw, (unpacked, packed, header))
        unpacked, packed, header = numbers or (0, 0, TOP)
        date = (day >> 9) + 1980, day >> 5 & 15, day & 31, clock >> 11, clock >> 5 & 63, clock * 2 & 63
        member = Member(date, system, attributes, flags, method, crc, packed, unpacked, 0)
        if flags & UNREADABLE:
            _refuse("which is encrypted, or patched", raw)
        if method not in (STORED, DEFLATED):
            _refuse("which is compressed in a way that is not known here", raw)
        if header < follows:
            _refuse("which overlaps with the member before it", raw)
        if header > follows and numbers:
            _refuse("and before it what is no member", raw)
        located = numbers and _locate(at, raw, member, header)
        if not located or located[1] > start:
            _refuse("whose header is not what the directory says", raw)
        begin, follows = located
        total += unpacked
        own = OWN.match(name)
        if unpacked > packed * EXPANSION or unpacked and raw.endswith(b"/") or \
                unpacked != packed and method == STORED:
            _refuse("which claims an impossible size", raw)
        if own and unpacked > LIMITS[own[1]]:
            _refuse(f"which has more than {LIMITS[own[1]] >> 20} MiB", raw)
        found.append((name, member._replace(at=begin)))
    if len(found) != count or follows != start:
        _refuse(DAMAGED)
    if total > max(MOST, MOST_TIMES * size):
        _refuse(f"unpacks to more than {MOST >> 20} MiB and {MOST_TIMES} times its size")
    _check_places([name for name, _ in found if name])
    return {name: member for name, member in found if name}
