# SPDX-License-Identifier: MIT
"""Wheels and fatbins that were made to harm: what lies outside, bombs, damage."""
import json
import resource
import struct
import subprocess
import sys
import time
import zipfile
import zlib
from typing import NamedTuple

import pytest

import build
import loadable
import made_up

import wheel_files
from lazycuda import directory
from lazycuda.repoint import Refused
from world import user

TOOL = build.BUILD / "bin" / "lazycuda"
# Of address space, in a process that is given a bomb; a real wheel needs less.
ROOM = 4 << 30


def limited():
    resource.setrlimit(resource.RLIMIT_AS, (ROOM, ROOM))


def run(*command, cwd, limit=True):
    return build.run(*map(str, command), errors="replace", timeout=60, cwd=cwd,
                     preexec_fn=limited if limit else None)


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


# ---- what two readers could take for two wheels ----

class Entry(NamedTuple):
    """A member as the directory has it; `local` is what the header before it says instead."""
    name: bytes
    data: bytes = b"a"
    flags: int = 0x800      # UTF-8
    method: int = 0
    extra: bytes = b""
    size: int = None
    local: dict = {}
    before: bytes = b""
    behind: bytes = b""

    def header(self, at=None):
        """Before the member, or `at` its place in the directory."""
        data, size = self.data, len(self.data) if self.size is None else self.size
        common = struct.pack("<5H3I2H", 20, self.flags, self.method, 0, 0x21, zlib.crc32(data), len(data),
                             size, len(self.name), len(self.extra))
        if at is None:
            return b"PK\3\4" + common + self.name + self.extra
        return (b"PK\1\2\x14\3" + common + struct.pack("<3H2I", 0, 0, 0, 0o100644 << 16, at) +
                self.name + self.extra)


SAID = "METADATA", "WHEEL", "RECORD"
OWN = [Entry(b"x-1.dist-info/" + name.encode(), b"Tag: py3-none-any\n") for name in SAID]


def end(count, size, start, comment=b""):
    return b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, count, count, size, start, len(comment)) + comment


def archive(*entries, own=OWN, start=0, ends=end):
    """A wheel of these, whose end is ends(how many, size of the directory, its place)."""
    body = directory = b""
    for entry in (*own, *entries):
        body += entry.before
        directory += entry.header(at=start + len(body))
        body += entry._replace(**entry.local).header() + entry.data + entry.behind
    return body + directory + ends(len(own) + len(entries), len(directory), start + len(body))


def names(*members):
    return archive(*(Entry(name if isinstance(name, bytes) else name.encode()) for name in members))


def unlike(**local):
    return archive(Entry(b"a", local=local))


def wide(count=4, place=0, size=44):
    """Ends with a record of 64 bits."""
    def ends(real, length, start):
        at = start + length
        return (b"PK\6\6" + struct.pack("<QHHIIQQQQ", size, 45, 45, 0, 0, count, count, length, start) +
                b"PK\6\7" + struct.pack("<IQI", 0, at + place, 1) + end(real, length, start))
    return ends


def decoy(count, length, start):
    """The end record is of a second directory, which has one member alone."""
    second = OWN[0].header(at=0)
    return second + end(1, len(second), start + length)


