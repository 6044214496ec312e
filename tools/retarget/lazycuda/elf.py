# SPDX-License-Identifier: MIT
"""Reads ELF files as the dynamic linker does: by segments, never by sections.

Section tables may lie (some patchelfs leave them behind) or be stripped; what
the dynamic segment says is what happens when the file is loaded.  Nothing in a
file is trusted: what does not fit raises ElfError.  The limits, and the words, are those
of stubs/base/image.c, stubs/base/object.c and tools/findings.c, by which audit reads.
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
ET_EXEC = 2

PT_LOAD, PT_DYNAMIC, PT_INTERP, PT_NOTE, PT_PHDR, PT_TLS = 1, 2, 3, 4, 6, 7
PF_W = 2
DT_NEEDED, DT_PLTRELSZ, DT_HASH, DT_STRTAB, DT_SYMTAB, DT_RELA = 1, 2, 4, 5, 6, 7
DT_RELASZ, DT_STRSZ, DT_SONAME, DT_RPATH, DT_JMPREL, DT_RUNPATH = 8, 10, 14, 15, 23, 29
DT_INIT, DT_FINI, DT_REL, DT_RELRSZ, DT_RELR = 12, 13, 17, 35, 36
DT_BIND_NOW, DT_FLAGS, DT_FLAGS_1, DT_RELACOUNT = 24, 30, 0x6ffffffb, 0x6ffffff9
DF_BIND_NOW, DF_1_NOW = 8, 1
DT_GNU_HASH, DT_VERSYM = 0x6ffffef5, 0x6ffffff0
DT_VERDEF, DT_VERDEFNUM = 0x6ffffffc, 0x6ffffffd
DT_VERNEED, DT_VERNEEDNUM = 0x6ffffffe, 0x6fffffff
DT_DEPAUDIT, DT_AUDIT, DT_AUXILIARY, DT_FILTER = 0x6ffffefb, 0x6ffffefc, 0x7ffffffd, 0x7fffffff

SHT_PROGBITS, SHT_SYMTAB, SHT_STRTAB, SHT_DYNAMIC, SHT_DYNSYM = 1, 2, 3, 6, 11
NAMES_INDEX = struct.Struct("<H"), 62     # e_shstrndx in the file's header
SECTIONS, SECTION_COUNT = 40, 60          # e_shoff and e_shnum there
SHF_WRITE, SHF_ALLOC = 1, 2

# The owners and types of notes: of what a file may open, as [{"soname": [...], "feature": ...}], and of
# PyPI's packages that have that.
NOTE_DLOPEN = b"FDO\0", 0x407c0c0a
NOTE_PACKAGES = b"lazycuda\0", 1
# Of a stub inside a file: two words, then "0.1.0 cudart 12 12" and perhaps names of functions.
NOTE_RECORD = b"lazycuda\0", 2

DYNAMIC = struct.Struct("<qQ")
RELOCATION = struct.Struct("<QQq")
SYMBOL = struct.Struct("<IBBHQQ")
SECTION = struct.Struct("<IIQQQQIIQQ")
# Parts of constants overlap by this: no file name is longer.
LONGEST_NAME = 255
# ld.so maps pages whole.
SMALLEST_PAGE = 4096

MAX_PHDRS = 256
MAX_DYNAMIC = 65536             # entries
MAX_NODES = 4096                # version nodes that one file may define
MAX_NEEDS = 0x7fff              # version nodes that one may need: an index has 15 bits
MAX_TABLE = 64 << 20            # bytes
MAX_IMPORTS = 1024              # libraries
MAX_SYMBOLS = 1 << 17           # that are not defined
MAX_NAME = 1024                 # bytes
# A table of symbols or of their versions ends where one of these begins.
TABLES = (DT_STRTAB, DT_SYMTAB, DT_VERSYM, DT_VERNEED, DT_VERDEF, DT_HASH, DT_GNU_HASH, DT_REL, DT_RELA,
          DT_JMPREL, DT_INIT, DT_FINI)


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
        (self.type, machine, _, _, self.header_offset, self.section_offset, _, _, phentsize,
         phnum, self.section_size, self.section_count, self.names_index) = struct.unpack_from(
             "<HHIQQQIHHHHHH", data[:64], 16)
        self.machine = MACHINES.get(machine, f"machine {machine}")
        if phnum and phentsize != 56:
            raise ElfError("has a damaged ELF header")
        if phnum > MAX_PHDRS:
            raise ElfError("has an unlikely number of segments")
        self.segments = [Segment(kind, flags, *rest[:2], *rest[3:]) for kind, flags, *rest in
                         struct.iter_unpack("<IIQQQQQQ", self._read(self.header_offset, phnum * 56))]
        for segment in self.of_type(PT_LOAD):
            # ld.so would map such a file and die of SIGBUS.
            self._check_room(segment.offset, segment.file_size)
        # What is behind the entry that ends them does not count.
        self.dynamic = list(itertools.takewhile(lambda entry: entry[0], self.dynamic_room()))
        # ld.so heeds the last entry of a kind.
        self._values = dict(self.dynamic)
        self.strings = self._read_strings()

    # ---- bytes ----

    def _has_room(self, offset, size):
        return offset <= len(self.data) and size <= len(self.data) - offset

    def _check_room(self, offset, size):
        if not self._has_room(offset, size):
            raise ElfError("is truncated")

    def _read(self, offset, size):
        self._check_room(offset, size)
        if size > MAX_TABLE:
            raise ElfError("has a table of an unlikely size")
        return self.data[offset:offset + size]

    def of_type(self, kind):
        return [segment for segment in self.segments if segment.type == kind]

    def notes(self, wanted):
        """What the notes of this owner and type say, which are arrays of JSON, as one list."""
        try:
            return [each for said in self._notes(wanted) for each in json.loads(said.rstrip(b"\0"))]
        except (ValueError, TypeError, RecursionError):
            raise ElfError("has a damaged note") from None

    @functools.cached_property
    def inside(self):
        """(library, release of lazycuda) of the stubs that are in the file itself."""
        try:
            return [(said[1], said[0]) for said in (
                note[8:].decode("ascii").split(maxsplit=2) for note in self._notes(NOTE_RECORD))]
        except (IndexError, ValueError):
            raise ElfError("has a damaged note") from None

    def _notes(self, wanted):
        for segment in self.of_type(PT_NOTE):
            data = self._read(segment.offset, segment.file_size)
            at, align = 0, segment.align if segment.align == 8 else 4
            while at + 12 <= len(data):
                owner, size, kind = struct.unpack_from("<III", data, at)
                start = at + 12 + -(-owner // align) * align
                if (data[at + 12:at + 12 + owner], kind) == wanted:
                    yield data[start:start + size]
                at = start + -(-size // align) * align

    def room(self, address):
        """(where in the file an address is, how many bytes are mapped from there on); None"""
        for segment in self.of_type(PT_LOAD):
            start = address - segment.address
            size = min(segment.mapped_size, len(self.data) - segment.offset)
            if 0 <= start < size:
                return segment.offset + start, size - start
        return None

    def offset(self, address, size=1, why=None):
        """Where in the file `size` bytes at an address are."""
        found = self.room(address)
        if not found or size > found[1]:
            raise ElfError(why or f"refers to address {address:#x}, which it does not have")
        return found[0]

    def bytes(self, address, size, why=None):
        return self._read(self.offset(address, size, why), size) if size else b""

    def _at(self, layout, address, why=None):
        return struct.unpack(layout, self.bytes(address, struct.calcsize(layout), why))

    # ---- the dynamic segment ----

    @property
    def dynamic_segment(self):
        """The one that ld.so takes; None"""
        return next((segment for segment in reversed(self.of_type(PT_DYNAMIC)) if segment.file_size), None)

    @property
    def dynamic_offset(self):
        """Where in the file it is: ld.so looks at its address."""
        return self.offset(self.dynamic_segment.address)

    def dynamic_room(self):
        """The entries, the one that ends them, and the spare ones behind it."""
        segment = self.dynamic_segment
        count = segment.memory_size // DYNAMIC.size if segment else 0
        if count > MAX_DYNAMIC:
            raise ElfError("has a dynamic section of an unlikely size")
        return list(DYNAMIC.iter_unpack(self.bytes(segment.address, count * DYNAMIC.size,
                                                   "has a dynamic section outside its segments")
                                        if count else b""))

    def value(self, tag, default=None):
        return self._values.get(tag, default)

    def _read_strings(self):
        address = self.value(DT_STRTAB)
        return self.bytes(address, self.value(DT_STRSZ, 0), "has a damaged dynamic section") \
            if address is not None else b""

    def name_reader(self):
        """A function that reads the name at an offset.  All that it reads have no more bytes than four
        times the file: each reference takes time, even if all names are the same bytes."""
        left = 4 * len(self.data)

        def name(offset, why="has a damaged symbol table"):
            nonlocal left
            end = self.strings.find(b"\0", offset)
            if end < 0:
                raise ElfError(why)
            left -= end - offset
            if left < 0:
                raise ElfError("has names that are the same bytes")
            return self.strings[offset:end].decode("utf-8", "surrogateescape")
        return name

    def names(self, tag):
        """The strings that all entries of a kind give."""
        name, places = self.name_reader(), [value for each, value in self.dynamic if each == tag]
        if len(places) > MAX_IMPORTS:
            raise ElfError("needs an unlikely number of libraries")
        return [name(place, "has a damaged dynamic section") for place in places]

    @functools.cached_property
    def needed(self):
        found = self.names(DT_NEEDED)
        if any(len(name) >= MAX_NAME for name in found):
            raise ElfError("needs a library of an unlikely name")
        return found

    @property
    def soname(self):
        return next(reversed(self.names(DT_SONAME)), None)

    @property
    def search_path(self):
        """(DT_RPATH or DT_RUNPATH, text): the one that ld.so heeds; (None, "")"""
        for tag in (DT_RUNPATH, DT_RPATH):
            text = self.names(tag)
            if text:
                return tag, text[-1]
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

    def _chain(self, address, count, layout, why):
        """(address, fields) of each record of a list; the last field is the distance to the next record, 0 of
        the last one: ld.so goes by that, others by how many there are."""
        for left in range(count or 1, 0, -1):
            fields = self._at(layout, address, why)
            if not count or (left == 1) == (fields[-1] != 0):
                raise ElfError(why)
            yield address, fields
            address += fields[-1]

    @functools.cached_property
    def needs(self):
        """The version nodes that it needs, by file."""
        address, count = self.value(DT_VERNEED), self.value(DT_VERNEEDNUM, 0)
        if not address:
            return []
        why, name = "has damaged version needs", self.name_reader()
        # No record overlaps another.
        left = min(self.offset(address, why=why) and self.room(address)[1] // 16, 2 * MAX_NEEDS)
        found = []
        for at, (_, count, file, first, _) in self._chain(address, count, "<HHIII", why):
            nodes = []
            for _, (digest, flags, index, node, _) in self._chain(at + first, count, "<IHHII", why):
                nodes.append((name(node, why), digest, flags, index & 0x7fff))
                if len(nodes) >= left:
                    raise ElfError(why)
            left -= 1 + len(nodes)
            found.append(Need(name(file, why), tuple(nodes)))
        return found

    @functools.cached_property
    def defines(self):
        """{index: node} that it defines itself, the base included."""
        address, count = self.value(DT_VERDEF), self.value(DT_VERDEFNUM, 0)
        if not address:
            return {}
        why, name, nodes = "has damaged version definitions", self.name_reader(), {}
        for seen, (at, (_, _, index, _, _, first, _)) in enumerate(
                self._chain(address, count, "<HHHHIII", why)):
            if seen == MAX_NODES:
                raise ElfError(why)
            nodes[index & 0x7fff] = name(self._at("<II", at + first, why)[0], why)
        return nodes

    # ---- symbols ----

    def relocation_tables(self):
        """(address, size) of the tables of relocations."""
        tables = ((DT_RELA, DT_RELASZ), (DT_JMPREL, DT_PLTRELSZ), (DT_RELR, DT_RELRSZ))
        found = [(self.value(table, 0), self.value(size, 0) if self.value(table) is not None else 0)
                 for table, size in tables]
        for address, size in found:
            if size:
                self.offset(address, size, "has a damaged table of relocations")
        return found

    def _parts(self, table):
        """The relocations that a table of them has whole, in parts: real ones have 100 MB of them."""
        address, size = table
        start = self.offset(address, size) if size else 0
        end, step = start + size - size % RELOCATION.size, File.CHUNK - File.CHUNK % RELOCATION.size
        return (self.data[at:min(at + step, end)] for at in range(start, end, step))

    def relocations(self, table):
        """(address, info, addend) of each."""
        return itertools.chain.from_iterable(map(RELOCATION.iter_unpack, self._parts(table)))

    def _table_room(self, tag):
        """How many bytes a table may have: it ends where the next one begins."""
        address = self.value(tag)
        found = self.room(address) if address else None
        if not found:
            raise ElfError("has a damaged symbol table")
        after = [self.value(each, 0) - address for each in TABLES]
        return min([found[1], *(each for each in after if each > 0)])

    def gnu_count(self, most):
        """How many symbols there are by GNU's hash table; 0 if it is empty, since that does not tell how
        many lie before those in it."""
        why = "has a damaged hash table"
        address = self.value(DT_GNU_HASH)
        buckets, first, bloom, _ = self._at("<IIII", address, why)
        address += 16 + 8 * bloom
        last = max(memoryview(self.bytes(address, 4 * buckets, why)).cast("I"), default=0)
        if not last:
            return first
        chain = address + 4 * (buckets + last - first)
        size = min(self.room(chain)[1] if last >= first and self.room(chain) else 0, 4 * max(most - last, 0))
        ends = struct.iter_unpack("<I", self.bytes(chain, size // 4 * 4))
        end = next((at for at, (hash,) in enumerate(ends, last + 1) if hash & 1), None)
        if end is None:
            raise ElfError(why)
        return end

    def hash_tables(self):
        """(address, size) of DT_HASH and DT_GNU_HASH.  Raises ElfError if ld.so would come to a symbol twice,
        and so go round in circles, or to one that the file does not have."""
        found, why, count = [(0, 0), (0, 0)], "has a damaged hash table", self.symbol_count
        address = self.value(DT_HASH)
        if address:
            size = 8 + 4 * sum(self._at("<II", address, why))
            seen = bytearray(count)
            for index in filter(None, memoryview(self.bytes(address, size, why)).cast("I")[2:]):
                if index >= count or seen[index]:
                    raise ElfError(why)
                seen[index] = 1
            found[0] = address, size
        address = self.value(DT_GNU_HASH)
        if address:
            buckets, first, bloom, _ = self._at("<IIII", address, why)
            found[1] = address, 16 + 8 * bloom + 4 * (buckets + self.gnu_count(count) - first)
        return found

    def tables(self):
        """(address, size) of those that patchelf moves and does not change, and ld.so heeds."""
        return [*self.relocation_tables(), *self.hash_tables()]

    @functools.cached_property
    def symbol_count(self):
        """No entry tells it: it follows from the hash tables or, if these are
        empty because nothing is defined, from the relocations."""
        if not self.value(DT_SYMTAB):
            return 0
        most = self._table_room(DT_SYMTAB) // SYMBOL.size
        if self.value(DT_VERSYM):
            most = min(most, self._table_room(DT_VERSYM) // 2)
        count = self._at("<II", self.value(DT_HASH))[1] if self.value(DT_HASH) else most + 1
        if count > most:
            count = self.gnu_count(most) if self.value(DT_GNU_HASH) else 0
            for table in self.relocation_tables()[:2]:
                for part in self._parts(table):
                    count = max(count, (max(memoryview(part).cast("Q")[1::3]) >> 32) + 1)
        if count > most:
            raise ElfError("has a damaged symbol table")
        return count

    def symbol_rows(self):
        """(fields of SYMBOL, index of its version) of every dynamic symbol, without the empty first one."""
        count = self.symbol_count
        rows = SYMBOL.iter_unpack(self.bytes(self.value(DT_SYMTAB), SYMBOL.size * count))
        indices = struct.iter_unpack("<H", self.bytes(self.value(DT_VERSYM), 2 * count)) \
            if self.value(DT_VERSYM) else itertools.repeat((1,))
        return itertools.islice(zip(rows, indices), 1, None)

    def has_name(self, name):
        """Whether a symbol or a file that it needs may have that name."""
        return name.encode("utf-8", "surrogateescape") + b"\0" in self.strings

    def symbols(self, defined=None):
        """Every dynamic symbol, in order, without the empty first one; or those alone that the file
        defines, or that it does not.  They are not kept: a file may have a million."""
        nodes = dict(self.defines)
        nodes.update({index: name for need in self.needs for name, _, _, index in need.nodes})
        name_at, undefined = self.name_reader(), 0
        for (name, info, other, section, value, size), (index,) in self.symbol_rows():
            if defined is not None and defined != (section != 0):
                continue
            name = name_at(name)
            undefined += not section
            if undefined > MAX_SYMBOLS:
                raise ElfError("imports an unlikely number of names")
            if not section and len(name) >= MAX_NAME:
                raise ElfError("imports a name of an unlikely length")
            yield Symbol(name, nodes.get(index & 0x7fff) if index & 0x7fff > 1 else None,
                         index & 0x7fff, bool(index & 0x8000), section != 0, info >> 4 == 2, value, size,
                         info, other)

    @property
    def interpreter(self):
        """The dynamic linker that a program names, or None."""
        for segment in self.of_type(PT_INTERP):
            return bytes(self._read(segment.offset, segment.file_size)).rstrip(b"\0")
        return None

    # ---- sections: never for what a file means, only to check a change ----

    def sections(self):
        if not self.section_offset or self.section_size != 64:
            return []
        return [Section(*each) for each in SECTION.iter_unpack(self._read(
            self.section_offset, SECTION.size * self.section_count))]

    def constant_ranges(self):
        """(address, size) of code and constants."""
        interpreters = {segment.address for segment in self.of_type(PT_INTERP)}
        found = [(section.address, section.size) for section in self.sections()
                 if section.type == SHT_PROGBITS and section.size and
                 section.address not in interpreters and
                 section.flags & SHF_ALLOC and not section.flags & SHF_WRITE]
        if sum(size for _, size in found) > len(self.data):
            raise ElfError("has sections that overlap")
        for address, size in found:
            self.offset(address, size, "has sections outside its segments")
        return found

    def _constant_places(self):
        """(offset, size) of sections whose names begin with .rodata: device code, a hundred times as
        much, is in other sections.  Without a table of sections, of what nobody can write to."""
        sections = self.sections()
        table = sections[self.names_index] if self.names_index < len(sections) else None
        if not table or not self._has_room(table.offset, table.size):
            return [(segment.offset, segment.mapped_size) for segment in self.of_type(PT_LOAD)
                    if not segment.flags & PF_W]
        texts = self._read(table.offset, table.size)
        return [(section.offset, section.size) for section in sections
                if section.type == SHT_PROGBITS and texts.startswith(b".rodata", section.name) and
                self._has_room(section.offset, section.size)]

    def constants(self):
        """The bytes of constants, a part at a time: in all no more than the file has, since sections of a
        hostile one may overlap."""
        left = len(self.data)
        for offset, size in self._constant_places():
            size = min(size, left)
            left -= size
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
                    dynamic.offset == self.dynamic_offset)
        except ElfError:
            return False
