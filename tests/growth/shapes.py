# SPDX-License-Identifier: MIT
"""Files that grow: of every kind of container one that is as it should be, and those
that were made so that a reader looks at the same bytes again and again.

SHAPES[name](n) is a file in which there are n of something."""
import itertools
import struct

import loadable
import made_up as c

MAGIC_OF_ARCHIVE = b"!<arch>\n"     # what a member may be that is refused, and named


def sized(make, size, times=1):
    """A file of about that size, or as many times as many of what it is made of."""
    each = (len(make(96)) - len(make(32))) / 64
    return make(max(4, int(size / each)) * times)


def number(i, width=8):
    return b"%0*d" % (width, i)


# ---- archives ----

def archive(make):
    """Members of what make(i) gives: (header's name, contents)"""
    def of(n, *before):
        return c.archive(*before, *(c.member(*make(i)) for i in range(n)))
    return of


OBJECT = c.elf([("__nv_relfatbin", c.fatbin(c.entry(c.CUBIN, c.cubin(code=bytes(16)))))])

gnu_archive = archive(lambda i: (number(i) + b".o/", OBJECT))

LONG = c.member(b"//", b"n" * 4090 + b"/\n")


def shared_name(n):
    """Members of 60 bytes that are called alike, by a name of 4 KB."""
    return archive(lambda i: (b"/0", b""))(n, LONG)


def shared_name_of_entries(n):
    return archive(lambda i: (b"/0", MAGIC_OF_ARCHIVE))(n, LONG)


def names_that_are_ends_of_each_other(n):
    return archive(lambda i: (b"/%d" % i, MAGIC_OF_ARCHIVE))(n, c.member(b"//", b"n" * n + b"/\n"))


def tables_of_names(n):
    return c.archive(*(c.member(b"//", b"x" * 40 + b"/\n") + c.member(b"/0", MAGIC_OF_ARCHIVE)
                       for i in range(n)))


# ---- fatbins ----

def fatbins(n):
    """Containers of eight entries"""
    return c.fatbin(*[c.entry(c.PTX, c.ptx())] * 8) * n


def fatbin_of_many(n):
    return c.fatbin(*[c.entry(c.CUBIN, c.cubin())] * n)


def repeated(size):
    """ZSTD of so many MiB that are all alike."""
    block = struct.pack("<I", (128 << 10) << 3 | 1 << 1)[:3] + b"x"
    last = struct.pack("<I", (128 << 10) << 3 | 1 << 1 | 1)[:3] + b"x"
    return b"\x28\xb5\x2f\xfd\xa0" + struct.pack("<I", size << 20) + block * (8 * size - 1) + last


def bomb(size):
    """An entry of so many MiB."""
    packed = repeated(size)
    head = c.ENTRY.pack(c.CUBIN, 0x101, c.ENTRY.size, len(c.padded(packed)), len(packed), 0, 0, 0,
                        80, 0, 0, c.PLAIN | c.ZSTD, 0, size << 20)
    return head + c.padded(packed)


def bombs(n):
    return c.fatbin(*[bomb(1)] * n)


# ---- offload binaries ----

def offload_images(n):
    """Images of one source, and of the next."""
    code = c.cubin(code=bytes(16))
    return c.offload(*(c.image(code, f"sm_{80 + i % 3}") for i in range(n)), version=2)


def images_of_others(n):
    """Images of nothing without strings, each of which could be named with more bytes."""
    return c.offload(*[((c.NO_LABEL, c.OPENMP, 0), {}, b"", {})] * n, version=2)


def over_the_same(n, data, **fields):
    """Entries of which `fields` say of the offset of the first image's code what others have."""
    def made(at):
        return c.offload(c.image(data), *[c.image(b"", **{
            name: at if value is None else value for name, value in fields.items()})] * n, version=2)
    return made(made(0).index(data))


def images_over_the_same(n):
    """Images of as many bytes as there are images, which are all the same."""
    ptx = c.ptx(body="\n" * 40 * n)
    return over_the_same(n, ptx, image=None, length=len(ptx))


def strings_over_the_same(n):
    """Entries that have all the same strings, as many as there are entries."""
    return over_the_same(n, struct.pack("<3Q", 32, 32, 0) * n, strings=None, count=n)


# ---- host objects ----

