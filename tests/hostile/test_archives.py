# SPDX-License-Identifier: MIT
"""Wheels and fatbins that were made to harm: what lies outside, bombs, damage."""
import copy
import json
import os
import resource
import struct
import subprocess
import sys
import time
import zipfile
import zlib

import pytest

import build
import loadable
import made_up

import wheel_files
from fakes import fake
from importer import importer
from loadable_files import CALLER
from world import CALL, user

TOOL = build.BUILD / "bin" / "lazycuda"
# Of address space, in a process that is given a bomb; a real wheel needs less.
ROOM = 4 << 30


def limited():
    resource.setrlimit(resource.RLIMIT_AS, (ROOM, ROOM))


def run(*command, cwd, limit=True):
    return subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, errors="replace", timeout=60,
                          cwd=cwd, preexec_fn=limited if limit else None)


@pytest.fixture
def audit(tmp_path):
    """audit(bytes of a wheel): (exit status, {file: error})"""
    def audit(data, name="a-1-py3-none-any.whl", **options):
        path = tmp_path / name
        path.write_bytes(data)
        said = run(TOOL, "audit", "--json", path, cwd=tmp_path, **options)
        assert said.returncode in (0, 1, 2), said
        return said.returncode, {each["file"]: each["error"]
                                 for each in json.loads(said.stdout)["files"]}
    return audit


def retarget(path, out, *words):
    """In this Python, which has patchelf beside it."""
    said = run(sys.executable, "-B", build.PYTHON / "lazycuda", "retarget", "--json",
               "-o", out, *words, path, cwd=path.parent, limit=False)
    assert said.returncode in (0, 1, 2) and "Traceback" not in said.stderr, said.stderr
    return said.returncode, json.loads(said.stdout)["wheels"][0] if said.stdout else said.stderr


