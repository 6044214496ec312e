# SPDX-License-Identifier: MIT
"""Files cut off anywhere, and bitcode: no crash, and an error that says where.  Fields that lie are fuzzed."""
import random
import struct

import pytest

import made_up as c

PACKED = c.fatbin(c.entry(c.PTX, c.ptx(), flags=c.PLAIN | c.LZ4),
                  c.entry(c.CUBIN, c.cubin(), flags=c.PLAIN | c.ZSTD, name=b"unit"))
OBJECT = c.elf([("__nv_relfatbin", PACKED + c.usual())])
MEMBERS = [c.member(b"/", b"\0\0\0\0"), c.member(b"//", b"a_long_name_indeed.o/\n"),
           c.member(b"/0", OBJECT), c.member(b"name.ptx/", c.ptx()),
           c.member(b"f.fatbin/", PACKED)]
ARCHIVE = c.archive(*MEMBERS)
OFFLOAD = c.offload(c.image(c.cubin(), label=c.IS_OBJECT), c.image(c.bitcode(), "sm_90"),
                    version=2)
# Where an archive can end, and is only shorter.
ENDS = [len(c.archive(*MEMBERS[:count])) for count in range(len(MEMBERS))]
FILES = {
    "ptx": c.ptx(), "cubin": c.cubin(), "ltoir": c.ltoir(), "fatbin": c.usual(),
    "packed": PACKED, "object": OBJECT, "archive": ARCHIVE,
    "offload": OFFLOAD,
}


@pytest.fixture
def inspect_all(dump, tmp_path):
    """inspect_all([bytes, ...]): what is seen of each, from memory
    and from files."""
    def inspect_all(files):
        paths = []
        for index, data in enumerate(files):
            paths.append(tmp_path / f"{index}")
            paths[-1].write_bytes(data)
        seen = dump("--payloads", *paths)
        assert list(map(vars, seen)) == list(map(vars, dump("--payloads", "--memory", *paths)))
        return seen
    return inspect_all


def complaints(seen):
    return [text for text in (seen.error, *seen.column("error")) if text]


@pytest.mark.parametrize("kind", FILES)
def test_the_whole_file_is_without_complaint(inspect_all, kind):
    seen, = inspect_all([FILES[kind]])
    assert seen.entries and not complaints(seen)


@pytest.mark.parametrize("kind", FILES)
def test_a_file_cut_off_at_any_byte(inspect_all, kind):
    whole = FILES[kind]
    for length, seen in enumerate(inspect_all([whole[:i] for i in range(len(whole))])):
        if complaints(seen) or seen.kind == "unknown":
            continue
        # Nothing but padding is missing, or what ends nowhere in particular.
        assert kind in ("ptx", "ltoir") or not whole[length:].strip(b"\0\n") or \
            (kind == "archive" and any(abs(length - end) < 2 for end in ENDS)), (length, vars(seen))


def test_a_section_of_zeros_and_one_of_noise(inspect_all):
    noise = random.Random(1).getrandbits(8 * 4096).to_bytes(4096, "little")
    zeros, loud = inspect_all([c.elf([("__nv_relfatbin", bytes(4096))]),
                               c.elf([("__nv_relfatbin", noise)])])
    assert (zeros.error, zeros.entries) == (None, [])
    assert loud.error == "fatbin at 0x40 is not a fatbin: something else begins there"


# ---- bitcode ----

MODULE = c.block(8, b"module")


@pytest.mark.parametrize("data, why", [
    (c.bitcode(), None), (c.wrapped(c.bitcode()), None), (c.bitcode(MODULE), None),
    (c.bitcode(c.block(13), c.block(99), c.block(8, width=32), c.block(25)), None),
    (c.bitcode() + bytes(8), None), (c.wrapped(c.bitcode()) + bytes(90), None),     # padding
    (c.wrapped(bytes(100) + c.bitcode(), 120, len(c.bitcode())), None),
    (c.bitcode(c.block(13)), "has no module in it: it is cut off"),
    (c.bitcode(MODULE)[:-1], "ends inside its block 8 (at 0x4)"),
    (c.bitcode() + bytes(12), "has at 0x28 what begins no block of bitcode"),
    (c.bitcode(c.block(128), MODULE), "has at 0x4 what begins no block of bitcode"),
    (c.bitcode(c.block(8, width=33)), "has at 0x4 what begins no block of bitcode"),
    (c.bitcode(MODULE, MODULE), "has a second module (at 0x14), and libnvvm takes one"),
    (c.bitcode(MODULE) + c.bitcode(MODULE), "has at 0x14 what begins no block of bitcode"),
    (c.bitcode()[:4] + struct.pack("<II", 0xC21, 2**32 - 1), "ends inside its block 8 (at 0x4)"),
    (c.wrapped(b"")[:19], "ends inside its wrapper"), (c.wrapped(b""), "has no bitcode at 0x14"),
    (c.wrapped(c.bitcode(), 24), "ends at 0x3c, and its wrapper says that bitcode is from 0x18"),
    (c.wrapped(c.bitcode(MODULE), length=16), "ends inside its block 8 (at 0x18)"),
    (c.wrapped(bytes(4) + c.bitcode()), "has no bitcode at 0x14, where its wrapper says it is")])
def test_bitcode_is_whole_or_refused(inspect_all, data, why):
    for seen in inspect_all([data]):
        assert seen.kind == "bitcode" and bool(why) == bool(seen.error)
        assert not why or seen.error.startswith(why)
