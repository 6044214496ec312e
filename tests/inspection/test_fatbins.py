# SPDX-License-Identifier: MIT
"""Fatbins: what headers tell, what payloads tell, and how both are handed out."""
import pytest

import made_up as c

RELOCATABLE, LINKED, LZ4, ZSTD, OBFUSCATED, DEBUG, UNSEEN = (1 << i for i in range(7))


def flags(entry):
    return int(entry["flags"], 16)


def test_every_entry_is_seen_in_its_order(see):
    data = c.usual()
    seen = see(data)
    assert (seen.kind, seen.fatbins, seen.error) == ("fatbin", "1", None)
    assert seen.column("kind") == ["cubin", "ptx", "ltoir"]
    assert seen.column("arch") == ["80", "80", "80"]
    assert seen.column("toolkit") == ["12090", "12000", "12090"]
    assert seen.column("isa") == ["0", "80", "0"]
    assert seen.column("ir") == ["0", "0", "2093"]
    assert [flags(entry) for entry in seen.entries] == [RELOCATABLE] * 3
    for entry, code in zip(seen.entries, (c.cubin(), c.ptx(), c.ltoir())):
        at = int(entry["offset"])
        assert data[at:at + int(entry["length"])].rstrip(b"\0") == code.rstrip(b"\0")


@pytest.mark.parametrize("packing, flag", [(c.LZ4, LZ4), (c.ZSTD, ZSTD)])
@pytest.mark.parametrize("kind, code, version", [
    (c.PTX, c.ptx("8.8", "sm_90a"), (8, 8)), (c.CUBIN, c.cubin(linked=True), (1, 7)),
    (c.LTOIR, c.ltoir(), (1, 64))])
def test_a_compressed_entry_is_unseen_until_it_is_unpacked(see, extract, packing, flag, kind,
                                                          code, version):
    data = c.fatbin(c.entry(kind, code, arch=90, flags=c.PLAIN | packing, version=version))
    before, after = see(data).entries[0], see(data, "--payloads").entries[0]
    assert flags(before) & (UNSEEN | flag) == UNSEEN | flag and before["arch"] == "90"
    assert flags(after) & (UNSEEN | flag) == flag and after["error"] is None
    assert before["unpacked"] == after["unpacked"] == str(len(code))
    if kind == c.PTX:
        assert (before["isa"], before["toolkit"]) == ("88", "12090")
        assert after["arch"] == "90a" and after["names"] == {}
        assert after["symbols"] == "1"
    elif kind == c.CUBIN:
        assert before["toolkit"] == "0" and not flags(before) & (RELOCATABLE | LINKED)
        assert after["toolkit"] == "12090" and flags(after) & LINKED
        assert after["arch"] == "80"    # the code knows better than its label
    else:
        assert (before["container"], before["ir"]) == ("1064", "0")
        assert (after["container"], after["ir"], after["toolkit"]) == ("1064", "2093", "12090")
    assert extract(data, "code", 0) == code
    assert extract(data, "stored", 0) == (c.lz4 if packing == c.LZ4 else c.zstd)(code)


def test_an_entry_is_handed_out_in_a_fatbin_of_its_own(see, extract):
    data = bytes(c.usual(c.PLAIN | c.ZSTD))
    for index, kind in enumerate(["cubin", "ptx", "ltoir"]):
        alone = extract(data, "copy", index)
        seen = see(alone, "--payloads")
        assert seen.error is None and seen.column("kind") == [kind]
        assert extract(alone, "code", 0) == extract(data, "code", index)
        assert alone[16:] in data and len(alone) < len(data)


def test_ptx_comes_without_its_padding(extract):
    assert extract(c.usual(), "code", 1) == c.ptx()
    assert extract(c.fatbin(c.entry(c.PTX, c.ptx() + bytes(20), flags=c.PLAIN | c.LZ4)),
                   "code", 0) == c.ptx()
    assert extract(c.ptx() + b"\0", "code", 0) == c.ptx()