def object_of_many_sections(n):
    fatbin = c.fatbin(c.entry(c.CUBIN, c.cubin()))
    return c.elf([(f"s{i}", b"12345678") for i in range(n)] + [(".nv_fatbin", fatbin * n)])


def sections_over_the_same(n):
    """Sections of fatbins that are all the same bytes."""
    fatbin = c.fatbin(c.entry(c.CUBIN, c.cubin())) * n
    names = b"\0.nv_fatbin\0"
    at = 64 + len(names)
    at += -at % 8
    header = c.ELF.pack(b"\177ELF\2\1\1", 1, 62, 1, 0, 0, at + len(fatbin), 0, 64, 56, 0, 64, n + 1,
                        0)
    table = c.SECTION.pack(0, 3, 0, 0, 64, len(names), 0, 0, 1, 0) + \
        c.SECTION.pack(1, 1, 2, 0, at, len(fatbin), 0, 0, 8, 0) * n
    return (header + names).ljust(at, b"\0") + fatbin + table


# ---- cubins ----

def cubin_of(sections, symbols=b"", strings=b"\0kernel\0", repeat=()):
    """A relocatable one with .text.kernel, .strtab and .symtab as sections 1 to 3,
    then `sections`, then n times the last of them for (n,)"""
    kernel = struct.pack("<IBBHQQ", 1, 0x12, 0x10, 1, 0, 64)
    data = c.elf([(".text.kernel", bytes(64), {"flags": 6, "link": 3, "info": 1}),
                  (".strtab", strings, {"type": 3, "flags": 0}),
                  (".symtab", bytes(24) + kernel + symbols,
                   {"type": 2, "flags": 0, "link": 2, "info": 1, "entry": 24}), *sections],
                 machine=190, osabi=0x33, abi=7, version=129, flags=80 << 16 | 0x500 | 80)
    if not repeat:
        return data
    # Section headers lie at the end: the last but one is repeated behind them.
    count, = struct.unpack_from("<H", data, 60)
    count += repeat[0]
    data += data[-128:-64] * repeat[0]
    if count < 0xff00:
        return data[:60] + struct.pack("<H", count) + data[62:]
    # More than the header can say: the first section's size does.
    table, = struct.unpack_from("<Q", data, 40)
    return data[:60] + bytes(2) + data[62:table + 32] + struct.pack("<Q", count) + \
        data[table + 40:]


def symbol(name, bind=1, type=2, section=1):
    return struct.pack("<IBBHQQ", name, bind << 4 | type, 0x10, section, 0, 0)


def cubin_of_symbols(n):
    strings = b"\0kernel\0" + b"".join(b"f" + number(i) + b"\0" for i in range(n))
    return cubin_of([], b"".join(symbol(8 + 10 * i) for i in range(n)), strings)


def cubin_of_shared_names(n):
    return cubin_of([], b"".join(symbol(8 + i) for i in range(n)), b"\0kernel\0" + b"n" * n + b"\0")


RELOCATIONS = {"type": 9, "flags": 0, "link": 3, "info": 1, "entry": 16}


def relocations_of_the_same(n):
    """n sections over n relocations"""
    return cubin_of([(".rel.text.kernel", struct.pack("<QQ", 8, 1 << 32 | 2) * n, RELOCATIONS)],
                    repeat=(n,))


def attributes_of_the_same(n):
    return cubin_of([(".nv.info", struct.pack("<BBH", 1, 1, 0) * n,
                      {"type": 0x70000000, "flags": 0, "link": 3})], repeat=(n,))


def cubin_of_sections(n):
    """Of memory: sections with bytes have bytes of their own."""
    return cubin_of([("s", b"12345678", {"type": 8, "flags": 0})], repeat=(n,))


def cubins_of_shared_names(n):
    """Small ones, each with names that share its few bytes."""
    small = cubin_of([], b"".join(symbol(8 + i) for i in range(100)),
                     b"\0kernel\0" + b"n" * 2000 + b"\0")
    return c.fatbin(*[c.entry(c.CUBIN, small)] * n)


# ---- PTX, LTO-IR, text ----

def ptx_of(names, before=b".visible .global .b8 "):
    return c.ptx(body="") + b"".join(before + name + b";\n" for name in names)


def ptx_of_short_names(n):
    letters = b"abcdefghijklmnopqrstuvwxyz"
    names = (bytes(word) for word in itertools.product(letters, repeat=4))
    return c.ptx(body="") + b".visible .global .b8 " + \
        b",".join(itertools.islice(names, n)) + b";\n"


