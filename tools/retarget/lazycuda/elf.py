# SPDX-License-Identifier: MIT
"""Reads ELF files as the dynamic linker does: by segments, never by sections.

Section tables may lie (some patchelfs leave them behind) or be stripped; what
the dynamic segment says is what happens when the file is loaded.  Nothing in a
file is trusted: what does not fit raises ElfError.
"""
import functools
import itertools
import json
import os
import stat
import struct
from collections import namedtuple
from typing import NamedTuple

MACHINES = {62: "x86_64", 183: "aarch64"}

PT_LOAD, PT_DYNAMIC, PT_INTERP, PT_NOTE, PT_TLS = 1, 2, 3, 4, 7
PF_W = 2
DT_NEEDED, DT_PLTRELSZ, DT_HASH, DT_STRTAB, DT_SYMTAB, DT_RELA = 1, 2, 4, 5, 6, 7
DT_RELASZ, DT_STRSZ, DT_SONAME, DT_RPATH, DT_JMPREL, DT_RUNPATH = 8, 10, 14, 15, 23, 29
DT_RELRSZ, DT_RELR = 35, 36
DT_BIND_NOW, DT_FLAGS, DT_FLAGS_1, DT_RELACOUNT = 24, 30, 0x6ffffffb, 0x6ffffff9
DF_BIND_NOW, DF_1_NOW = 8, 1
DT_GNU_HASH, DT_VERSYM = 0x6ffffef5, 0x6ffffff0
DT_VERDEF, DT_VERDEFNUM = 0x6ffffffc, 0x6ffffffd
DT_VERNEED, DT_VERNEEDNUM = 0x6ffffffe, 0x6fffffff

SHT_PROGBITS, SHT_STRTAB, SHT_DYNAMIC, SHT_DYNSYM = 1, 3, 6, 11
NAMES_INDEX = struct.Struct("<H"), 62     # e_shstrndx in the file's header
SHF_WRITE, SHF_ALLOC = 1, 2

# The owners and types of notes: of what a file may open, as [{"soname": [...], "feature": ...}], and of
# PyPI's packages that have that.
NOTE_DLOPEN = b"FDO\0", 0x407c0c0a
NOTE_PACKAGES = b"lazycuda\0", 1

DYNAMIC = struct.Struct("<qQ")
RELOCATION = struct.Struct("<QQq")
SYMBOL = struct.Struct("<IBBHQQ")
# Of it one field alone, which is read several times as fast.
RELOCATION_INFO = struct.Struct("<8xQ8x")
# Parts of constants overlap by this: no file name is longer.
LONGEST_NAME = 255
# No table of a sane file is longer.
MANY = 1 << 24
# ld.so maps pages whole.
SMALLEST_PAGE = 4096


class ElfError(Exception):
    """What is wrong with a file, as a phrase."""


class Segment(namedtuple("Segment", "type flags offset address file_size memory_size align")):
    @property
    def mapped_size(self):
        """How many bytes of the file it maps: lc_mapped_size() of stubs/base/image.h."""
        if not self.file_size or self.memory_size > self.file_size:
            return self.file_size
        return self.file_size + -(self.address + self.file_size) % SMALLEST_PAGE


Section = namedtuple("Section", "name type flags address offset size link info align entry_size")


class Symbol(NamedTuple):
    name: str
    version: str        # the node, or None
    index: int          # of the version: 2 is the first that a library defines
    hidden: bool        # not the default version
    defined: bool
    weak: bool
    value: int
    size: int
    info: int
    other: int


class Need(NamedTuple):
    file: str
    nodes: tuple        # of (name, hash, flags, index)


def is_elf(start):
    return start[:4] == b"\177ELF"


class File:
    """A file's bytes, read as they are asked for.  What is read through a map would count as
    this process's memory, and a library may have a gigabyte."""
    CHUNK = 1 << 20

    def __init__(self, stream):
        self.stream = stream
        self.size = os.fstat(stream.fileno()).st_size

    def __len__(self):
        return self.size

    def __getitem__(self, wanted):
        start, stop, _ = wanted.indices(self.size)
        # Records are small and lie side by side: the stream keeps those after one.
        self.stream.seek(start)
        return self.stream.read(max(stop - start, 0))


