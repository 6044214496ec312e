# SPDX-License-Identifier: MIT
"""Device code of real compilers with a field made wrong, and LTO-IR made up.  What is inside of a
relocatable cubin is in tests/inspection/test_laid_out.py."""
import struct

import pytest

import made_up as c
from changed_elf import Elf
from code_corpus import real_code

@pytest.fixture
def folder(real):
    return lambda version, arch="80": real_code(real(version).version, arch)


# Real code.

def test_padding_behind_code_is_no_damage(folder, read):
    for name in ("h_80.cubin", "h_80.ptx", "h_80.ltoir"):
        assert read((folder("12.9") / name).read_bytes() + bytes(7)).wrong is None


# Cubins, one field after the other.

@pytest.fixture
def elf(folder):
    return lambda version="12.9", name="k_80.cubin": Elf(
        (folder(version, name[2:name.index(".")]) / name).read_bytes())


@pytest.mark.parametrize("form, at, value, wrong", [
    ("B", 4, 1, "is not an ELF file of 64 bits, little-endian"),
    ("Q", 0x28, 0, "has no section headers, by which code is found"),
    ("H", 0x3a, 63, "has a damaged ELF header: its section headers are of another size"),
    ("Q", 0x28, 2**64 - 64, "ends at 0x"), ("H", 0x3c, 0xfeff, "ends at 0x"),
    ("H", 0x3e, 0xfeff, "has a damaged ELF header: it leads to no names of sections"),
    ("H", 0x3e, 0, "has damaged names of sections"),
    ("H", 0x38, 1, "has a damaged ELF header: its segments are of another size"),
])
def test_a_damaged_elf_header(elf, read, form, at, value, wrong):
    file = elf()
    if at == 0x38:
        file.put("H", 0x36, 1)
    entry = read(file.put(form, at, value))
    assert entry.wrong.startswith(wrong) and entry.headers.startswith(wrong)


@pytest.mark.parametrize("section, form, at, value, what", [
    (".text.kernel", "I", 0, 2**31, "its name"),
    (".text.kernel", "Q", 32, 2**64 - 1, "its bytes"),
    (".symtab", "Q", 32, 25, "its size"),
    (".symtab", "I", 40, 2**32 - 1, "its link"),
])
def test_a_damaged_section_header(elf, read, section, form, at, value, what):
    file = elf()
    index, place = file.find(section), file.header(section)
    entry = read(file.put(form, place + at, value))
    assert entry.wrong == entry.headers == (
        f"has a damaged header of section {index} (0x{place:x}): {what}")


def test_memory_that_takes_no_room_may_be_larger_than_the_file(elf, read):
    file = elf()
    for section in (".nv.global", ".nv.shared.kernel"):
        assert read(file.put("Q", file.header(section) + 32, 2**40)).wrong is None


def test_damaged_symbols(elf, read):
    file = elf()
    symbols = file.field(file.find(".symtab"), 24)
    entry = read(file.put("I", symbols + 24 * 5, 2**31))
    assert entry.wrong == "has a damaged symbol 5: its name" and entry.headers is None
    for strings, what in ((file.find(".strtab"), "symbols"), (file.names, "sections")):
        end = file.field(strings, 24) + file.field(strings, 32)
        assert read(elf().put("B", end - 1, 1)).wrong == f"has damaged names of {what}"


def test_names_that_overlap_without_end(elf, read):
    """Each is read whole, so that a small file could ask for any amount of memory."""
    strings = b"\0" + b"a" * 100_000 + b"\0"
    for count, overlap in ((5, False), (5000, True)):
        file = elf()
        symbols = bytes(24) + b"".join(struct.pack("<IBBHQQ", 1 + index, 0x12, 0, 1, 0, 0)
                                       for index in range(count))
        for section, data in ((".symtab", symbols), (".strtab", strings)):
            struct.pack_into("<QQ", file.data, file.header(section) + 24, len(file.data), len(data))
            file.data += data
        wrong = read(bytes(file.data)).wrong
        assert (wrong == "has damaged names of symbols: they overlap") == overlap


def test_later_compilers_may_lay_out_cubins_in_their_own_way(elf, read):
    """What nobody has seen is held to no table; what leads nowhere is damage all the same."""
    file = elf()
    align = file.header(".debug_frame") + 48
    for version, known in ((135, True), (136, False), (140, False)):
        file.put("I", 20, version)
        assert (read(file.put("Q", align, 0)).wrong is None) != known
        assert read(file.put("Q", align, 3)).wrong.endswith("its alignment")


