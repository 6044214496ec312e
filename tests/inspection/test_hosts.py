# SPDX-License-Identifier: MIT
"""Objects, libraries and executables of the host, and archives of them."""
import shutil
import struct
import subprocess

import pytest

import build
import made_up as c


def assemble(folder, name, *sections):
    """An object with these (section, bytes), as the assembler makes it."""
    lines = []
    for index, (section, data) in enumerate(sections):
        part = folder / f"{name}.{index}.bin"
        part.write_bytes(data)
        lines += [f'.section {section},"a"', ".balign 8", f'.incbin "{part}"']
    source = folder / f"{name}.s"
    source.write_text("\n".join([*lines, '.section .note.GNU-stack,"",%progbits', ""]))
    subprocess.run([*build.CC, "-c", source, "-o", folder / f"{name}.o"], check=True)
    return folder / f"{name}.o"


@pytest.fixture
def objects(tmp_path):
    return [assemble(tmp_path, "one", ("__nv_relfatbin", c.usual())),
            assemble(tmp_path, "two", ("__nv_relfatbin", c.usual(c.PLAIN | c.LZ4)))]


def test_every_container_that_ld_r_put_together_is_read(see, objects, tmp_path):
    both = tmp_path / "both.o"
    subprocess.run([*build.CC, "-r", "-nostdlib", *objects, "-o", both], check=True)
    seen = see(both)
    assert (seen.error, seen.fatbins) == (None, "2")
    assert seen.column("kind") == ["cubin", "ptx", "ltoir"] * 2
    assert seen.column("fatbin") == list("000111")


def test_final_code_is_told_from_relocatable_code(see, tmp_path):
    linked = c.fatbin(c.entry(c.CUBIN, c.cubin(linked=True)))
    seen = see(assemble(tmp_path, "o", (".nv_fatbin", linked), ("__nv_relfatbin", c.usual())))
    by_section = {entry["section"]: entry for entry in reversed(seen.entries)}
    assert int(by_section[".nv_fatbin"]["flags"], 16) == 2
    assert int(by_section["__nv_relfatbin"]["flags"], 16) == 1


def test_a_library_and_an_executable(see, objects, tmp_path):
    main = tmp_path / "main.c"
    main.write_text("int main(void) { return 0; }\n")
    for name, how in (("lib.so", ["-shared", "-fPIC"]), ("program", [])):
        subprocess.run([*build.CC, *how, main, *objects, "-o", tmp_path / name], check=True)
        seen = see(tmp_path / name)
        assert (seen.kind, seen.error, seen.warning) == ("shared", None, None)
        assert seen.column("kind") == ["cubin", "ptx", "ltoir"] * 2


def test_a_host_file_without_device_code_has_no_entries_and_no_error(see, tmp_path):
    seen = see(assemble(tmp_path, "o", (".rodata", b"hello")))
    assert (seen.kind, seen.error, seen.entries) == ("object", None, [])


def test_more_sections_than_the_header_can_count(see, tmp_path):
    source = tmp_path / "many.s"
    source.write_text("".join(f'.section .s{i},"a"\n.byte 1\n' for i in range(66000)) +
                      '.section __nv_relfatbin,"a"\n.incbin "fatbin"\n')
    (tmp_path / "fatbin").write_bytes(c.usual())
    subprocess.run([*build.CC, "-c", source, "-o", tmp_path / "many.o"], check=True, cwd=tmp_path)
    seen = see(tmp_path / "many.o")
    assert (seen.error, seen.column("kind")) == (None, ["cubin", "ptx", "ltoir"])


FATBIN = ("__nv_relfatbin", c.usual())
HEADERS = int.from_bytes(c.elf([FATBIN])[40:48], "little")


def patched(data, at, format, *values):
    data = bytearray(data)
    struct.pack_into(format, data, at, *values)
    return bytes(data)


@pytest.mark.parametrize("elf, why", [
    (c.elf([(*FATBIN, {"flags": 0x802})]),
     "has a compressed section __nv_relfatbin, which is not supported"),
    (c.elf([(*FATBIN, {"size": 2**64 - 1})]),
     f"ends before its section __nv_relfatbin does (0x40 + {2**64 - 1:#x})"),
    (c.elf([FATBIN, *[("__nv_relfatbin", b"", {"offset": 64, "size": len(FATBIN[1])})] * 2]),
     "has sections that overlap"),
    (c.elf([(*FATBIN, {"size": 60})]), "fatbin at 0x40 ends past what contains it"),
    # More is in device_code/test_damage.py, of the same reader.
    (c.elf([FATBIN])[:-1], f"ends at {len(c.elf([FATBIN])) - 1:#x}, inside or before its section headers"
     f" ({HEADERS:#x})"),
    (c.elf([FATBIN])[:9], "ends inside its ELF header"),
    (c.elf(elf_class=1), "is not an ELF file of 64 bits, little-endian"),
    (b"\x7fELF\x02\x02\x01" + bytes(9) + b"\0\x01\0\x16" + bytes(44),
     "is not an ELF file of 64 bits, little-endian"),
    (c.elf([FATBIN], headers=False), "has no section headers, by which code is found"),
    (patched(patched(c.elf([FATBIN]), 60, "<H", 0), HEADERS + 32, "<Q", 2**60),
     f"ends at {len(c.elf([FATBIN])):#x}, inside or before its section headers ({HEADERS:#x})"),
    (patched(c.elf([FATBIN]), HEADERS + 2 * 64 + 32, "<Q", 2**40),
     f"ends at {len(c.elf([FATBIN])):#x}, inside its names of sections"),
])
def test_a_damaged_host_file_says_what_is_wrong_with_it(see, elf, why):
    seen = see(elf)
    assert seen.kind in ("object", "shared") and seen.error == why


