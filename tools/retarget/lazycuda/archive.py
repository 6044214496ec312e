# SPDX-License-Identifier: MIT
"""Reads the archive of a wheel, and writes another that differs in what it is told.

Members keep their order, dates and modes, so that the same input gives the same
output, bit for bit.  The bytes of those that do not change are copied as they are,
compressed; every member is decompressed once, to be checked.
"""
import base64
import contextlib
import csv
import hashlib
import io
import os
import re
import stat
import time
import zipfile
import zlib

from . import deflate, directory, progress, report
from .repoint import Refused

FILE_NAME = re.compile(r"(?P<name>[^-]+)-(?P<version>[^-]+)(-(?P<build>\d[^-]*))?"
                       r"-(?P<tags>[^-]+-[^-]+-[^-]+)(-(?P<variant>[0-9a-z._]{1,16}))?\.whl$")
SIGNATURES = ("RECORD.jws", "RECORD.p7s")
CHUNK = 1 << 20
UNIX = 3
PACKING = 6         # the flags of a member that say how it is compressed
EXECUTABLE = (stat.S_IFREG | 0o755) << 16
EARLIEST = 315532800        # 1980, where the dates of zip archives begin
LATEST = 4354819199         # 2107, where they end


@contextlib.contextmanager
def _reading(name):
    try:
        yield
    except (EOFError, ValueError, zlib.error, csv.Error) as error:
        raise Refused("WHEEL", f"its {name} cannot be read: {error}") from None


@contextlib.contextmanager
def naming(path):
    """Errors of a write tell no file: "No space left on device"."""
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno:
            raise OSError(error.errno, error.strerror, str(path)) from None
        raise


def _chunks(source):
    return iter(lambda: source.read(CHUNK), b"")


class Digest:
    """What RECORD and the archive say of a member's bytes."""

    def __init__(self):
        self.sha256, self.size, self.crc = hashlib.sha256(), 0, 0

    def add(self, chunk):
        self.sha256.update(chunk)
        self.size += len(chunk)
        self.crc = deflate.fastest().crc32(chunk, self.crc)

    def row(self, name):
        text = base64.urlsafe_b64encode(self.sha256.digest()).rstrip(b"=").decode()
        return name, f"sha256={text}", self.size


class Wheel:
    def __init__(self, path, line=progress.NO_LINE):
        self.path = path
        self.line = line            # shows the progress of long work
        found = FILE_NAME.match(path.name)
        if not found:
            raise Refused("WHEEL", "its name is not that of a wheel: NAME-VERSION-PYTHON-ABI-"
                                   "PLATFORM.whl")
        self.name, self.version, self.build, self.tags, self.variant = found.group(
            "name", "version", "build", "tags", "variant")
        self.file = open(path, "rb")
        self.digests = {}           # of members that were read
        try:
            self.members = directory.read(self.file, os.fstat(self.file.fileno()).st_size)
            self.dist_info = self._find_dist_info()
        except Refused:
            self.close()
            raise

    def close(self):
        self.file.close()

    def _find_dist_info(self):
        found = {name.split("/")[0] for name in self.members if directory.OWN.match(name)}
        if len(found) != 1:
            raise Refused("WHEEL", f"holds {len(found)} folders *.dist-info with a METADATA, "
                                   "RECORD or WHEEL, and should hold one")
        folder = found.pop()
        for name in ("METADATA", "RECORD", "WHEEL"):
            if f"{folder}/{name}" not in self.members:
                raise Refused("WHEEL", f"holds no {folder}/{name}")
        return folder

    def member(self, name):
        return f"{self.dist_info}/{name}"

    def read(self, name):
        content = io.BytesIO()
        self.unpack(name, progress.Stage(progress.NO_LINE, "", 0), content)
        return content.getvalue()

    def stage(self, doing, names):
        """A stage of the progress line, for work on these members."""
        total = sum(self.members[name].file_size for name in names if name in self.members)
        return progress.Stage(self.line, f"{doing} {report.printable(self.path.name)}", total)

    def packed(self, name):
        """A member's bytes as they lie in the archive, in chunks."""
        info = self.members[name]
        at, end = info.at, info.at + info.compress_size
        while at < end:
            chunk = os.pread(self.file.fileno(), min(CHUNK, end - at), at)
            if not chunk:
                raise EOFError("it is cut short")
            at += len(chunk)
            yield chunk

    def _contents(self, name):
        """A member's bytes in chunks."""
        info = self.members[name]
        if info.compress_type == zipfile.ZIP_STORED or not info.compress_size:
            return self.packed(name)
        return deflate.inflated(self.packed(name), CHUNK)

    def unpack(self, name, stage, sink):
        """Read a member whole, into `sink`.  Raises Refused if it is not what the archive says."""
        info, digest = self.members[name], Digest()
        with _reading(name):
            for chunk in self._contents(name):
                digest.add(chunk)
                if digest.size > info.file_size:
                    raise ValueError("it is longer than the archive says")
                sink.write(chunk)
                stage.add(len(chunk))
            if (digest.size, digest.crc) != (info.file_size, info.CRC):
                raise ValueError("its size or checksum is not what the archive says")
        self.digests[name] = digest

    def file_name(self, build):
        """The name of the wheel that is written."""
        parts = filter(None, [self.name, self.version, build or self.build, self.tags, self.variant])
        return f"{'-'.join(parts)}.whl"