def test_obfuscated_code_stays_unseen_and_can_be_handed_on(see, extract):
    data = c.fatbin(c.entry(c.LTOIR, c.ltoir(), version=(1, 67), key=7,
                            flags=c.PLAIN | c.ZSTD | c.OBFUSCATED))
    entry = see(data, "--payloads").entries[0]
    assert flags(entry) == RELOCATABLE | ZSTD | OBFUSCATED | UNSEEN and entry["error"] is None
    assert (entry["kind"], entry["container"], entry["arch"]) == ("ltoir", "1067", "80")
    assert entry["no-code"] == "is obfuscated: nvJitLink alone unpacks it"
    assert extract(data, "copy", 0) == data
    assert extract(data, "stored", 0) == c.zstd(c.ltoir())


def test_flags_and_suffixes_are_read(see):
    ptx = c.ptx("9.0", "sm_100f")
    seen = see(c.fatbin(
        c.entry(c.PTX, c.ptx("8.0", "sm_90a"), arch=90, flags=c.PLAIN | c.SUFFIX_A | c.LZ4),
        c.entry(c.PTX, ptx, arch=100, flags=c.PLAIN | c.SUFFIX_F | c.LZ4 | c.DEBUG),
        # A cubin does not show its family; the fatbin does.
        c.entry(c.CUBIN, c.cubin(arch=100), arch=100, flags=c.PLAIN | c.SUFFIX_F)))
    assert seen.column("arch") == ["90a", "100f", "100f"]
    assert [flags(entry) & DEBUG for entry in seen.entries] == [0, DEBUG, 0]


def test_kinds_that_are_not_known_are_entries_with_a_reason(see):
    seen = see(c.fatbin(c.entry(0x10, b"?" * 64), c.entry(c.CONCATENATED, b"?" * 64, arch=0),
                        c.entry(c.TILEIR, b"\x7fTileIR\0" + bytes(64), version=(3329, 0)),
                        c.entry(c.PTX, c.ptx())), "--payloads")
    assert seen.error is None
    assert seen.column("kind") == ["unknown", "unknown", "tileir", "ptx"]
    assert seen.column("error") == [
        "is of an unknown kind (16)",
        "holds several entries packed into one (nvFatbin's -concat), which is not supported",
        None, None]


def test_optixir_in_a_fatbin_is_called_by_its_name(see):
    assert see(c.fatbin(c.entry(c.LTOIR, c.ltoir(level=2)))).column("kind") == ["optixir"]


def test_containers_behind_each_other_are_all_read(see):
    data = c.usual() + bytes(24) + c.usual(c.PLAIN | c.LZ4) + c.fatbin() + bytes(5000) + c.usual()
    seen = see(data + bytes(7))
    assert seen.error is None and seen.fatbins == "4"
    assert seen.column("fatbin") == list("000111333")
    assert seen.column("kind") == ["cubin", "ptx", "ltoir"] * 3


# ---- what is wrong with one entry ----

PACKED = c.PLAIN | c.LZ4
PTX_PACKED = len(c.lz4(c.ptx()))


