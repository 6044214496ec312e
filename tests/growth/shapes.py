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

LONG = c.member(b"//", b"n" * 4090 + b"/\n")


# ---- fatbins ----

def fatbin(n):
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


# ---- host objects ----

def sections_over_the_same(n):
    """Sections of fatbins that are all the same bytes."""
    fatbins = fatbin(1) * n
    names = b"\0.nv_fatbin\0"
    at = 64 + len(names)
    at += -at % 8
    header = c.ELF.pack(b"\177ELF\2\1\1", 1, 62, 1, 0, 0, at + len(fatbins), 0, 64, 56, 0, 64, n + 1,
                        0)
    table = c.SECTION.pack(0, 3, 0, 0, 64, len(names), 0, 0, 1, 0) + \
        c.SECTION.pack(1, 1, 2, 0, at, len(fatbins), 0, 0, 8, 0) * n
    return (header + names).ljust(at, b"\0") + fatbins + table


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


def cubin_of_shared_names(n, size=None):
    return cubin_of([], b"".join(symbol(8 + i) for i in range(n)),
                    b"\0kernel\0" + b"n" * (size or n) + b"\0")


def repeated_section(name, data, **header):
    """n sections over n times the data"""
    return lambda n: cubin_of([(name, data * n, {"flags": 0, **header})], repeat=(n,))


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


SHAPES = {
    "archive, GNU": archive(lambda i: (number(i) + b".o/", OBJECT)),
    # Members of 60 bytes that are called alike, by a name of 4 KB.
    "archive, one name for all": lambda n: archive(lambda i: (b"/0", b""))(n, LONG),
    "archive, one name for all entries": lambda n: archive(lambda i: (b"/0", MAGIC_OF_ARCHIVE))(n, LONG),
    "archive, names in names": lambda n: archive(lambda i: (b"/%d" % i, MAGIC_OF_ARCHIVE))(
        n, c.member(b"//", b"n" * n + b"/\n")),
    "archive, many tables of names": lambda n: c.archive(*[
        c.member(b"//", b"x" * 40 + b"/\n") + c.member(b"/0", MAGIC_OF_ARCHIVE)] * n),
    # Containers of eight entries.
    "fatbins": lambda n: c.fatbin(*[c.entry(c.PTX, c.ptx())] * 8) * n,
    "fatbin of many entries": fatbin,
    "fatbin of ZSTD bombs": bombs,
    "offload binary of many images": offload_images,
    # Images of nothing without strings, each of which could be named with more bytes.
    "offload binary of images of others": lambda n: c.offload(
        *[((c.NO_LABEL, c.OPENMP, 0), {}, b"", {})] * n, version=2),
    "offload binary, images over the same bytes": images_over_the_same,
    # Entries that have all the same strings, as many as there are entries.
    "offload binary, strings over the same bytes": lambda n: over_the_same(
        n, struct.pack("<3Q", 32, 32, 0) * n, strings=None, count=n),
    "object": lambda n: c.elf([(f"s{i}", b"12345678") for i in range(n)] + [(".nv_fatbin", fatbin(1) * n)]),
    "object, sections over the same bytes": sections_over_the_same,
    "cubin, symbols": cubin_of_symbols,
    "cubin, names in names": cubin_of_shared_names,
    "cubin, relocations over the same bytes": repeated_section(
        ".rel.text.kernel", struct.pack("<QQ", 8, 1 << 32 | 2), type=9, link=3, info=1, entry=16),
    "cubin, attributes over the same bytes": repeated_section(
        ".nv.info", struct.pack("<BBH", 1, 1, 0), type=0x70000000, link=3),
    # Of memory: sections with bytes have bytes of their own.
    "cubin, sections": lambda n: cubin_of([("s", b"12345678", {"type": 8, "flags": 0})], repeat=(n,)),
    # Small ones, each with names that share its few bytes.
    "fatbin of cubins, names in names": lambda n: c.fatbin(
        *[c.entry(c.CUBIN, cubin_of_shared_names(100, 2000))] * n),
    "PTX, short names": ptx_of_short_names,
    # In FNV-1a, which anybody can make names for.
    "PTX, names that collide": lambda n: ptx_of(
        b"".join(words) for words in itertools.islice(itertools.product(*PAIRS), n)),
    "PTX, aliases": lambda n: ptx_of(b"n%08d" % i for i in range(n)) + b"".join(
        b".alias n%08d, f;\n" % i for i in range(n)),
    "PTX, blocks that stay open": lambda n: c.ptx(body="") + b".visible .func f() { " + b'{ "" /**/' * n,
    "LTO-IR": lambda n: c.ltoir(body=b"not really code " * n),
    "source": lambda n: b"int x = 1; /* '\"' */\n" * n + b"__global__ void k() {}\n",
}