def read(path):
    """The file at a path, which must not change while it is looked at."""
    # To open a FIFO is to wait for its writer.
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise ElfError("is not a regular file")
    return Elf(File(open(path, "rb")))


class Elf:
    """One file; `data` is its bytes, or the File."""

    def __init__(self, data):
        self.data = data
        if not len(data):
            raise ElfError("is empty")
        if not is_elf(data[:4]):
            raise ElfError("is not an ELF file")
        if len(data) < 64:
            raise ElfError("is truncated")
        if data[4:6] != b"\2\1":
            raise ElfError("is not for a 64-bit little-endian machine")
        (self.type, machine, _, _, phoff, self.section_offset, _, _, phentsize,
         phnum, self.section_size, self.section_count, self.names_index) = struct.unpack_from(
             "<HHIQQQIHHHHHH", data[:64], 16)
        self.machine = MACHINES.get(machine, f"machine {machine}")
        if phnum and phentsize != 56:
            raise ElfError("has program headers of a strange size")
        self.segments = [Segment(kind, flags, *rest[:2], *rest[3:]) for kind, flags, *rest in (
            self._unpack("<IIQQQQQQ", phoff + i * 56) for i in range(phnum))]
        # What is behind the entry that ends them does not count.
        self.dynamic = list(itertools.takewhile(lambda entry: entry[0], self.dynamic_room()))
        self.strings = self._read_strings()

    # ---- bytes ----

    def _unpack(self, layout, offset):
        try:
            return struct.unpack(layout, self.data[offset:offset + struct.calcsize(layout)])
        except (struct.error, OverflowError):
            raise ElfError("is truncated") from None

    def of_type(self, kind):
        return [segment for segment in self.segments if segment.type == kind]

    def notes(self, wanted):
        """What the notes of this owner and type say, as one list.  Only stubs are asked, whose notes
        are arrays of JSON."""
        found = []
        for segment in self.of_type(PT_NOTE):
            data = self.data[segment.offset:segment.offset + segment.file_size]
            at, align = 0, segment.align if segment.align == 8 else 4
            while at + 12 <= len(data):
                owner, size, kind = struct.unpack_from("<III", data, at)
                start = at + 12 + -(-owner // align) * align
                if (data[at + 12:at + 12 + owner], kind) == wanted:
                    try:
                        found += json.loads(data[start:start + size].rstrip(b"\0"))
                    except (ValueError, TypeError, RecursionError):
                        raise ElfError("has a damaged note") from None
                at = start + -(-size // align) * align
        return found

    def offset(self, address, size=1):
        """Where in the file `size` bytes at an address are."""
        for segment in self.of_type(PT_LOAD):
            start = address - segment.address
            if 0 <= start and start + size <= segment.mapped_size:
                if segment.offset + start + size > len(self.data):
                    raise ElfError("is truncated")
                return segment.offset + start
        raise ElfError(f"refers to address {address:#x}, which it does not have")

    def bytes(self, address, size):
        start = self.offset(address, size) if size else 0
        return self.data[start:start + size]

    def _at(self, layout, address):
        return struct.unpack(layout, self.bytes(address, struct.calcsize(layout)))

    # ---- the dynamic segment ----

    def dynamic_room(self):
        """The entries, the one that ends them, and the spare ones behind it."""
        for segment in self.of_type(PT_DYNAMIC)[:1]:
            for i in range(segment.file_size // DYNAMIC.size):
                yield self._unpack(DYNAMIC.format, segment.offset + DYNAMIC.size * i)

    def value(self, tag, default=None):
        return next((value for each, value in self.dynamic if each == tag), default)

    def _read_strings(self):
        address = self.value(DT_STRTAB)
        return self.bytes(address, self.value(DT_STRSZ, 0)) if address is not None else b""

    def _string(self, offset):
        end = self.strings.find(b"\0", offset)
        if end < 0:
            raise ElfError("has a name outside its string table")
        return self.strings[offset:end].decode("utf-8", "surrogateescape")

    def names(self, tag):
        """The strings that all entries of a kind give."""
        return [self._string(value) for each, value in self.dynamic if each == tag]

    @property
    def needed(self):
        return self.names(DT_NEEDED)

    @property
    def soname(self):
        return next(iter(self.names(DT_SONAME)), None)

    @property
    def search_path(self):
        """(DT_RPATH or DT_RUNPATH, text): the one that ld.so heeds; (None, "")"""
        for tag in (DT_RUNPATH, DT_RPATH):
            text = self.names(tag)
            if text:
                return tag, text[0]
        return None, ""

    @property
    def is_for_musl(self):
        return any(name.startswith(("libc.musl", "ld-musl")) for name in self.needed)

    @property
    def is_bound_at_once(self):
        """Whether ld.so looks up every function when the file is loaded."""
        return bool(self.value(DT_BIND_NOW) is not None or
                    self.value(DT_FLAGS, 0) & DF_BIND_NOW or
                    self.value(DT_FLAGS_1, 0) & DF_1_NOW)

    # ---- versions ----

    def _chain(self, address, count, layout):
        """(address, fields) of each record of a list; the last field is the
        distance to the next record."""
        for _ in range(min(count, MANY)):
            fields = self._at(layout, address)
            yield address, fields
            if not fields[-1]:
                return
            address += fields[-1]

    @property
    def needs(self):
        """The version nodes that it needs, by file."""
        address, count = self.value(DT_VERNEED), self.value(DT_VERNEEDNUM, 0)
        if address is None:
            return []
        found = []
        for at, (_, nodes, file, first, _) in self._chain(address, count, "<HHIII"):
            wanted = self._chain(at + first, nodes, "<IHHII")
            found.append(Need(self._string(file), tuple(
                (self._string(name), digest, flags, index & 0x7fff)
                for _, (digest, flags, index, name, _) in wanted)))
        return found

    @functools.cached_property
    def defines(self):
        """{index: node} that it defines itself, the base included."""
        address, count = self.value(DT_VERDEF), self.value(DT_VERDEFNUM, 0)
        if address is None:
            return {}
        nodes = {}
        for at, (_, _, index, _, _, first, _) in self._chain(address, count, "<HHHHIII"):
            nodes[index & 0x7fff] = self._string(self._at("<II", at + first)[0])
        return nodes

    # ---- symbols ----

    def relocations(self):
        """All bytes of the tables of relocations, one after the other."""
        tables = ((DT_RELA, DT_RELASZ), (DT_JMPREL, DT_PLTRELSZ), (DT_RELR, DT_RELRSZ))
        return [self.bytes(self.value(table), self.value(size, 0)) if self.value(table) is not None
                else b"" for table, size in tables]

    def _symbol_count(self):
        """No entry tells it: it follows from the hash tables or, if these are
        empty because nothing is defined, from the relocations."""
        if self.value(DT_HASH) is not None:
            return self._at("<II", self.value(DT_HASH))[1]
        count = 0
        address = self.value(DT_GNU_HASH)
        if address is not None:
            buckets, count, bloom, _ = self._at("<IIII", address)
            if buckets > MANY or bloom > MANY:
                raise ElfError("has a hash table of a strange size")
            address += 16 + 8 * bloom
            last = max(self._at(f"<{buckets}I", address), default=0)
            if last >= count:
                count, chain = last + 1, address + 4 * (buckets + last - count)
                while not self._at("<I", chain)[0] & 1:
                    chain, count = chain + 4, count + 1
        for table in self.relocations()[:2]:
            if table and len(table) % RELOCATION.size == 0:
                count = max(count, (max(RELOCATION_INFO.iter_unpack(table))[0] >> 32) + 1)
        return count

    def _symbol_table(self):
        """The table's bytes, the index of each symbol's version, and the version nodes."""
        address = self.value(DT_SYMTAB)
        count = self._symbol_count() if address is not None else 0
        if count > MANY:
            raise ElfError("has a symbol table of a strange size")
        table = self.bytes(address, SYMBOL.size * count)
        indices = [1] * count
        if self.value(DT_VERSYM) is not None:
            indices = struct.unpack(f"<{count}H", self.bytes(self.value(DT_VERSYM), 2 * count))
        nodes = dict(self.defines)
        nodes.update({index: name for need in self.needs for name, _, _, index in need.nodes})
        return table, indices, nodes

    def has_name(self, name):
        """Whether a symbol or a file that it needs may have that name."""
        return name.encode("utf-8", "surrogateescape") + b"\0" in self.strings

    def symbols(self, defined=None):
        """Every dynamic symbol, in order, without the empty first one; or those alone that the file
        defines, or that it does not."""
        table, indices, nodes = self._symbol_table()
        found = []
        for index, (name, info, other, section, value, size) in zip(
                indices[1:], SYMBOL.iter_unpack(table[SYMBOL.size:])):
            if defined is not None and defined != (section != 0):
                continue
            found.append(Symbol(self._string(name), nodes.get(index & 0x7fff) if
                                index & 0x7fff > 1 else None, index & 0x7fff, bool(index & 0x8000),
                                section != 0, info >> 4 == 2, value, size, info, other))
        return found

    @property
    def interpreter(self):
        """The dynamic linker that a program names, or None."""
        for segment in self.of_type(PT_INTERP):
            end = segment.offset + segment.file_size
            return bytes(self.data[segment.offset:end]).rstrip(b"\0")
        return None

    # ---- sections: never for what a file means, only to check a change ----

    def sections(self):
        if not self.section_offset or self.section_size != 64:
            return []
        return [Section(*self._unpack("<IIQQQQIIQQ", self.section_offset + 64 * i))
                for i in range(self.section_count)]

    def constant_ranges(self):
        """(address, size) of code and constants."""
        interpreters = {segment.address for segment in self.of_type(PT_INTERP)}
        return [(section.address, section.size) for section in self.sections()
                if section.type == SHT_PROGBITS and section.size and
                section.address not in interpreters and
                section.flags & SHF_ALLOC and not section.flags & SHF_WRITE]

    def _constant_places(self):
        """(offset, size) of sections whose names begin with .rodata: device code, a hundred times as
        much, is in other sections.  Without a table of sections, of what nobody can write to."""
        sections = self.sections()
        if self.names_index >= len(sections):
            return [(segment.offset, segment.mapped_size) for segment in self.of_type(PT_LOAD)
                    if not segment.flags & PF_W]
        table = sections[self.names_index]
        texts = self.data[table.offset:table.offset + table.size]
        return [(section.offset, section.size) for section in sections
                if section.type == SHT_PROGBITS and texts[section.name:].startswith(b".rodata")]

    def constants(self):
        """The bytes of constants, a part at a time."""
        for offset, size in self._constant_places():
            for start in range(offset, offset + size, File.CHUNK):
                yield self.data[start:min(start + File.CHUNK + LONGEST_NAME, offset + size)]

    def sections_agree(self):
        """Whether the section table has names, and the same dynamic symbols and
        strings as the dynamic segment; None: it has none."""
        sections = self.sections()
        symbols = next((each for each in sections if each.type == SHT_DYNSYM), None)
        dynamic = next((each for each in sections if each.type == SHT_DYNAMIC), None)
        if not symbols or not dynamic or max(symbols.link, self.names_index) >= len(sections):
            return None
        strings = sections[symbols.link]
        try:
            return (sections[self.names_index].type == SHT_STRTAB and
                    all(each.offset == self.offset(each.address)
                        for each in (symbols, strings, dynamic)) and
                    symbols.address == self.value(DT_SYMTAB) and
                    strings.address == self.value(DT_STRTAB) and
                    dynamic.offset == self.of_type(PT_DYNAMIC)[0].offset)
        except ElfError:
            return False
