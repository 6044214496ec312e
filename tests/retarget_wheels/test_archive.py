# SPDX-License-Identifier: MIT
"""What becomes of a wheel's members as an archive has them, and what is compressed anew."""
import io
import os
import signal
import struct
import subprocess
import sys
import time
import zipfile
import zlib

import pytest

import build
import wheel_files
from importer import importer
from lazycuda import deflate
from lazycuda.archive import Archive

TEXT = b"".join(b"line %d\n" % (i * i) for i in range(20000))


def packed(path, name):
    """A member's bytes as they lie in the archive."""
    with zipfile.ZipFile(path) as wheel, open(path, "rb") as stream:
        info = wheel.getinfo(name)
        stream.seek(info.header_offset + 26)
        skipped = sum(struct.unpack("<HH", stream.read(4)))
        stream.seek(skipped, os.SEEK_CUR)
        return stream.read(info.compress_size)


def rewritten(wheel, change, stream=None):
    """The wheel with every member written anew by change(archive, info, content)."""
    with zipfile.ZipFile(wheel) as old:
        members = [(info, old.read(info)) for info in old.infolist()]
    with zipfile.ZipFile(stream or wheel, "w") as new:
        for info, content in members:
            change(new, info, content)
    return wheel


def made(retarget):
    path, = retarget.out.iterdir()
    wheel_files.check_record(path)
    return path


# ---- what does not change ----

def test_members_that_do_not_change_are_the_same_bytes(retarget, tmp_path, plain):
    other = tmp_path / "other"
    other.mkdir()
    wheel = wheel_files.make(tmp_path, {
        "pkg/text.txt": TEXT, "pkg/empty": b"", "pkg/module.so": plain,
        "pkg/other.so": importer(other, link=[])})

    def change(new, info, content):
        # No compressor makes that by default.
        info.compress_type = zipfile.ZIP_DEFLATED
        new.writestr(info, content, compresslevel=1)
    retarget(rewritten(wheel, change))
    new = made(retarget)
    for name in ("pkg/text.txt", "pkg/empty", "pkg/other.so", "pkg-1.0.dist-info/METADATA"):
        assert packed(new, name) == packed(wheel, name), name
    with zipfile.ZipFile(new) as out:
        types = {info.filename: info.compress_type for info in out.infolist()}
        dates = {info.filename: info.date_time for info in out.infolist()}
        assert out.getinfo("pkg.libs/libcudart.so.12").external_attr >> 16 & 0o777 == 0o755
    with zipfile.ZipFile(wheel) as old:
        before = {info.filename: info.date_time for info in old.infolist()}
    assert list(types) == [*list(before)[:4], "pkg.libs/libcudart.so.12", *list(before)[4:]]
    assert dates == {**before, "pkg.libs/libcudart.so.12": wheel_files.DATE}
    assert set(types.values()) == {zipfile.ZIP_DEFLATED}
    assert wheel_files.read(new)["pkg/module.so"] != plain.read_bytes()


class Unseekable(io.BytesIO):
    """So that zipfile writes what it did not know before behind each member."""

    def seek(self, *_):
        raise io.UnsupportedOperation


def test_members_whose_sizes_follow_them(retarget, tmp_path, plain):
    wheel = wheel_files.make(tmp_path, {"pkg/text.txt": TEXT, "pkg/module.so": plain})
    stream = Unseekable()
    rewritten(wheel, lambda new, info, content: new.writestr(info, content), stream)
    wheel.write_bytes(stream.getvalue())
    with zipfile.ZipFile(wheel) as old:
        assert all(info.flag_bits & 8 for info in old.infolist())
    retarget(wheel)
    assert packed(made(retarget), "pkg/text.txt") == packed(wheel, "pkg/text.txt")
    with zipfile.ZipFile(made(retarget)) as new:
        assert not any(info.flag_bits & 8 for info in new.infolist())


def test_folders_modes_extra_fields_and_comments(retarget, tmp_path, plain):
    wheel = wheel_files.make(tmp_path, {"pkg/text.txt": TEXT, "pkg/module.so": plain},
                             more={"pkg/": b""})

    def change(new, info, content):
        info.external_attr = (0o100640 if info.filename.endswith(".txt") else 0o100755) << 16
        info.extra, info.comment = struct.pack("<HHI", 0xcafe, 4, 7), b"about it"
        with new.open(info, "w", force_zip64=True) as sink:
            sink.write(content)
        new.comment = b"about all"
    retarget(rewritten(wheel, change))
    with zipfile.ZipFile(made(retarget)) as new:
        assert new.getinfo("pkg/text.txt").external_attr >> 16 == 0o100640
        assert new.getinfo("pkg/module.so").external_attr >> 16 == 0o100755
        assert new.getinfo("pkg/").is_dir() and new.read("pkg/text.txt") == TEXT
        # What belonged to their places in the old archive.
        assert {info.extra + info.comment for info in new.infolist()} == {b""}