def test_relocations_of_code_of_the_second_set_have_places_of_their_own(elf, read):
    file = elf("13.5", "k_100.cubin")
    place = file.field(file.like(r"\.nv\.merc\.rela\.text\."), 24)
    assert read(file.put("Q", place, 2**40)).wrong is None


def test_a_name_that_linkers_would_not_find(elf, read):
    """One letter less: what is left is no name of a symbol table."""
    for version, name, section in (("12.9", "k_80.cubin", r"\.symtab"),
                                   ("12.9", "k_80.cubin", r"\.nv\.global$"),
                                   ("12.9", "k_80.cubin", r"\.rela\.text\.kernel"),
                                   ("12.9", "k_80.cubin", r"\.nv\.constant0\."),
                                   ("13.5", "k_100.cubin", r"\.nv\.callgraph"),
                                   ("13.5", "k_100.cubin", r"\.nv\.prototype")):
        file = elf(version, name)
        index = file.like(section)
        at = file.shoff + 64 * index
        data = file.put("I", at, struct.unpack_from("<I", file.data, at)[0] + 1)
        assert read(data).wrong == \
            f"has a damaged header, section {index} of {file.name(index)}: its name"


@pytest.mark.parametrize("section", [r"\.text\.kernel", r"\.nv\.merc\.nv\.info\."])
def test_a_section_that_is_not_aligned(elf, read, section):
    file = elf("13.5", "k_100.cubin")
    index = file.like(section)
    place = file.field(index, 24)
    assert read(file.put("Q", file.shoff + 64 * index + 24, place - 1)).wrong == \
        f"has a damaged header, section {index} of {file.name(index)}: its place"


def test_nothing_lies_between_sections_of_the_second_set(elf, read):
    """A shorter one leaves a gap behind it."""
    file = elf("13.5", "k_100.cubin")
    index = file.like(r"\.nv\.merc\.nv\.callgraph")
    size = file.field(index, 32)
    behind = next(i for i in range(file.count)
                  if file.field(i, 24) == file.field(index, 24) + size)
    assert read(file.put("Q", file.shoff + 64 * index + 32, size - 8)).wrong == \
        f"has a damaged header, section {behind} of {file.name(behind)}: its place"


@pytest.mark.parametrize("form, at, value, wrong", [
    # The flags of ABI 7.
    *[("B", at, value, None if sound else "has a damaged ELF header: its flags") for at, value, sound in (
        (49, 5, True), (49, 13, True), (49, 4, False), (50, 0, False), (51, 1, False))],
    ("I", 0x30, 0, "names no architecture"), ("I", None, 1, "has a damaged header of section 0")])
def test_a_field_of_the_header(elf, read, form, at, value, wrong):
    file = elf()
    assert read(file.put(form, file.shoff + 4 if at is None else at, value)).wrong == wrong


def test_the_stack_of_a_symbol_that_is_no_function(elf, read):
    """nvJitLink 13.5 writes it with -r, of __UFT_CANONICAL; all take it."""
    file = elf("13.5")
    at = file.field(file.find(".nv.info"), 24)
    while file.data[at + 1] != 0x23:
        at += 4 + struct.unpack_from("<H", file.data, at + 2)[0]
    assert read(file.put("I", at + 4, 1)).wrong is None
    assert read(file.put("I", at + 4, 2**31)).wrong.endswith("of .nv.info: its value")


def test_relocations_of_no_section_that_pass_for_code(elf, read):
    """What sh_info of code is may be any number."""
    file = elf()
    index = file.find(".rel.text.kernel")
    file.put("Q", file.shoff + 64 * index + 8, file.field(index, 8) | 4)
    entry = read(file.put("I", file.shoff + 64 * index + 44, 2**31 - 1))
    assert entry.wrong == f"has a damaged header, section {index} of .rel.text.kernel: its link"


def test_a_symbol_of_nothing(elf, read):
    file = elf()
    symbols = file.field(file.find(".symtab"), 24)
    data = bytearray(file.data)
    data[symbols + 24:symbols + 48] = bytes(24)
    assert read(bytes(data)).wrong == "has a damaged symbol 1 of .symtab: nothing in it"


@pytest.mark.parametrize("version, name, note", [
    ("12.9", "k_100.cubin", ".note.nv.cuver"), ("13.5", "d_120.cubin", ".note.nv.cuinfo"),
    ("13.5", "n_90.cubin", ".note.nv.cuinfo")])