# ---- what is audited ----

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


AUDITED = {
    "library of needs": lambda n: elf_of(
        (5, b"\0" + b"".join(b"libneeded%s.so\0\0" % number(i) for i in range(n)), 10),
        entries=((1, 1 + 20 * i) for i in range(n))),
    # A list of libraries that are all called alike, and that is long.
    "library, needs of one name": lambda n: elf_of((5, b"\0libcu" + b"n" * 1000 + b"\0", 10), entries=[(1, 1)] * n),
    "library, needs of a long name": lambda n: elf_of((5, b"\0libcu" + b"n" * 16 * n + b"\0", 10), entries=[(1, 1)] * n),
}


# ---- what retarget reads ----

NAME = (5, b"\0name\0", 10)


def dynamic_symbols(n, name=lambda i: 1, strings=NAME):
    symbols = b"".join(struct.pack("<IBBHQQ", name(i), 0x12, 0, 0, 0, 0) for i in range(n))
    return elf_of((6, symbols, 0), (4, struct.pack("<II", 1, n), 0), strings)


def hash_chain(n):
    table = struct.pack("<IIII", 1, 1, 1, 0) + bytes(8) + struct.pack("<I", 1) + bytes(4 * n)
    return elf_of((6, struct.pack("<IBBHQQ", 1, 0x12, 0, 7, 0, 0) * n, 0), (0x6ffffef5, table, 0), NAME)


def needs_over_the_same(n):
    """Files of n version nodes each, one byte after the other"""
    return elf_of((0x6ffffffe, struct.pack("<HHIII", 1, 0xffff, 1, 1, 1) + b"\1" * 16 * n, 0), NAME,
                  entries=[(0x6fffffff, 0xffffffff)])


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


def wheel(member, requirement="requests"):
    """A wheel of n members: member(i) gives the name and the bytes"""
    def of(n):
        members = dict(map(member, range(n)))
        members["a.dist-info/METADATA"] = b"Requires-Dist: %s\n" % requirement.encode() * n
        members["a.dist-info/WHEEL"] = b""
        members["a.dist-info/RECORD"] = "".join(f"{name},sha256=,\n" for name in members).encode()
        return loadable.wheel(*((name.encode(), data, False) for name, data in members.items()))
    return of


def run_paths(each):
    return lambda n: loadable.library(runpath="".join(each % i for i in range(n)))


READ_IN_PYTHON = {
    "dynamic symbols": dynamic_symbols,
    "dynamic symbols, names in names": lambda n: dynamic_symbols(
        n, lambda i: i + 1, (5, b"\0" + b"n" * n + b"\0", 10)),
    "dynamic symbols, a hash chain without an end": hash_chain,
    "version needs over the same bytes": needs_over_the_same,
    "relocations": lambda n: elf_of((7, struct.pack("<QQq", 8, 8, 0) * n, 8), NAME),
    "run paths": run_paths("/$LIB/$PLATFORM%x:"),
    "a run path without an end": run_paths("/$ORIGIN%.0s"),
    "constants over the same bytes": constants_over_the_same,
    "JSON of one line": lambda n: b'{"nvidia": 0' + b"".join(
        b', "word%s": 1' % number(i) for i in range(n)) + b"}",
    "Python, calls on one line": lambda n: b"nvidia" + b'CDLL(x("libcudart.so.12"), ' * n,
    "Python, lines": lambda n: b'a = "nvidia-nccl-cu12"\n' * n,
    "Python, a word without an end": lambda n: b"nvidia" + b"word" * n,
    "Python, spaces": lambda n: b"import nvidia" + b" " * n,
    "wheel of texts": wheel(lambda i: (f"a/{i}.py", b"import nvidia.nccl\n")),
    # All need the first one, and a function of nobody's.
    "wheel of libraries": wheel(lambda i: (f"lib{i}.so", loadable.library(
        needed=["lib0.so"], imports=[("cuNobodys", None, None)]))),
    "wheel, requirements": wheel(lambda i: ("a", b""), "nvidia-nccl-cu12"),
    "Python, imports": lambda n: b"from nvidia." + b"a" * n + b" import " + b"a," * n,
}