OUTSIDE, TWICE = "which would lie outside of it", "which are one place"
DIFFERS = "which installers put at different places"
LONG = "a name that is longer than any path may be"
ENCODED = "a name that is not marked as UTF-8, or is not"
SIZE, HEADER = "which claims an impossible size", "whose header is not what the directory says"
DAMAGED = "has a damaged directory, or an end record that is not of it"
PACKED = "which is compressed in a way that is not known here"
# What is said of an archive, or the end of it; None: all is well.
ARCHIVES = {
    # names
    **{name: (names(name), OUTSIDE) for name in (
        "../a", "/a", "a/..", "a/../b", "..\\a", "a\0.so", "", ".", "x-1.data/platlib/../../a")},
    "c" * 256: (names("c" * 256), LONG), "deep": (names("d/" * 2048), LONG),
    "latin": (names(b"\xe9"), ENCODED), "half": (names(b"a\xe2"), ENCODED),
    "surrogate": (names(b"\xed\xa0\x80"), ENCODED),
    "unmarked": (archive(Entry("é".encode(), flags=0)), ENCODED), "marked": (names("é"), None),
    "./x-1.data/platlib/a": (names("./x-1.data/platlib/a"), DIFFERS), "x-1.data/a": (names("x-1.data/a"), DIFFERS),
    "spelled": (names("./pkg//a", "x-1.data/platlib//abs/a.so"), None),
    "folders": (archive(*(Entry(name, b"") for name in (b"./", b"pkg/", b"pkg/", b"x-1.data/platlib/",
                                                        b"x-1.data/purelib/"))), None),
    **{" ".join(both): (names(*both), TWICE) for both in (
        ("a", "a"), ("a", "./a"), ("p/a", "p//a"), ("a", "x-1.data/platlib/a"), ("a", "a/b"), ("a", "a-b", "a/b/c"),
        ("x-1.data/purelib/a", "y.data/platlib/a"), ("x-1.data/scripts/a", "y.data/scripts/a"),
        ("x-1.data/platlib/a", "x-1.data/purelib//a/b"), ("x-1.data/platlib/x-1.dist-info/METADATA",))},
    "file and folder": (archive(Entry(b"a"), Entry(b"a/", b"")), TWICE),
    "a folder with bytes": (names("a/"), SIZE),
    # the directory and the headers
    "of 2 members": (archive(Entry(b"a"), ends=lambda count, *rest: end(count - 1, *rest)), DAMAGED),
    "of another length": (archive(Entry(b"a"), ends=lambda count, length, start: end(count, length - 1, start)),
                          DAMAGED),
    "a decoy": (archive(Entry(b"a"), ends=decoy), DAMAGED),
    "prepended": (b"#!" + names("a"), DAMAGED), "prepended, and counted": (
        b"PK" + archive(Entry(b"a"), start=2), "before it what is no member"),
    "appended": (names("a") + b"\n", DAMAGED),
    "a comment": (archive(Entry(b"a"), ends=lambda *said: end(*said, b"about it")), None),
    "an end in a comment": (archive(Entry(b"a"), ends=lambda *said: end(*said, end(0, 0, 0))), DAMAGED),
    "an end in a comment, of all": (archive(Entry(b"a"), ends=lambda *said: end(*said, end(*said))), DAMAGED),
    "between": (archive(Entry(b"a", before=Entry(b"b").header() + b"a")), "before it what is no member"),
    "behind": (archive(Entry(b"a", behind=Entry(b"b").header() + b"a")), DAMAGED),
    "another name": (unlike(name=b"b"), HEADER), "another size": (unlike(size=2), HEADER),
    "another method": (unlike(method=8), HEADER), "another sum": (unlike(data=b"b"), HEADER),
    "other flags": (unlike(flags=0x808), HEADER),
    "sizes that follow": (archive(Entry(b"a", flags=0x808, behind=b"PK\7\10" + struct.pack(
        "<III", zlib.crc32(b"a"), 1, 1))), None),
    "others that follow": (archive(Entry(b"a", flags=0x808, behind=b"PK\7\10" + struct.pack(
        "<III", zlib.crc32(b"a"), 1, 2))), HEADER),
    "a second name": (archive(Entry(b"a", extra=struct.pack("<HHBI", 0x7075, 9, 1, zlib.crc32(b"a")) + b"../b")),
                      HEADER),
    "64 bits": (archive(Entry(b"a"), ends=wide()), None),
    "another count": (archive(Entry(b"a"), ends=wide(count=1)), DAMAGED),
    "a record elsewhere": (archive(Entry(b"a"), ends=wide(place=-46)), DAMAGED),
    "a longer record": (archive(Entry(b"a"), ends=wide(size=45)), DAMAGED),
    # what is in them
    "encrypted": (archive(Entry(b"a", flags=0x801)), "which is encrypted, or patched"),
    "bzip2": (archive(Entry(b"a", method=12)), PACKED), "LZMA": (archive(Entry(b"a", method=14)), PACKED),
    "more than deflate makes": (archive(Entry(b"a", bytes(9), method=8, size=9 * 1032 + 1)), SIZE),
    "stored, and larger": (archive(Entry(b"a", size=2)), SIZE),
    "too much": (archive(*(Entry(b"%d" % i, bytes(1 << 17), method=8, size=100 << 20) for i in range(6))),
                 "unpacks to more than 512 MiB and 100 times its size"),
    **{f"a long {name}": (archive(*(entry._replace(method=8, data=bytes(1 << 15), size=(16 << 20) + 1)
                                    if entry.name.endswith(name.encode()) else entry for entry in OWN), own=()),
                          f"which has more than {1 if name == 'WHEEL' else 16} MiB") for name in SAID},
}


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    """{archive: what audit, and what retarget says of it}, before anything is unpacked"""
    folder = tmp_path_factory.mktemp("archives")
    paths = {name: folder / f"x-{i}-py3-none-any.whl" for i, name in enumerate(ARCHIVES)}
    for name, path in paths.items():
        path.write_bytes(ARCHIVES[name][0])
    said = run(TOOL, "audit", "--json", *paths.values(), cwd=folder)
    audited = {each["file"]: each["error"] for each in json.loads(said.stdout)["files"]}

    def retargeted(path):
        try:
            with open(path, "rb") as stream:
                return directory.read(stream, path.stat().st_size) and None
        except Refused as refused:
            return str(refused)
    return {name: (audited.get(str(path)), retargeted(path)) for name, path in paths.items()}