@pytest.mark.parametrize("entry, why", [
    (c.entry(c.PTX, c.cubin()), "is labelled ptx and holds cubin"),
    (c.entry(c.PTX, c.usual()), "is labelled ptx and holds fatbin"),
    (c.entry(c.PTX, b"\x01\x02\x03"), "is neither PTX nor a cubin nor LTO-IR"),
    (c.entry(c.PTX, b""), "is empty"),
    (c.entry(c.PTX, c.ptx(), arch=2**32 - 1),
     "is for an impossible architecture (4294967295)"),
    (c.entry(c.PTX, c.ptx(), name=b"x", name_length=2**32 - 1),
     "has a name that lies outside its header"),
    (c.entry(c.PTX, c.ptx(), options_at=4), "has options that lie outside its header"),
    (c.entry(c.PTX, c.ptx(), options_at=60), "has options that lie outside its header"),
    (c.entry(c.PTX, c.ptx(), flags=PACKED | c.ZSTD),
     "says that it is compressed with LZ4 and with ZSTD"),
    (c.entry(c.PTX, c.ptx(), packed_size=40), "says that it is compressed, but not with what"),
    (c.entry(c.PTX, c.ptx(), flags=PACKED, packed_size=2**32 - 1),
     f"has an impossible compressed size (4294967295 of {len(c.padded(c.lz4(c.ptx())))} bytes)"),
    (c.entry(c.PTX, c.ptx(), flags=PACKED, unpacked_size=0),
     f"claims to unpack to 0 bytes, which {PTX_PACKED} bytes of LZ4 cannot"),
    *[(c.entry(c.PTX, c.ptx(), flags=PACKED, unpacked_size=size),
       f"claims to unpack to {size} bytes, which {PTX_PACKED} bytes of LZ4 cannot")
      for size in (255 * (PTX_PACKED + 1) + 1, 2**64 - 1)],
    (c.entry(c.PTX, c.ptx(), flags=c.PLAIN | c.ZSTD, unpacked_size=2**40),
     f"claims to unpack to {2**40} bytes, which {len(c.zstd(c.ptx()))} bytes of ZSTD cannot"),
    (c.entry(c.PTX, c.ptx(), flags=PACKED, unpacked_size=len(c.ptx()) + 1),
     "cannot be unpacked: its LZ4 data is damaged"),
    (c.entry(c.PTX, c.ptx(), flags=c.PLAIN | c.ZSTD, unpacked_size=len(c.ptx()) - 1),
     "cannot be unpacked: its ZSTD data is damaged"),
])
def test_an_entry_that_is_wrong_says_why_and_does_not_hide_the_others(see, entry, why):
    seen = see(c.fatbin(c.entry(c.CUBIN, c.cubin()), entry, c.entry(c.LTOIR, c.ltoir())),
               "--payloads")
    assert seen.error is None
    assert seen.column("error") == [None, why, None]
    # Nothing of it is handed out.
    assert seen.entries[1]["no-code"] == seen.entries[1]["no-copy"] == why


# ---- what is wrong with a container ----

AT = 16 + len(c.entry(c.CUBIN, c.cubin()))


@pytest.mark.parametrize("fields, why", [
    *[({"header_size": size}, "has a header of impossible size")
      for size in (63, 65)],
    ({"header_size": 2**32 - 8}, "ends past the fatbin"),
    ({"payload_size": 2**64 - 1}, "ends past the fatbin"),
    ({"payload_size": 9}, "has a payload of impossible size"),
])
def test_an_entry_behind_which_nothing_can_be_found_is_named_with_its_place(see, fields, why):
    seen = see(c.fatbin(c.entry(c.CUBIN, c.cubin()), c.entry(c.PTX, c.ptx(), **fields),
                        c.entry(c.LTOIR, c.ltoir())))
    assert seen.error == f"fatbin at 0x0: entry 1, at {AT:#x}, {why}"
    assert seen.column("kind") == ["cubin"]


def test_an_entry_without_room_for_its_header(see):
    assert see(c.fatbin(c.entry(c.CUBIN, c.cubin()), bytes(8))).error == \
        f"fatbin at 0x0: entry 1, at {AT:#x}, ends past the fatbin"


@pytest.mark.parametrize("fields, why", [
    *[({"size": size}, "ends past what contains it")
      for size in (2**64 - 16, len(c.usual()) - 15)],
    ({"header_size": 15}, "has a header of impossible size"),
    ({"header_size": 65528}, "has a header of impossible size"),
    ({"version": 2}, "is of an unknown version"),
])
def test_a_wrong_container_is_named_with_its_place(see, fields, why):
    wrong = bytearray(c.usual())
    wrong[:16] = c.fatbin(**{"size": len(wrong) - 16, **fields})[:16]
    seen = see(c.usual() + wrong)
    assert seen.error == f"fatbin at {len(c.usual()):#x} {why}"
    assert len(seen.entries) == 3


def test_something_else_behind_a_container_is_an_error(see):
    seen = see(c.usual() + bytes(8) + b"more")
    assert seen.error == f"fatbin at {len(c.usual()) + 8:#x} is cut off in its header"
    seen = see(c.usual() + bytes(8) + b"something more than that")
    assert seen.error == f"fatbin at {len(c.usual()) + 8:#x} is not a fatbin: something else begins there"


def test_containers_without_number_end(see):
    seen = see(c.fatbin() * 70000)
    assert seen.error is None and seen.fatbins == "70000" and not seen.entries
