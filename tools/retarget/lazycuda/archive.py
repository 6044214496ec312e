# SPDX-License-Identifier: MIT
"""Writes a zip archive of members whose bytes are compressed elsewhere.

zipfile cannot write bytes that are compressed already.  The output depends on the members
and what describes them, not on the version of Python.
"""
import contextlib
import struct
import zipfile

LOCAL = struct.Struct("<4s5H3I2H")
CENTRAL = struct.Struct("<4s4B4H3I5H2I")
END = struct.Struct("<4s4H2IH")
WIDE_END = struct.Struct("<4sQ2H2I4Q")
WIDE_PLACE = struct.Struct("<4sIQI")
WIDE_EXTRA = 1              # the extra field with sizes of 64 bits
NEEDS_WIDE = 45             # the version of the format that has them
NEEDS = {zipfile.ZIP_BZIP2: 46, zipfile.ZIP_LZMA: 63}
UTF8 = 0x800
UNIX = 3

# The largest values of 32 and 16 bits, which say that another field has the value.
LIMIT = 0xffffffff
COUNT_LIMIT = 0xffff


def _wide_extra(*values):
    return struct.pack(f"<2H{len(values)}Q", WIDE_EXTRA, 8 * len(values), *values)


def _dos_time(date):
    """(time, date) as the archive has them."""
    year, month, day, hour, minute, second = date
    return hour << 11 | minute << 5 | second // 2, (year - 1980) << 9 | month << 5 | day


def _name(info):
    """(flag, bytes)"""
    try:
        return 0, info.filename.encode("ascii")
    except UnicodeEncodeError:
        return UTF8, info.filename.encode("utf-8")


def _described(info, wide):
    """What both headers of a member have in common, up to its sizes."""
    flag, _ = _name(info)
    needs = max(20, NEEDS.get(info.compress_type, 0), NEEDS_WIDE if wide else 0)
    return needs, (info.flag_bits | flag, info.compress_type, *_dos_time(info.date_time),
                   info.CRC)


class Archive:
    """Is whole once it is closed without an error."""

    def __init__(self, path):
        self.stream = open(path, "wb")
        self.members = []

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        with self.stream:
            if not kind:
                self._finish()

    @contextlib.contextmanager
    def member(self, info, most):
        """Gives the stream for a member's compressed bytes, at most `most` of them.  Once they are
        written, `info` has to be complete, except for the member's place and compressed size."""
        info.header_offset, wide = self.stream.tell(), max(most, info.file_size) >= LIMIT
        info.compress_size = info.CRC = 0
        self._write_header(info, wide)      # for its room
        start = self.stream.tell()
        yield self.stream
        end = self.stream.tell()
        info.compress_size = end - start
        self.stream.seek(info.header_offset)
        self._write_header(info, wide)
        self.stream.seek(end)
        self.members.append(info)

    def _write_header(self, info, wide):
        name = _name(info)[1]
        needs, common = _described(info, wide)
        sizes = info.compress_size, info.file_size
        extra = _wide_extra(*reversed(sizes)) if wide else b""
        self.stream.write(LOCAL.pack(b"PK\3\4", needs, *common, *((LIMIT, LIMIT) if wide else sizes),
                                     len(name), len(extra)) + name + extra)

    def _write_entry(self, info):
        name = _name(info)[1]
        fields = info.file_size, info.compress_size, info.header_offset
        large = [value for value in fields if value >= LIMIT]
        extra = _wide_extra(*large) if large else b""
        size, packed, offset = (min(value, LIMIT) for value in fields)
        needs, common = _described(info, large)
        self.stream.write(CENTRAL.pack(
            b"PK\1\2", needs, UNIX, needs, 0, *common, packed, size, len(name), len(extra), 0, 0,
            0, info.external_attr, offset) + name + extra)

    def _finish(self):
        start, count = self.stream.tell(), len(self.members)
        for info in self.members:
            self._write_entry(info)
        end = self.stream.tell()
        if count >= COUNT_LIMIT or end >= LIMIT:
            self.stream.write(WIDE_END.pack(
                b"PK\6\6", WIDE_END.size - 12, NEEDS_WIDE, NEEDS_WIDE, 0, 0, count, count,
                end - start, start) + WIDE_PLACE.pack(b"PK\6\7", 0, end, 1))
        count = min(count, COUNT_LIMIT)
        self.stream.write(END.pack(b"PK\5\6", 0, 0, count, count, min(end - start, LIMIT),
                                   min(start, LIMIT), 0))