def test_the_flags_of_abi_8_lead_to_a_note(elf, read, version, name, note):
    """Of what leads elsewhere nvJitLink 13.0 to 13.4 die, whichever bits are set; 255 is none."""
    file = elf(version, name)
    flags, = struct.unpack_from("<I", file.data, 0x30)
    assert flags >> 24 == file.find(note)
    harmless = {flags >> 24, file.find(".note.nv.tkinfo"), 255}
    for index in {0, 1, 128, 254, *harmless}:
        wrong = read(file.put("I", 0x30, flags & 0xffffff | index << 24)).wrong
        assert wrong == (None if index in harmless else "has a damaged ELF header: its flags")
    assert read(file.put("I", 0x30, flags & ~6)).wrong == "has a damaged ELF header: its flags"


@pytest.mark.parametrize("byte, place, comment", [
    (0x80, 40, False), (0xff, 2, True), (0xc3, 48, True)])
def test_ptx_that_is_not_ascii(read, byte, place, comment):
    """nvJitLink 12.3 to 12.6 crash on it, later ones refuse it; but for comments."""
    data = bytearray(b"// some comment\n.version 8.0\n.target sm_80 // more\n.address_size 64\n")
    assert read(bytes(data)).wrong is None and read(bytes(data) + b"\0").wrong is None
    data[place] = byte
    assert read(bytes(data)).wrong == (
        None if comment else f"is not ASCII, which PTX is, at 0x{place:x}")


def test_a_damaged_segment(elf, read):
    file = elf(name="e_80.cubin")
    segments, = struct.unpack_from("<Q", file.data, 0x20)
    assert read(file.put("Q", segments + 32, 2**40)).wrong == \
        f"has a damaged header of segment 0 (0x{segments:x}): its bytes"
    assert read(file.put("Q", 0x20, 2**63)).wrong.startswith("ends at 0x")


# What may be right, and is not known.

@pytest.mark.parametrize("osabi, abi", [(0x33, 8), (0x41, 7), (0, 0)])
def test_an_unknown_abi_is_named(elf, read, osabi, abi):
    file = elf()
    file.put("B", 7, osabi)
    entry = read(file.put("B", 8, abi))
    assert entry.wrong is None and entry.abi == 0
    assert entry.error == (f"is a cubin of ABI {abi} (OS/ABI 0x{osabi:x}), of which nothing is "
                           "known")


@pytest.mark.parametrize("type_", [0, 3])
def test_an_unknown_type_is_named(elf, read, type_):
    entry = read(elf().put("H", 0x10, type_))
    assert entry.error == (f"is a cubin of ELF type {type_}, neither relocatable nor linked")
    assert entry.flags == 0


def test_a_producer_that_is_not_told(elf, read):
    old, new = elf("12.9"), elf("13.0")
    assert [read(bytes(file.data)).toolkit for file in (old, new)] == [12090, 13000]
    old.put("I", 0x14, 1)
    for note in (".note.nv.cuinfo", ".note.nv.tkinfo"):
        new.put("I", new.field(new.find(note), 24) + 4, 1)      # its size
    for file in (old, new):
        entry = read(bytes(file.data))
        assert (entry.wrong, entry.error, entry.toolkit) == (None, None, 0)


def test_a_note_that_counts_less_into_its_size(elf, read):
    """As a tool of NVIDIA's own writes it, into cuBLAS."""
    file = elf("13.0")
    assert read(file.put("I", file.field(file.find(".note.nv.cuinfo"), 24) + 4, 6)).toolkit == 13000


# LTO-IR.

LEADS_OUT = "has a damaged header: its offsets (0x0c to 0x17) lead out of it"


@pytest.mark.parametrize("form, at, value, wrong", [
    ("H", 12, 20, LEADS_OUT), ("H", 12, 0xffff, LEADS_OUT), ("I", 16, 20, LEADS_OUT), ("I", 16, 2**31, LEADS_OUT),
    ("I", 20, 30, LEADS_OUT), ("I", 20, 2**32 - 1, LEADS_OUT),
    ("Q", 16, 2**14 << 32 | 2**14, "has a damaged header: too many tags"),
    ("H", 26, 0, "has a damaged header: it names no architecture"),
    # Every real library takes what stands there for a size, and aborts.
    ("B", 32, 98, "has a damaged header: its tags do not end"),
    ("B", 39, 0xff, "has a damaged header: its tags do not end")])
def test_ltoir_with_a_damaged_header(read, form, at, value, wrong):
    data = bytearray(c.ltoir() + bytes(2**15))
    assert read(bytes(data)).wrong is None
    struct.pack_into(f"<{form}", data, at, value)
    assert read(bytes(data)).wrong == wrong


def test_ltoir_that_ends_inside_its_header(read):
    for length in 4, 23:
        assert read(c.ltoir()[:length]).wrong == "ends inside its header"