# Behind all words of those before it, both words of a pair have the same hash: found
# by trying.
TURN = [(b"zqfs__", b"2wja__"), (b"cuzx__", b"12ad__")]
PAIRS = [(b"gwzx__", b"16cd__"), (b"ntzx__", b"03ad__"), *TURN * 7]


def ptx_of_names_that_collide(n):
    """In FNV-1a, which anybody can make names for."""
    return ptx_of(b"".join(words) for words in itertools.islice(itertools.product(*PAIRS), n))


def ptx_of_aliases(n):
    return ptx_of(b"n%08d" % i for i in range(n)) + b"".join(
        b".alias n%08d, f;\n" % i for i in range(n))


def ptx_of_open_braces(n):
    return c.ptx(body="") + b".visible .func f() { " + b'{ "" /**/' * n


def ltoir(n):
    return c.ltoir(body=b"not really code " * n)


def source(n):
    return b"int x = 1; /* '\"' */\n" * n + b"__global__ void k() {}\n"


SHAPES = {
    "archive, GNU": gnu_archive,
    "archive, one name for all": shared_name,
    "archive, one name for all entries": shared_name_of_entries,
    "archive, names in names": names_that_are_ends_of_each_other,
    "archive, many tables of names": tables_of_names,
    "fatbins": fatbins,
    "fatbin of many entries": fatbin_of_many,
    "fatbin of ZSTD bombs": bombs,
    "offload binary of many images": offload_images,
    "offload binary of images of others": images_of_others,
    "offload binary, images over the same bytes": images_over_the_same,
    "offload binary, strings over the same bytes": strings_over_the_same,
    "object": object_of_many_sections,
    "object, sections over the same bytes": sections_over_the_same,
    "cubin, symbols": cubin_of_symbols,
    "cubin, names in names": cubin_of_shared_names,
    "cubin, relocations over the same bytes": relocations_of_the_same,
    "cubin, attributes over the same bytes": attributes_of_the_same,
    "cubin, sections": cubin_of_sections,
    "fatbin of cubins, names in names": cubins_of_shared_names,
    "PTX, short names": ptx_of_short_names,
    "PTX, names that collide": ptx_of_names_that_collide,
    "PTX, aliases": ptx_of_aliases,
    "PTX, blocks that stay open": ptx_of_open_braces,
    "LTO-IR": ltoir,
    "source": source,
}


# ---- what is audited ----

def dynamic(entries, strings):
    """A shared library of a dynamic section and a string table alone."""
    before = c.elf(type=3, headers=False, segments=[(1, 0, 0), (2, 0, 0)])
    at = len(before)
    entries = [*entries, (5, at), (10, len(strings)), (0, 0)]
    table = b"".join(struct.pack("<qQ", *entry) for entry in entries)
    data = strings + bytes(-len(strings) % 8) + table
    return c.elf(type=3, headers=False, segments=[
        (1, 0, at + len(data)), (2, at + len(data) - len(table), len(table))]) + data


def library_of_needs(n):
    return dynamic(((1, 1 + 20 * i) for i in range(n)),
                   b"\0" + b"".join(b"libneeded%s.so\0\0" % number(i) for i in range(n)))


def needs_of_one_name(n):
    """A list of libraries that are all called alike, and that is long."""
    return dynamic([(1, 1)] * n, b"\0libcu" + b"n" * 1000 + b"\0")


def needs_of_a_long_name(n):
    return dynamic([(1, 1)] * n, b"\0libcu" + b"n" * 16 * n + b"\0")


AUDITED = {
    "library of needs": library_of_needs,
    "library, needs of one name": needs_of_one_name,
    "library, needs of a long name": needs_of_a_long_name,
}


# ---- what retarget reads ----

def elf_of(*tables, entries=()):
    """A library of tables: (tag, bytes, tag of their size, or 0)"""
    start = at = len(c.elf(type=3, headers=False, segments=[(1, 0, 0), (2, 0, 0)]))
    data = b""
    for tag, table, size in tables:
        entries = [*entries, (tag, at), *([(size, len(table))] if size else [])]
        data += table + bytes(-len(table) % 8)
        at = start + len(data)
    table = b"".join(struct.pack("<qQ", *entry) for entry in [*entries, (0, 0)])
    return c.elf(type=3, headers=False, segments=[(1, 0, at + len(table)), (2, at, len(table))]) + data + table