# ---- what is damaged ----

def in_archive(wheel, name, field, value):
    """The archive with another value in a member's entry of the directory, and in the header before it."""
    data = bytearray(wheel.read_bytes())
    for magic, at in ((b"PK\1\2", data.rindex(name.encode()) - 46), (b"PK\3\4", data.index(name.encode()) - 30)):
        assert data[at:at + 4] == magic
        struct.pack_into("<I", data, at + field - 2 * (magic == b"PK\3\4"), value)
    wheel.write_bytes(data)


CRC, SIZE = 16, 24


@pytest.mark.parametrize("name, compression, field, value", [
    ("pkg/text.txt", zipfile.ZIP_STORED, CRC, 1), ("pkg/text.txt", zipfile.ZIP_DEFLATED, CRC, 1),
    ("pkg/text.txt", zipfile.ZIP_DEFLATED, SIZE, 100), ("pkg/text.txt", zipfile.ZIP_DEFLATED, SIZE, 400_000),
    ("pkg/other.so", zipfile.ZIP_DEFLATED, CRC, 1)])
def test_a_member_that_is_not_what_the_archive_says(retarget, tmp_path, plain, compression,
                                                      name, field, value):
    other = tmp_path / "other"
    other.mkdir()
    wheel = wheel_files.make(tmp_path, {
        "pkg/text.txt": TEXT, "pkg/other.so": importer(other, link=[]), "pkg/module.so": plain},
        compression=compression)
    in_archive(wheel, name, field, value)
    said, = retarget(wheel, status=1).wheels
    assert said["code"] == "WHEEL" and f"{name} cannot be read" in said["error"], said
    assert not list(retarget.out.iterdir())


def test_a_member_with_more_behind_its_end(retarget, tmp_path, plain):
    # Readers differ in what they take it for.
    wheel = wheel_files.make(tmp_path, {"pkg/text.txt": TEXT, "pkg/module.so": plain})
    packer = zlib.compressobj(6, zlib.DEFLATED, -15)
    stream = packer.compress(TEXT) + packer.flush() + b"more"
    folder = tmp_path / "longer"
    folder.mkdir()
    with zipfile.ZipFile(wheel) as old, Archive(folder / wheel.name) as new:
        for info in old.infolist():
            copy = zipfile.ZipInfo(info.filename, info.date_time)
            copy.compress_type, copy.external_attr = info.compress_type, info.external_attr
            with new.member(copy, 1000) as sink:
                sink.write(stream if info.filename == "pkg/text.txt" else
                           packed(wheel, info.filename))
                copy.CRC, copy.file_size = info.CRC, info.file_size
    with zipfile.ZipFile(folder / wheel.name) as longer:
        assert longer.testzip() is None
    said, = retarget(folder / wheel.name, status=1).wheels
    assert said["error"] == "its pkg/text.txt cannot be read: more follows its end"


# ---- what is compressed anew ----

FAKE = """\
import zlib
error, decompressobj, crc32 = zlib.error, zlib.decompressobj, zlib.crc32
class compressobj:
    def __init__(self, level, method, bits):
        self.own = zlib.compressobj(9, method, bits)
    def compress(self, piece):
        return self.own.compress({piece})
    def flush(self, mode):
        return self.own.flush(mode)
"""


def library(tmp_path, name, piece):
    """A library for compressing that is installed."""
    folder = tmp_path / "installed" / name
    folder.mkdir(parents=True)
    (folder / "__init__.py").touch()
    (folder / f"{name}_zlib.py" if name == "isal" else folder / f"{name}.py").write_text(
        FAKE.format(piece=piece))
    return {"PYTHONPATH": str(tmp_path / "installed")}


def published(wheel, flags):
    """The same wheel, whose members' flags tell a level."""
    data = bytearray(wheel.read_bytes())
    for magic, field in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        at = data.find(magic)
        while at >= 0:
            data[at + field] = flags
            at = data.find(magic, at + 1)
    wheel.write_bytes(data)
    return wheel


@pytest.mark.parametrize("installed", ["isal", "zlib_ng"])
@pytest.mark.parametrize("flags, options, level", [(0, [], 6), (2, [], 9), (0, ["--fast"], 9)])
def test_zlib_compresses_as_published_whatever_is_installed(retarget, tmp_path, plain, installed, flags, options, level):
    wheel = published(wheel_files.make(tmp_path, {"pkg/module.so": plain}), flags)
    env = library(tmp_path, installed, "piece")
    if options and installed != "isal":
        assert "pip install isal" in retarget(wheel, *options, env=env, status=2).err
        return
    retarget(wheel, *options, env=env)
    module = wheel_files.read(made(retarget))["pkg/module.so"]
    packer = zlib.compressobj(level, zlib.DEFLATED, -15)
    assert packed(made(retarget), "pkg/module.so") == packer.compress(module) + packer.flush()
    with zipfile.ZipFile(made(retarget)) as result:
        assert result.getinfo("pkg/module.so").flag_bits == flags