@pytest.mark.parametrize("name", ARCHIVES)
def test_both_refuse_what_readers_could_disagree_about(judged, name):
    audited, retargeted = judged[name]
    assert audited == retargeted
    words = ARCHIVES[name][1]
    assert audited is None if words is None else audited.endswith(words), audited


def test_a_result_has_one_spelling_of_each_name(tmp_path, patchelf):
    spelled = {"./pkg//a.so": user(), "pkg-1.0.data/platlib//abs/b.so": user()}
    status, said = retarget(wheel_files.make(tmp_path, spelled), tmp_path / "out")
    made, = (tmp_path / "out").iterdir()
    wheel_files.check_record(made)
    assert (status, [each["file"] for each in said["files"]]) == (0, ["pkg/a.so", "pkg-1.0.data/platlib/abs/b.so"])
    assert {"pkg/a.so", "pkg-1.0.data/platlib/abs/b.so"} <= set(wheel_files.read(made))


def test_what_lies_outside_is_not_written(tmp_path, patchelf):
    folder = tmp_path / "in"
    folder.mkdir()
    wheel = wheel_files.make(folder, {"pkg/a.so": user(), f"pkg-1.0.data/platlib/{tmp_path}/evil.so": user(),
                                      "pkg/b.so": user(), "../evil.so": user()})
    before = everything(tmp_path)
    status, said = retarget(wheel, tmp_path / "out")
    assert (status, said["code"], said["error"]) == (1, "WHEEL", f"holds ../evil.so, {OUTSIDE}")
    assert everything(tmp_path) == before


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


def test_a_damaged_member_is_named(tmp_path, patchelf):
    wheel = wheel_files.make(tmp_path, {"pkg/a.so": user()})
    with zipfile.ZipFile(wheel) as archive:
        info = archive.getinfo("pkg/a.so")
    data = bytearray(wheel.read_bytes())
    start = info.header_offset + 30 + len(info.filename)
    data[start + 9:start + info.compress_size] = b"\xa5" * (info.compress_size - 9)
    wheel.write_bytes(data)
    status, said = retarget(wheel, tmp_path / "out")
    assert (status, said["code"]) == (1, "WHEEL")
    assert said["error"].startswith("its pkg/a.so cannot be read: ")


@pytest.mark.parametrize("there, words, said", [
    ({"pkg.libs": b""}, [], "pkg.libs and pkg.libs/libcudart_stub.so, which are one place"),
    ({"x.data/purelib/pkg.libs/libcudart_stub.so/a": b""}, [], "which are one place"),
    ({"pkg.libs/libcudart_stub.so": b"a"}, [], "holds pkg.libs/libcudart_stub.so, which is no library that a stub "
     "could replace; --stubs-in FOLDER puts the stubs elsewhere"),
    ({}, ["--stubs-in", "\udcff"], "a name that is not marked as UTF-8, or is not"),
    ({}, ["--stubs-in", "a\\b"], OUTSIDE)])
