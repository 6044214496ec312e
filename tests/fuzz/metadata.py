#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fuzz what `lazycuda retarget` reads in Python: the METADATA and WHEEL of wheels,
wheels, and ELF files.

    tests/fuzz/metadata.py RUNS SEED

Damaged inputs are read so often.  What is wrong with them may be said in one of
two ways, Refused and ElfError; whatever else is raised is a finding, and its
input stands in the message.  So is an archive of which `lazycuda audit` says
something else.
"""
import io
import json
import pathlib
import random
import subprocess
import sys
import tempfile
from types import SimpleNamespace

HERE = pathlib.Path(__file__).resolve().parent
BUILD = HERE.parents[1] / "build"
sys.path[:0] = [str(HERE), str(BUILD / "share/lazycuda/python")]

import loadable  # noqa: E402
from lazycuda import archive, directory, elf, metadata, repoint  # noqa: E402

OBJECTS = {path.name: path.read_bytes() for path in (HERE / "corpus" / "object").iterdir()}
METADATA = b"""Metadata-Version: 2.1
Name: pkg
Requires-Dist: nvidia-cuda-runtime-cu12 (>=12.1)
requires-dist:nvidia_cuda.nvrtc~=13.0 ; python_version < "4" or sys_platform == 'linux'\r
Requires-Dist: nvidia-nvjitlink; extra == "x"
Requires-Dist: Lib_Foo >= 2
Requires-Dist: cuda-toolkit[nvrtc,nvcc]==12.*
Provides-Extra: cuda12

Requires-Dist: nvidia-nvjitlink
"""
PACKAGES = {"nvidia-cuda-runtime": None, "nvidia-cuda-nvrtc": None, "nvidia-nvjitlink": None,
            "lib-foo": "foo"}
WHEEL = b"Wheel-Version: 1.0\nBuild: 1\nTag: py3-none-any\n\n"
WORDS = [*METADATA.split(), *WHEEL.split(), b"\r\n", b"\n\n", b";", b"\xff", b"\0", b"-cu12",
         b"\xe2\x80\xae", b"PK\1\2", b"PK\3\4", b"PK\5\6", b"\xff\xff\xff\xff", bytes(8)]
FOLDER = b"pkg-1.0.dist-info/"
# Small, so that most changes change something that is read.
ARCHIVE = loadable.wheel((b"pkg/a.so", OBJECTS["caller"][:200], True),
                         (FOLDER + b"METADATA", METADATA, False), (FOLDER + b"WHEEL", WHEEL, True),
                         (FOLDER + b"RECORD", b"pkg/a.so,,\n", False))

# Of names.
PARTS = (b"/", b"/", b".", b"..", b"a", b"b", b"x.data", b"platlib", b"purelib", b"scripts", b"\\", b"\0", b"\xc3\xa9",
         b"\xff", b"", b"n" * 255, b"x-1.dist-info", b"METADATA", b"RECORD")


def named(pick):
    """An archive of members with names of these parts."""
    return loadable.wheel(*((b"".join(pick.choices(PARTS, k=pick.randrange(6))), b"", False)
                            for _ in range(pick.randrange(5))))


def damaged(data, pick):
    data = bytearray(data)
    for _ in range(pick.choice((1, 1, 2, 4))):
        at = pick.randrange(len(data) + 1)
        what = pick.randrange(4)
        if what == 0:
            data[at:at + 1] = bytes([pick.randrange(256)])
        elif what == 1:
            data[at:at + pick.randrange(1, 9)] = b""
        elif what == 2:
            data[at:at] = pick.choice(WORDS)
        else:
            data[at:at + 4] = pick.choice((0, 1, 0x7f, 0xffff, 0xffffffff)).to_bytes(4, "little")
    return bytes(data)


def read_metadata(data):
    said = metadata.required(data, PACKAGES)
    relaxed, _ = metadata.relax(data, PACKAGES, (11, 12, 13))
    assert len(relaxed) >= len(data)
    # What is an extra is required no more.
    assert not metadata.required(relaxed, PACKAGES), said
    assert metadata.set_build(data, "1x").endswith(b"Build: 1x\n")


def read_elf(data):
    image = elf.Elf(data)
    repoint.is_library(image, "libx.so")
    repoint.needs_stub(image)
    for _ in (image.search_path, image.soname, image.needs, image.interpreter, image.sections_agree(),
              image.constant_ranges(), *image.symbols(), *image.constants()):
        pass
    for table in image.relocation_tables()[:2]:
        list(image.relocations(table))


def both_read(archives, folder):
    """What Python and what C says of each."""
    paths = [folder / f"{i}-1.0-py3-none-any.whl" for i in range(len(archives))]
    for path, data in zip(paths, archives):
        path.write_bytes(data)
    said = subprocess.run([BUILD / "bin/lazycuda", "audit", "--json", *paths], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL)
    audited = {each["file"]: each["error"] for each in json.loads(said.stdout)["files"]}
    for path, data in zip(paths, archives):
        why = None
        try:
            with open(path, "rb") as stream:
                found = directory.read(stream, len(data))
            assert not any(set(name.split("/")[:-1]) & {"", ".", ".."} for name in found), data
        except repoint.Refused as refused:
            why = str(refused)
        if why is None and "has a METADATA" in (audited.get(str(path)) or ""):
            continue        # which Python reads later
        # JSON has another form for bytes that are no text.
        assert str(audited.get(str(path))).rpartition(", ")[2] == str(why).rpartition(", ")[2], (audited.get(str(path)), why, data)


def read_wheel(path):
    opened = archive.Wheel(path)
    try:
        for name in opened.members:
            assert ".." not in name.split("/") and not name.startswith("/")
            if not name.endswith("/"):
                opened.read(name)
                opened.unpack(name, SimpleNamespace(add=int), io.BytesIO())
    finally:
        opened.close()


# With these something went wrong once.
KNOWN = [
    (read_metadata, b"Requires-Dist: nvidia-nvjitlink\xff\xff ; x\n"),
    # Program headers, and the dynamic section, where no offset can be.
    (read_elf, OBJECTS["caller"][:32] + b"\xff" * 8 + OBJECTS["caller"][40:]),
    (read_elf, OBJECTS["caller"][:128] + b"\xff" * 8 + OBJECTS["caller"][136:]),
    # A directory before the beginning.
    (read_wheel, ARCHIVE[:-6] + b"\xff\xff\xff\x7f" + ARCHIVE[-2:]),
]


def choose(pick):
    """(what reads it, bytes)"""
    what = pick.random()
    if what < 0.85:
        return read_metadata, damaged(METADATA, pick)
    if what < 0.95:
        return read_elf, damaged(pick.choice(list(OBJECTS.values())), pick)
    return read_wheel, damaged(ARCHIVE, pick)


def try_one(read, data, path):
    try:
        if read is read_wheel:
            path.write_bytes(data)
        read(path if read is read_wheel else data)
    except (repoint.Refused, elf.ElfError):
        pass
    except Exception as error:
        raise AssertionError(f"{read.__name__}: {error!r} of {data!r}") from error


def main():
    runs, seed = map(int, sys.argv[1:])
    pick = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "pkg-1.0-py3-none-any.whl"
        for read, data in KNOWN:
            try_one(read, data, path)
        for _ in range(runs):
            try_one(*choose(pick), path)
        for _ in range(0, runs, 400):
            both_read([pick.choice((named, lambda pick: damaged(ARCHIVE, pick)))(pick) for _ in range(100)],
                      path.parent)
    print(f"{runs} executions")


if __name__ == "__main__":
    main()