def everything(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


# ---- what lies outside ----

OUTSIDE = ["../evil.so", "/evil.so", "a/..", "..\\evil.so"]


@pytest.mark.parametrize("name", OUTSIDE)
def test_members_that_would_lie_outside_are_refused(tmp_path, patchelf, name):
    folder = tmp_path / "in"
    folder.mkdir()
    wheel = wheel_files.make(folder, {"pkg/a.so": user(), name: user()})
    before = everything(tmp_path)
    status, said = retarget(wheel, tmp_path / "out")
    assert (status, said["code"]) == (1, "WHEEL") and "outside" in said["error"]
    assert everything(tmp_path) == before and not os.path.exists("/evil.so")


def test_an_audit_writes_nothing_wherever_members_lie(audit, tmp_path):
    status, files = audit(loadable.wheel(*((name.encode(), CALLER, True) for name in OUTSIDE)))
    assert status == 0 and len(files) == len(OUTSIDE)
    assert everything(tmp_path) == ["a-1-py3-none-any.whl"]


def test_a_link_in_a_wheel_is_not_followed(tmp_path, patchelf):
    # zip archives can hold links; here they are files, with a path in them.
    folder = tmp_path / "in"
    folder.mkdir()
    secret = tmp_path / "secret"
    secret.write_bytes(user().read_bytes())
    wheel = wheel_files.make(folder, {"pkg/a.so": user()})
    with zipfile.ZipFile(wheel, "a") as archive:
        for name, target in (("pkg/link.so", secret), ("pkg/folder", "/etc")):
            info = zipfile.ZipInfo(name)
            info.create_system, info.external_attr = 3, 0o120777 << 16
            archive.writestr(info, str(target).ljust(100, "/"))
    before = secret.read_bytes()
    retarget(wheel, tmp_path / "out")
    assert secret.read_bytes() == before
    assert subprocess.run([TOOL, "audit", wheel], capture_output=True).returncode == 0


def test_members_that_lie_in_each_other(tmp_path, patchelf):
    folder = tmp_path / "in"
    folder.mkdir()
    module = importer(tmp_path, CALL["cudart"], link=[fake("cudart", "12.9")])
    wheel = wheel_files.make(folder, {"pkg/a.so": module, "pkg/a.so/b.so": module})
    status, said = retarget(wheel, tmp_path / "out")
    assert status in (1, 2) and not list((tmp_path / "out").glob("*"))


@pytest.mark.parametrize("compression", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_damaged_member_is_named_however_it_is_compressed(tmp_path, patchelf, compression):
    wheel = wheel_files.make(tmp_path, {"pkg/a.so": user()}, compression=compression)
    with zipfile.ZipFile(wheel) as archive:
        info = archive.getinfo("pkg/a.so")
    data = bytearray(wheel.read_bytes())
    start = info.header_offset + 30 + len(info.filename)
    end = start + info.compress_size
    data[start + 9:end] = b"\xa5" * (end - start - 9)  # what LZMA begins with is no data
    wheel.write_bytes(data)
    status, said = retarget(wheel, tmp_path / "out")
    assert (status, said["code"]) == (1, "WHEEL")
    assert said["error"].startswith("its pkg/a.so cannot be read: ")


# ---- bombs ----

def deflated(name, size, start=b"\177ELF"):
    """(directory entry maker, body) of a member that is `size` bytes, nearly all 0"""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed, chunk, crc = packer.compress(start), bytes(1 << 20), zlib.crc32(start)
    for _ in range(size >> 20):
        packed += packer.compress(chunk)
        crc = zlib.crc32(chunk, crc)
    return packed + packer.flush(), (size >> 20 << 20) + len(start), crc


def zip_of(packed, size, crc, count=1):
    """An archive with one member's bytes and `count` entries that all mean them."""
    name = b"a.so"
    common = struct.pack("<HHHHHIII", 20, 0, 8, 0, 0x21, crc, len(packed), min(size, 0xfffffffe))
    body = b"PK\3\4" + common + struct.pack("<HH", len(name), 0) + name + packed
    entries = b"".join(
        b"PK\1\2" + struct.pack("<H", 20) + common +
        struct.pack("<HHHHHII", len(name) + 6, 0, 0, 0, 0, 0, 0) + name + b"%06d" % i
        for i in range(count))
    return body + entries + b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, count, count, len(entries),
                                                    len(body), 0)


def test_one_member_of_a_bomb(audit):
    # 8 MB that become 8 GiB, which this process may not have.
    packed, _, crc = deflated("a.so", 64 << 20)
    status, files = audit(zip_of(packed * 128, (64 << 20) * 63, crc))
    assert status == 2 and list(files.values()) == [None] or any(
        error and ("memory" in error or "damaged" in error) for error in files.values())


def test_a_size_that_deflate_cannot_make(audit):
    packed, _, crc = deflated("a.so", 1 << 20)
    status, files = audit(zip_of(packed, 3 << 30, crc))
    assert status == 2 and "impossible size" in next(iter(files.values()))


def test_many_entries_of_the_same_bytes(audit, tmp_path, patchelf):
    # 600 KiB that would become 400 GiB, one at a time.
    packed, size, crc = deflated("a.so", 64 << 20)
    data = zip_of(packed, size, crc, 6000)
    begin = time.monotonic()
    status, files = audit(data)
    assert status == 2 and "overlap" in " ".join(filter(None, files.values()))
    assert time.monotonic() - begin < 20
    wheel = wheel_files.make(tmp_path, {"pkg/a.so": user()})
    before = everything(tmp_path)
    # A second name for the first member, in the directory alone.
    with zipfile.ZipFile(wheel, "a") as archive:
        twice = copy.copy(archive.infolist()[0])
        twice.filename = "pkg/b.so"
        archive.filelist.append(twice)
        archive.comment = b"written anew"
    status, said = retarget(wheel, tmp_path / "out")
    assert (status, said["code"]) == (1, "WHEEL"), said
    assert "overlap" in said["error"].lower() and everything(tmp_path) == before


def inspect(tmp_path, data):
    (tmp_path / "a.fatbin").write_bytes(data)
    said = run(TOOL, "inspect", "--json", "a.fatbin", cwd=tmp_path)
    assert said.returncode in (0, 1), said
    return json.loads(said.stdout)["files"][0]["entries"]


@pytest.mark.parametrize("flag, size", [(made_up.ZSTD, 2**31 + 1), (made_up.LZ4, 2**64 - 1)])
def test_code_that_claims_to_unpack_to_more_than_there_is(tmp_path, flag, size):
    code = made_up.entry(made_up.CUBIN, bytes(600_000), flags=made_up.PLAIN | flag,
                         unpacked_size=size)
    entries = inspect(tmp_path, made_up.fatbin(code))
    assert "claims to unpack" in entries[0]["error"]


def test_code_that_claims_to_be_as_large_as_any_may_be(tmp_path):
    # It is looked at with room for no more than that.
    code = made_up.entry(made_up.CUBIN, bytes(600_000), flags=made_up.PLAIN | made_up.ZSTD,
                         unpacked_size=2**31)
    assert inspect(tmp_path, made_up.fatbin(code))[0]["error"]


# ---- damage that reads for ever ----

def time_of(audit, data):
    begin = time.monotonic()
    status, files = audit(data, name="a.so")
    assert status in (0, 1, 2)
    assert time.monotonic() - begin < 20
    return next(iter(files.values()))


def test_names_of_an_unlikely_length(audit):
    # Each of many symbols has a name of a MiB, and all names are the same bytes.
    long = "cuda" + "x" * (1 << 20)
    data = loadable.library(imports=[(long, "libcudart.so.12", "libcudart.so.12")] * 1000)
    assert time_of(audit, data) == "imports a name of an unlikely length"


def test_very_many_names_that_nothing_has(audit):
    many = [(f"cudaNone{i}", "libcudart.so.12", "libcudart.so.12") for i in range(3000)]
    data = loadable.library(imports=many)
    assert time_of(audit, data) is None


def test_very_many_libraries(audit):
    data = loadable.library(needed=[f"libcudart.so.{i}" for i in range(2000)])
    assert time_of(audit, data) == "needs an unlikely number of CUDA libraries"


def test_sections_that_are_all_the_same_bytes(audit):
    # 60,000 sections of 8 MiB, each the whole file.
    count, size = 60_000, 8 << 20
    names = b"\0.rodata\0\0"
    header = made_up.ELF.pack(b"\177ELF\2\1\1", 3, 62, 1, 0, 0, 64 + len(names), 0, 64, 56, 0, 64,
                              count, 0)
    sections = [made_up.SECTION.pack(name, kind, 2, 0, offset, length, 0, 0, 1, 0)
                for name, kind, offset, length in ((0, 3, 64, len(names)), (1, 1, 0, size))]
    data = (header + names + sections[0] + sections[1] * (count - 1)).ljust(size, b"\0")
    assert time_of(audit, data) is None