def test_what_is_added_lies_at_a_place_of_its_own(tmp_path, patchelf, there, words, said):
    status, refused = retarget(wheel_files.make(tmp_path, {"pkg/a.so": user(), **there}), tmp_path / "out", *words)
    assert (status, refused["code"]) == (1, "WHEEL") and refused["error"].endswith(said)
    assert not (tmp_path / "out").exists()


# ---- what a wheel says of itself ----

@pytest.mark.parametrize("record", [
    b'pkg/a.so,"' + b"a\n" * 100_000 + b'",\n', b"pkg/a.so,sha256=a,1\rpkg/b.so,,\r", b'"', b"\xff,\xff,\xff"],
    ids=["a long field", "CR", "a quote", "no text"])
def test_a_record_is_read_as_it_is(tmp_path, patchelf, record):
    wheel = wheel_files.make(tmp_path, {"pkg/a.so": user()})
    contents = {**wheel_files.read(wheel), "pkg-1.0.dist-info/RECORD": record}
    with zipfile.ZipFile(wheel, "w") as out:
        for name, content in contents.items():
            out.writestr(name, content)
    assert retarget(wheel, tmp_path / "out")[0] == 0
    wheel_files.check_record(tmp_path / "out" / wheel.name)


@pytest.mark.parametrize("text, fine", [
    (b"Name: x\r\nSummary: a\r\n b\r\nRequires-Dist: a\r\n\r\nb\rRequires-Dist: a\n b", True),
    (b"Requires-Dist: nvidia-nccl-cu12\n ; a == 'b'\n", False), (b"Requires-Dist:\r\n\tnvidia-nccl-cu12\r\n", False),
    (b"Name: x\rRequires-Dist: nvidia-nccl-cu12\n", False), (b"Name: x\r", False)])
def test_lines_of_which_some_readers_see_a_part_are_refused(tmp_path, audit, text, fine):
    path = tmp_path / "x-1-py3-none-any.whl"
    _, files = audit(archive(own=[OWN[0]._replace(data=text), *OWN[1:]]), path.name)
    _, said = retarget(path, tmp_path / "out", "--relax-requirements")
    wrong = None if fine else "has a METADATA whose lines end where not all readers see it"
    assert (files.get(str(path)), said["error"]) == (wrong, wrong)


@pytest.mark.parametrize("line", [
    "a", "Requires-Dist: nvidia-nccl-cu12; {}", f"Requires-Dist: cuda-toolkit[{'nccl,' * 20_000}]",
    f"Requires-Dist: nvidia-cuda-runtime>={'9' * 5000}"])
@pytest.mark.parametrize("size, wrong", [
    (500_000, None), (1_200_000, "has a METADATA with more than 1 MiB before the description")])
def test_requirements_are_read_in_little_time_or_refused(tmp_path, audit, line, size, wrong):
    lines = "".join(line.format(i) + "\n" for i in range(size // len(line + "\n"))).encode()
    path = tmp_path / "x-1-py3-none-any.whl"
    status, files = audit(archive(own=[OWN[0]._replace(data=lines), *OWN[1:]]), path.name)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    _, said = retarget(path, tmp_path / "out", "--relax-requirements")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert (files.get(str(path)), said["error"]) == (wrong, wrong)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 5


# ---- bombs ----

def test_a_bomb(audit):
    # Half a MB that become 511 MiB, whose sum is wrong.
    packer, size = zlib.compressobj(9, zlib.DEFLATED, -15), 511 << 20
    packed = packer.compress(b"\177ELF") + b"".join(
        packer.compress(bytes(1 << 20)) for _ in range(511)) + packer.flush()
    status, files = audit(archive(Entry(b"a.so", packed, method=8, size=size + 4)))
    assert status == 2 and "does not decompress to what it should" in next(iter(files.values()))


def test_entries_of_the_same_bytes(audit):
    data = archive(Entry(b"a.so"), Entry(b"b.so"))
    at = data.rindex(b"b.so") - 4
    first = struct.pack("<I", data.index(Entry(b"a.so").header()))
    status, files = audit(data[:at] + first + data[at + 4:])
    assert status == 2 and "overlaps with the member before it" in next(iter(files.values()))


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
