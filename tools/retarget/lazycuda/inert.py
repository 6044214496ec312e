# SPDX-License-Identifier: MIT
"""Whether ld.so loads a file, to tell of its imports, without running any of its code.

ld.so calls no constructor and no resolver then, but it loads auditors and runs them.  It also trusts
what it maps: segments out of order lie over ld.so's own code, and a relocation may write anywhere.
"""
import itertools
import mmap
import os
import struct

from . import elf

TLSDESC = {"x86_64": 36, "aarch64": 1031}
IRELATIVE = {"x86_64": 37, "aarch64": 1032}
STT_GNU_IFUNC = 10
COPY = {"x86_64": 5, "aarch64": 1024}
AUDITORS = ((elf.DT_AUDIT, "DT_AUDIT"), (elf.DT_DEPAUDIT, "DT_DEPAUDIT"))
# Addresses of a program, and sizes of a library: below all that the kernel chooses.
HIGHEST = 1 << 36
MOST_TLS = 1 << 30
# Of DT_RELR, addresses counted: each takes time.
MOST_BITS = 1 << 21
# Older ones call the resolvers of R_*_IRELATIVE even so.
CALLS_NO_RESOLVER = (2, 31)
OUTSIDE = "is made so that ld.so would write to memory that is not the file's"


def _pages(start, end):
    return start - start % mmap.PAGESIZE, end + -end % mmap.PAGESIZE


def _span(image):
    """(first address, last address) of what is mapped for the file; None where ld.so would map or clear
    anything outside."""
    first = last = before = None
    for each in image.of_type(elf.PT_LOAD):
        start, end = _pages(each.address, each.address + each.memory_size)
        # Two segments may have one page of the file in common.
        shared = before and before.file_size == before.memory_size and \
            before.offset - before.address == each.offset - each.address and start + mmap.PAGESIZE
        if each.file_size > each.memory_size or before and last > (shared or start):
            return None
        first, last, before = start if first is None else first, end, each
    if first is None or last - first > HIGHEST or image.type == elf.ET_EXEC and last > HIGHEST:
        return None
    return first, last


def _has_sane_headers(image):
    return all(image.offset(each.address) == image.header_offset for each in image.of_type(elf.PT_PHDR)) and \
        all(each.file_size <= each.memory_size <= MOST_TLS and 0 < each.align <= HIGHEST and
            not each.align & each.align - 1 for each in image.of_type(elf.PT_TLS)) and \
        len(image.of_type(elf.PT_DYNAMIC)) == 1 and len(image.dynamic) < len(image.dynamic_room())


def _relative(image, table):
    """(address, size) of what DT_RELR's words change."""
    address, size = table
    where, left = None, MOST_BITS
    for word, in struct.iter_unpack("<Q", image.bytes(address, size)):
        left -= word.bit_length() if word & 1 else 1
        if left < 0:
            raise elf.ElfError("has an unlikely number of relocations")
        if not word & 1:
            yield word, 8
            where = word + 8
            continue
        if where is None:       # ld.so would begin at address 0 of its own process
            raise elf.ElfError("has a damaged table of relocations")
        for bit in range(word.bit_length() - 1):
            if word >> bit + 1 & 1:
                yield where + 8 * bit, 8
        where += 63 * 8


def _writes(image, tables, count):
    """(address, size) of what its relocations change, if it has so many symbols."""
    wide, copy = TLSDESC.get(image.machine), COPY.get(image.machine)
    symbols = image.value(elf.DT_SYMTAB)
    for at, info, _ in itertools.chain.from_iterable(map(image.relocations, tables[:2])):
        kind = info & 0xffffffff
        size = 16 if kind == wide else 8
        if info >> 32 and info >> 32 >= count:
            raise elf.ElfError("has a damaged symbol table")
        if kind == copy:
            entry = image.bytes(symbols + elf.SYMBOL.size * (info >> 32), elf.SYMBOL.size)
            size = elf.SYMBOL.unpack(entry)[5]
        yield at, size
    yield from _relative(image, tables[2])


def _meets(at, size, kept):
    for start, end in kept:
        if at < end and start < at + size:
            return True
    return False


def _stays_within(image):
    """Whether all that ld.so writes lies in the file's own memory, and not in what tells ld.so what to
    write."""
    span, tables, symbols = _span(image), image.relocation_tables(), image.symbol_count
    if not span or not _has_sane_headers(image) or image.value(elf.DT_REL) is not None or \
            any(size % elf.RELOCATION.size for _, size in tables[:2]) or tables[2][1] % 8 or \
            image.value(elf.DT_RELACOUNT, 0) * elf.RELOCATION.size > tables[0][1]:
        return False
    # Where the dynamic section is, ld.so puts addresses.
    dynamic = image.dynamic_segment.address, elf.DYNAMIC.size * len(image.dynamic_room())
    kept = [(start, start + size) for start, size in (
        *image.tables(), (image.value(elf.DT_SYMTAB), elf.SYMBOL.size * symbols)) if size]
    if _meets(*dynamic, kept):
        return False
    kept.append((dynamic[0], sum(dynamic)))
    return not any(at < span[0] or at + size > span[1] or _meets(at, size, kept)
                   for at, size in _writes(image, tables, symbols))


def _calls_resolvers():
    found = os.confstr("CS_GNU_LIBC_VERSION").split()[-1].split(".")
    return tuple(map(int, found[:2])) < CALLS_NO_RESOLVER


def _has_resolver(image):
    """Whether one of its relocations, or of another file's, may lead ld.so to an IFUNC of it."""
    size = elf.SYMBOL.size * image.symbol_count
    symbols = elf.SYMBOL.iter_unpack(image.bytes(image.value(elf.DT_SYMTAB), size))
    return any(info & 0xf == STT_GNU_IFUNC and section for _, info, _, section, _, _ in symbols) or any(
        info & 0xffffffff == IRELATIVE.get(image.machine) for table in image.relocation_tables()[:2]
        for _, info, _ in image.relocations(table))


def why_not(image):
    """Why it is not loaded, as a phrase; None"""
    try:
        for tag, name in AUDITORS:
            for auditor in image.names(tag):
                return f"names an auditor ({name} {auditor}), whose code ld.so would run"
        if not _stays_within(image):
            return OUTSIDE
        if _calls_resolvers() and _has_resolver(image):
            return "has an IFUNC, whose resolver this ld.so would run"
    except elf.ElfError as error:
        return str(error)
    return None