def compressed(content):
    sink, pieces = io.BytesIO(), []
    deflate.compress(io.BytesIO(content), sink, pieces.append)
    assert b"".join(pieces) == content
    return sink.getvalue()


@pytest.mark.parametrize("size", [0, 1000, 1001, 50_000])
def test_pieces_are_one_stream_on_any_number_of_cores(monkeypatch, size):
    monkeypatch.setattr(deflate, "PIECE", 1000)
    results = set()
    for cores in (1, 3, 16):
        monkeypatch.setattr(deflate, "_cores", lambda cores=cores: cores)
        results.add(compressed(TEXT[:size]))
    stream, = results
    reader = zlib.decompressobj(-15)
    assert reader.decompress(stream) == TEXT[:size] and reader.eof and not reader.unused_data


# ---- what is large ----

def test_sizes_and_places_of_64_bits(tmp_path):
    large, path = 5 << 30, tmp_path / "large.zip"
    with Archive(path) as out:
        for name, size in (("hole", large), ("behind", 5)):
            info = zipfile.ZipInfo(name)
            with out.member(info, size) as sink:
                # A hole in the file takes no room.
                sink.seek(size - 5, os.SEEK_CUR)
                sink.write(b"bytes")
                info.file_size, info.CRC = size, zlib.crc32(b"bytes")
    with zipfile.ZipFile(path) as found:
        hole, behind = found.infolist()
        assert (hole.file_size, hole.compress_size) == (large, large)
        assert behind.header_offset > large and found.read("behind") == b"bytes"
        found.open(hole).close()


def test_a_member_without_sizes_as_python_3_8_makes_it(tmp_path):
    info = zipfile.ZipInfo("folder/")
    for field in ("CRC", "compress_size", "file_size"):
        if hasattr(info, field):
            delattr(info, field)
    with Archive(tmp_path / "new.zip") as out, out.member(info, 0):
        pass
    with zipfile.ZipFile(tmp_path / "new.zip") as found:
        assert found.namelist() == ["folder/"]


# Unlike ru_maxrss, VmHWM begins anew at exec(), and pytest may be large.
SPENT = """
import re, sys
sys.path.insert(0, {code!r})
from lazycuda import retarget
status = retarget.main(sys.argv[1:])
print(status, int(re.search(r"VmHWM:\\s*(\\d+)", open("/proc/self/status").read())[1]) >> 10)
"""


def test_large_members_are_not_held_in_memory(tmp_path, plain, patchelf):
    size = 400 << 20
    with open(plain, "r+b") as stream:
        stream.truncate(size)
    wheel = tmp_path / "pkg-1.0-py3-none-linux_x86_64.whl"
    small = wheel_files.make(tmp_path, {"pkg/module.so": b""})
    with zipfile.ZipFile(small) as old:
        others = [(info, old.read(info)) for info in old.infolist()[1:]]
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as new:
        new.write(plain, "pkg/module.so")
        for info, content in others:
            new.writestr(info, content)
    done = build.run(sys.executable, "-B", "-c", SPENT.format(code=str(build.PYTHON)), "--stubs",
                     build.BUILD / "lib", "--json", "-o", tmp_path / "out", wheel, check=True)
    status, megabytes = map(int, done.stdout.splitlines()[-1].split())
    assert status == 0 and megabytes < 200


def test_what_is_begun_when_a_signal_comes_is_cleared_away(tmp_path, plain, patchelf):
    wheel = wheel_files.make(tmp_path, {
        "pkg/module.so": plain, "pkg/long.txt": os.urandom(30 << 20)})
    out, temporary = tmp_path / "out", tmp_path / "temporary"
    temporary.mkdir()
    before = wheel.read_bytes()
    process = subprocess.Popen(
        [sys.executable, "-B", build.PYTHON / "lazycuda", "retarget", "-o", out, wheel],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        # What a shell starts in the background ignores SIGINT, and so would this.
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),
        env={**os.environ, "TMPDIR": str(temporary)})
    until = time.monotonic() + 60
    while not list(out.glob(".lazycuda-*/0/*.whl")) and time.monotonic() < until:
        assert process.poll() is None
    assert time.monotonic() < until
    process.send_signal(signal.SIGHUP)
    assert process.wait(60) == -signal.SIGHUP
    assert not out.exists() and not list(temporary.iterdir()) and wheel.read_bytes() == before