class Archive(zipfile.ZipFile):
    """A zip archive of members whose bytes are compressed elsewhere, as zipfile alone cannot write it."""

    def __init__(self, path):
        super().__init__(path, "w")

    @contextlib.contextmanager
    def member(self, info, most):
        """Gives the stream for a member's compressed bytes, at most `most` of them.  Once they are
        written, `info` has to be complete, except for the member's place and compressed size."""
        for field in ("CRC", "compress_size", "file_size"):     # which a new one may not have
            setattr(info, field, getattr(info, field, 0))
        info.header_offset, wide = self.fp.tell(), max(most, info.file_size) > zipfile.ZIP64_LIMIT
        header = info.FileHeader(wide)
        self.fp.write(header)
        start = self.fp.tell()
        yield self.fp
        self.start_dir = self.fp.tell()           # of what zipfile writes next
        info.compress_size = self.start_dir - start
        if info.FileHeader(wide) != header:
            self.fp.seek(info.header_offset)
            self.fp.write(info.FileHeader(wide))
            self.fp.seek(self.start_dir)
        self.filelist.append(info)
        self.NameToInfo[info.filename] = info
        self._didModify = True


def _member(name, info, date):
    """What describes a member in the new archive: what the old one says of it,
    except for its place."""
    new = zipfile.ZipInfo(name, info.date_time if info else date)
    new.create_system = UNIX
    new.external_attr = info.external_attr if info else EXECUTABLE
    if info and info.create_system != UNIX and not info.external_attr >> 16:
        new.external_attr = (stat.S_IFREG | 0o644) << 16
    new.compress_type = info.compress_type if info else zipfile.ZIP_DEFLATED
    new.flag_bits = info.flag_bits & PACKING if info else 0
    if info and not info.compress_size:
        new.compress_type = zipfile.ZIP_STORED
    return new


def _date_of_new(wheel):
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    if epoch.isdecimal():
        return time.gmtime(min(max(int(epoch), EARLIEST), LATEST))[:6]
    return wheel.members[wheel.member("RECORD")].date_time


def _order(wheel, changed, removed):
    """Names in the order of the new archive: what is new before the metadata,
    RECORD last."""
    dropped = {*removed, wheel.member("RECORD"), *map(wheel.member, SIGNATURES)}
    old = [name for name in wheel.members if name not in dropped]
    first = next(i for i, name in enumerate([*old, wheel.dist_info])
                 if name.startswith(wheel.dist_info))
    new = sorted(name for name in changed if name not in wheel.members)
    return [*old[:first], *new, *old[first:]]


def _write_new(out, info, content, stage, fast):
    """Write a member anew, of a file or bytes."""
    digest = Digest()

    def note(chunk):
        digest.add(chunk)
        stage.add(len(chunk))
    if isinstance(content, bytes):
        source, info.file_size = io.BytesIO(content), len(content)
    else:
        source, info.file_size = open(content, "rb"), os.stat(content).st_size
    if info.compress_type != zipfile.ZIP_STORED:
        info.compress_type = zipfile.ZIP_DEFLATED
    with source, out.member(info, deflate.most(info.file_size)) as sink:
        if info.compress_type == zipfile.ZIP_DEFLATED:
            deflate.compress(source, sink, note, info.flag_bits, fast)
        else:
            for chunk in _chunks(source):
                note(chunk)
                sink.write(chunk)
        info.file_size, info.CRC = digest.size, digest.crc
    return digest


def _copy(out, info, wheel, stage):
    """Write a member as it lies in the old wheel."""
    name, old = info.filename, wheel.members[info.filename]
    info.file_size, info.CRC = old.file_size, old.CRC
    info.compress_size = old.compress_size
    with out.member(info, old.compress_size) as sink:
        for chunk in wheel.packed(name):
            sink.write(chunk)
    stage.add(old.file_size)
    return wheel.digests[name]


def write(wheel, target, changed, removed, fast):
    """Write the new wheel to the path `target`: `changed` maps names to files or bytes.  `fast`: what is
    new is compressed by isal."""
    date, rows, order = _date_of_new(wheel), [], _order(wheel, changed, removed)
    with naming(target), Archive(target) as out, wheel.stage("writing", order) as stage:
        for name in order:
            info = _member(name, wheel.members.get(name), date)
            if name.endswith("/"):
                info.compress_type = zipfile.ZIP_STORED
                with out.member(info, 0):
                    continue
            digest = (_write_new(out, info, changed[name], stage, fast) if name in changed
                      else _copy(out, info, wheel, stage))
            rows.append(digest.row(name))
        name = wheel.member("RECORD")
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([*rows, (name, "", "")])
        _write_new(out, _member(name, wheel.members[name], date), text.getvalue().encode(), stage, fast)


def wrong_rows(wheel):
    """Members that are not what RECORD says."""
    name = wheel.member("RECORD")
    # Lines may end in CR, as Python's csv wants to be told.
    text = io.TextIOWrapper(io.BytesIO(wheel.read(name)), "utf-8", "replace", newline="")
    csv.field_size_limit(directory.LIMITS["RECORD"])
    with _reading(name):
        said = {row[0]: tuple(row[1:3]) for row in csv.reader(text)
                if len(row) > 2 and row[0] in wheel.digests}
    return [name for name, digest in wheel.digests.items()
            if name in said and said[name][0].startswith("sha256=") and
            said[name] != tuple(map(str, digest.row(name)[1:]))]