NAME = (5, b"\0name\0", 10)


def dynamic_symbols(n, name=lambda i: 1, strings=NAME):
    symbols = b"".join(struct.pack("<IBBHQQ", name(i), 0x12, 0, 0, 0, 0) for i in range(n))
    return elf_of((6, symbols, 0), (4, struct.pack("<II", 1, n), 0), strings)


def dynamic_names_in_names(n):
    return dynamic_symbols(n, lambda i: i + 1, (5, b"\0" + b"n" * n + b"\0", 10))


def hash_chain(n):
    table = struct.pack("<IIII", 1, 1, 1, 0) + bytes(8) + struct.pack("<I", 1) + bytes(4 * n)
    return elf_of((6, struct.pack("<IBBHQQ", 1, 0x12, 0, 7, 0, 0) * n, 0), (0x6ffffef5, table, 0), NAME)


def needs_over_the_same(n):
    """Files of n version nodes each, one byte after the other"""
    return elf_of((0x6ffffffe, struct.pack("<HHIII", 1, 0xffff, 1, 1, 1) + b"\1" * 16 * n, 0), NAME,
                  entries=[(0x6fffffff, 0xffffffff)])


def relocations_of_a_library(n):
    return elf_of((7, struct.pack("<QQq", 8, 8, 0) * n, 8), NAME)


def constants_over_the_same(n):
    """n sections over n names"""
    data, texts = elf_of(NAME), b"\0.rodata\0".ljust(16, b"\0")
    at = len(data) + len(texts)
    constants = b"libcudart.so.12\0" * n
    table = c.SECTION.pack(1, 3, 0, 0, len(data), 9, 0, 0, 1, 0) + \
        c.SECTION.pack(1, 1, 2, 0, at, len(constants), 0, 0, 8, 0) * n
    made = bytearray(data + texts + constants + table)
    struct.pack_into("<Q", made, 40, at + len(constants))
    struct.pack_into("<HHH", made, 58, 64, n + 1, 0)
    return bytes(made)


def words(n):
    return b'{"nvidia": 0' + b"".join(b', "word%s": 1' % number(i) for i in range(n)) + b"}"


def wheel(member, requirement="requests"):
    """A wheel of n members: member(i) gives the name and the bytes"""
    def of(n):
        members = dict(map(member, range(n)))
        members["a.dist-info/METADATA"] = b"Requires-Dist: %s\n" % requirement.encode() * n
        members["a.dist-info/WHEEL"] = b""
        members["a.dist-info/RECORD"] = "".join(f"{name},sha256=,\n" for name in members).encode()
        return loadable.wheel(*((name.encode(), data, False) for name, data in members.items()))
    return of


def library_in_company(i):
    """All need the first one, and a function of nobody's."""
    return f"lib{i}.so", loadable.library(needed=["lib0.so"], imports=[("cuNobodys", None, None)])


def run_paths(each):
    return lambda n: loadable.library(runpath="".join(each % i for i in range(n)))


READ_IN_PYTHON = {
    "dynamic symbols": dynamic_symbols,
    "dynamic symbols, names in names": dynamic_names_in_names,
    "dynamic symbols, a hash chain without an end": hash_chain,
    "version needs over the same bytes": needs_over_the_same,
    "relocations": relocations_of_a_library,
    "run paths": run_paths("/$LIB/$PLATFORM%x:"),
    "a run path without an end": run_paths("/$ORIGIN%.0s"),
    "constants over the same bytes": constants_over_the_same,
    "JSON of one line": words,
    "Python, calls on one line": lambda n: b"nvidia" + b'CDLL(x("libcudart.so.12"), ' * n,
    "Python, lines": lambda n: b'a = "nvidia-nccl-cu12"\n' * n,
    "Python, a word without an end": lambda n: b"nvidia" + b"word" * n,
    "Python, spaces": lambda n: b"import nvidia" + b" " * n,
    "wheel of texts": wheel(lambda i: (f"a/{i}.py", b"import nvidia.nccl\n")),
    "wheel of libraries": wheel(library_in_company),
    "wheel, requirements": wheel(lambda i: ("a", b""), "nvidia-nccl-cu12"),
    "Python, imports": lambda n: b"from nvidia." + b"a" * n + b" import " + b"a," * n,
}
