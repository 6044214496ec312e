# SPDX-License-Identifier: MIT
"""Reads a wheel, and writes another that differs in what it is told.

Members keep their order, dates, modes and compression, so that the same input
gives the same output, bit for bit.
"""
import base64
import contextlib
import csv
import errno
import hashlib
import io
import os
import re
import stat
import struct
import time
import zipfile

from . import progress, report
from .repoint import Refused

FILE_NAME = re.compile(r"(?P<name>[^-]+)-(?P<version>[^-]+)(-(?P<build>\d[^-]*))?"
                       r"-(?P<tags>[^-]+-[^-]+-[^-]+)\.whl$")
SIGNATURES = ("RECORD.jws", "RECORD.p7s")
CHUNK = 1 << 20
EXECUTABLE = (stat.S_IFREG | 0o755) << 16
EARLIEST = 315532800        # 1980, where the dates of zip archives begin


# What zipfile raises where an archive is damaged; of OSError only a place that
# no file can have, and what bz2 raises, which is no error of the system.
DAMAGE = (zipfile.BadZipFile, zipfile.zlib.error, EOFError, NotImplementedError, RuntimeError,
          ValueError, OverflowError, struct.error,
          # A Python may be built without lzma.
          getattr(zipfile.lzma, "LZMAError", zipfile.BadZipFile))


@contextlib.contextmanager
def _reading(what):
    try:
        yield
    except DAMAGE as error:
        raise Refused("WHEEL", f"{what}: {error}") from None
    except OSError as error:
        if error.errno not in (None, errno.EINVAL):
            raise
        why = "it refers to what it does not have" if error.errno else error
        raise Refused("WHEEL", f"{what}: {why}") from None


class Wheel:
    def __init__(self, path, line=progress.NO_LINE):
        self.path = path
        self.line = line            # where it is said how far long work is
        found = FILE_NAME.match(path.name)
        if not found:
            raise Refused("WHEEL", "its name is not that of a wheel: NAME-VERSION-PYTHON-ABI-"
                                   "PLATFORM.whl")
        self.name, self.version, self.tags = found["name"], found["version"], found["tags"]
        with _reading("is not a zip archive"):
            self.zip = zipfile.ZipFile(path)
        self.members = {info.filename: info for info in self.zip.infolist()}
        self._check_names()
        self.dist_info = self._find_dist_info()

    def close(self):
        self.zip.close()

    def _check_names(self):
        if len(self.members) != len(self.zip.infolist()):
            raise Refused("WHEEL", "holds two members of one name")
        for name, info in self.members.items():
            if name.startswith("/") or "\\" in name or ".." in name.split("/"):
                raise Refused("WHEEL", f"holds {name!r}, which would lie outside of it")
            if info.flag_bits & 1:
                raise Refused("WHEEL", f"holds {name}, which is encrypted")
        # Many members that are the same bytes are a bomb.
        if sum(info.compress_size for info in self.members.values()) > self.path.stat().st_size:
            raise Refused("WHEEL", "holds members that overlap")

    def _find_dist_info(self):
        found = {name.split("/")[0] for name in self.members
                 if re.match(r"[^/]+\.dist-info/(METADATA|RECORD|WHEEL)$", name)}
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
        with _reading(f"its {name} cannot be read"):
            return self.zip.read(name)

    def stage(self, doing, names):
        """Work on these members."""
        total = sum(self.members[name].file_size for name in names if name in self.members)
        return progress.stage(self.line, f"{doing} {report.printable(self.path.name)}", total)

    def extract(self, name, target, stage):
        """Write a member to a file of our choice."""
        with _reading(f"its {name} cannot be read"), self.zip.open(name) as source, \
                open(target, "wb") as sink:
            for chunk in iter(lambda: source.read(CHUNK), b""):
                sink.write(chunk)
                stage.add(len(chunk))

    def start(self, name):
        """The first four bytes of a member."""
        with _reading(f"its {name} cannot be read"), self.zip.open(name) as source:
            return source.read(4)

    def installed(self, name):
        """Where pip puts a member, relative to site-packages; None: elsewhere."""
        first, _, rest = name.partition("/")
        if not first.endswith(".data"):
            return name
        scheme, _, rest = rest.partition("/")
        return rest if scheme in ("platlib", "purelib") else None

    def file_name(self, build):
        """Of the wheel that is written."""
        parts = [self.name, self.version, build or FILE_NAME.match(self.path.name)["build"],
                 self.tags]
        return "-".join(part for part in parts if part) + ".whl"


def _digest(stream, stage, sink=None):
    """(as RECORD has it, size); copies to `sink` meanwhile."""
    digest, size = hashlib.sha256(), 0
    for chunk in iter(lambda: stream.read(CHUNK), b""):
        digest.update(chunk)
        size += len(chunk)
        if sink:
            sink.write(chunk)
        stage.add(len(chunk))
    return "sha256=" + base64.urlsafe_b64encode(digest.digest()).rstrip(b"=").decode(), size


def _member(name, info, date):
    """What describes a member in the new archive: that of the old one without
    what belongs to its place there."""
    new = zipfile.ZipInfo(name, info.date_time if info else date)
    new.create_system = 3
    new.external_attr = info.external_attr if info else EXECUTABLE
    if info and info.create_system != 3 and not info.external_attr >> 16:
        new.external_attr = (stat.S_IFREG | 0o644) << 16
    new.compress_type = info.compress_type if info else zipfile.ZIP_DEFLATED
    return new


def _date_of_new(wheel):
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    if epoch.isdigit():
        return time.gmtime(max(int(epoch), EARLIEST))[:6]
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


def _open(wheel, name, changed):
    """A member's bytes: `changed` maps names to files or bytes."""
    content = changed.get(name)
    if content is None:
        return wheel.zip.open(name)
    return io.BytesIO(content) if isinstance(content, bytes) else open(content, "rb")


def write(wheel, target, changed, removed):
    """Write the new wheel to the path `target`."""
    date, rows, order = _date_of_new(wheel), [], _order(wheel, changed, removed)
    with zipfile.ZipFile(target, "w") as out, wheel.stage("writing", order) as stage:
        for name in order:
            info = _member(name, wheel.members.get(name), date)
            if name.endswith("/"):
                out.writestr(info, b"")
                continue
            old = wheel.members.get(name)
            with _open(wheel, name, changed) as source, \
                    out.open(info, "w", force_zip64=bool(old and old.file_size >> 31)) as sink:
                rows.append((name, *_digest(source, stage, sink)))
        record = wheel.member("RECORD")
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([*rows, (record, "", "")])
        out.writestr(_member(record, wheel.members[record], date), text.getvalue().encode())


def check(path, line=progress.NO_LINE):
    """Read a wheel back: every file is in RECORD, and is what RECORD says."""
    wheel = Wheel(path, line)
    try:
        rows = {row[0]: row[1:] for row in csv.reader(
            io.StringIO(wheel.read(wheel.member("RECORD")).decode()))}
        del rows[wheel.member("RECORD")]
        files = [name for name in wheel.members
                 if not name.endswith("/") and name != wheel.member("RECORD")]
        with wheel.stage("checking", files) as stage:
            for name in files:
                with wheel.zip.open(name) as stream:
                    digest, size = _digest(stream, stage)
                if rows.pop(name, None) != [digest, str(size)]:
                    raise Refused("WHEEL", f"its RECORD does not tell what {name} is")
        if rows:
            raise Refused("WHEEL", f"its RECORD names {next(iter(rows))}, which it does not hold")
    finally:
        wheel.close()