def test_a_section_that_has_no_bytes_in_the_file_is_no_damage(see):
    # What objcopy --only-keep-debug leaves.
    seen = see(c.elf([(*FATBIN, {"type": 8, "size": 2**40})]))
    assert (seen.error, seen.entries) == (None, [])


# ---- archives ----

def test_an_archive_of_objects_names_their_members(see, objects, tmp_path):
    long = tmp_path / "an object with a name much longer than sixteen bytes.o"
    shutil.copy(objects[1], long)
    library = tmp_path / "libdevice.a"
    subprocess.run(["ar", "rcs", library, objects[0], long], check=True)
    seen = see(library)
    assert (seen.kind, seen.error, seen.fatbins) == ("archive", None, "2")
    assert seen.column("kind") == ["cubin", "ptx", "ltoir"] * 2
    assert seen.column("section") == ["__nv_relfatbin"] * 6
    assert seen.column("member") == ["one.o"] * 3 + [long.name] * 3


def test_members_of_every_kind_are_read_as_what_they_are(see):
    seen = see(c.archive(
        c.member(b"/", b"\0\0\0\1\0\0\0\0x\0"), c.member(b"//", b"a_rather_long_name.ptx/\n"),
        c.member(b"/0", c.ptx()), c.member(b"b.cubin/", c.cubin()),
        c.member(b"c.ltoir/", c.ltoir()), c.member(b"d.fatbin/", c.usual()),
        c.member(b"e.txt/", b"hello\n"), c.member(b"f.cu/", b"#include <x>\n"),
        c.member(b"g.bc/", b"BC\xc0\xde"), c.member(b"h.o/", c.elf())))
    assert seen.error is None
    assert list(zip(seen.column("kind"), seen.column("member"))) == [
        ("ptx", "a_rather_long_name.ptx"), ("cubin", "b.cubin"), ("ltoir", "c.ltoir"),
        ("cubin", "d.fatbin"), ("ptx", "d.fatbin"), ("ltoir", "d.fatbin"), ("bitcode", "g.bc")]


@pytest.mark.parametrize("member, error", [
    (c.member(b"bad/", c.archive()), "is an archive in an archive, which no linker reads"),
    (c.member(b"bad/", c.elf(elf_class=1)), "is not an ELF file of 64 bits, little-endian"),
    (c.member(b"/77", c.ptx()), "has a name that lies outside the archive's names"),
    # nvJitLink crashes on it, or leaves out the archive and says SUCCESS.
    (c.member(b"bad/", b"\x7fELF" + b"garbage" * 20),
     "is neither an object nor device code nor text"),
    (c.member(b"bad/", c.fatbin(size=2**40)), "fatbin at 0x{0:x} ends past what contains it"),
])
def test_a_damaged_member_does_not_lose_the_others(see, member, error):
    first = c.member(b"first/", c.ptx())
    seen = see(c.archive(first, member, c.member(b"last/", c.cubin())))
    assert seen.error is None
    assert seen.column("kind") == ["ptx", "unknown", "cubin"]
    assert seen.column("error") == [None, error.format(8 + len(first) + 60), None]
    assert seen.column("member")[1] in ("bad", "?")
    assert int(seen.column("length")[1]) <= len(member) - 60


def test_text_may_lie_in_an_archive(see):
    seen = see(c.archive(c.member(b"README/", "größer\n".encode()), c.member(b"empty/", b""),
                         c.member(b"k.ptx/", c.ptx())))
    assert (seen.error, seen.column("member"), seen.column("error")) == (None, ["k.ptx"], [None])


@pytest.mark.parametrize("member, why", [
    (c.member(b"bad/", c.ptx(), end=b"x\n"), "has a damaged header"),
    (c.member(b"bad/", c.ptx(), size=b""), "has a damaged header"),
    (c.member(b"bad/", c.ptx(), size=b"9999999999"), "ends past the archive"),
    (c.member(b"bad/", c.ptx())[:59], "is cut off in its header"),
])
def test_where_an_archive_breaks_off_is_said(see, member, why):
    first = c.member(b"first/", c.ptx())
    seen = see(c.archive(first, member))
    assert seen.error == f"archive member at {8 + len(first):#x} {why}"
    assert seen.column("kind") == ["ptx"]


def test_a_name_cannot_speak_to_the_terminal(see):
    seen = see(c.archive(c.member(b"a\x1b[2J\nb/", c.ptx())))
    assert seen.column("member") == ["a?[2J?b"]


def test_an_object_whose_code_only_gcc_reads(see, tmp_path):
    """gcc -flto leaves no section of device code, unless it makes fat objects."""
    bare = assemble(tmp_path, "bare", (".gnu.lto_.lto.0123", b"\0" * 8))
    archive = tmp_path / "bare.a"
    subprocess.run(["ar", "rc", archive, bare], check=True)
    for file in (bare, archive):
        seen = see(file)
        assert seen.error is None and seen.warning.endswith("compile with -ffat-lto-objects")
    fat = assemble(tmp_path, "fat", (".gnu.lto_.lto.0123", b"\0" * 8),
                   ("__nv_relfatbin", c.usual()))
    assert see(fat).warning is None
