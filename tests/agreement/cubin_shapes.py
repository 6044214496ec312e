#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Relocatable cubins of every shape that compilers write, what the fields of their
headers hold, and what becomes of a link of each: kept as a table, shapes.txt.

    CUDA_VERSIONS=all tests/agreement/cubin_shapes.py [clang] [triton] [VERSION...]

writes it, or the rows of these compilers alone, with the real libraries in build/toolkits: fields
of every version, links of the versions in LINKED.  A shape is a source with something of its own,
for one architecture, with an option that changes what is written.  Those of compilers that are
not NVIDIA's are PTX, and cubins that each ptxas assembles from it (other_compilers.py).  The files
themselves are not kept.
"""
import collections
import hashlib
import pathlib
import re
import struct
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "lib")]
import ir_links  # noqa: E402
import linkers  # noqa: E402
import other_compilers  # noqa: E402
import samples  # noqa: E402
from shape_sources import SOURCES, UNDEFINED, WITHOUT_KERNEL  # noqa: E402
from verdicts import AGREE_YES, LEFT, Comparison, case  # noqa: E402

TABLE = HERE / "shapes.txt"
LINKED = ("11.8", "12.9", "13.0", "13.3", "13.4", "13.5")
ARCHITECTURES = ("sm_80", "sm_90a", "sm_100f", "sm_120")
OPTIONS = {"plain": (), "lineinfo": ("-lineinfo",), "debug": ("-G",),
           "ptxas-g": ("--ptxas-options=-g",), "ptxas-O0": ("--ptxas-options=-O0",)}


class Shape(collections.namedtuple("Shape", "version arch unit option")):
    """A samples.Sample of a unit of shape_sources."""
    kind = "cubin"

    @property
    def source(self):
        return SOURCES[self.unit]

    @property
    def options(self):
        return ["-rdc=true", f"-arch={self.arch}", *OPTIONS[self.option]]

    @property
    def path(self):
        text = hashlib.sha256(repr((self.source, self.options)).encode()).hexdigest()[:12]
        return (samples.STORE / "shapes" / samples.library_digest(self.version) /
                f"{self.unit}-{self.option}-{self.arch}-{text}.cubin")

    @property
    def left(self):
        """What only a linker can see, or None."""
        return UNDEFINED.get(self.unit)

    def partner(self):
        """What has to be linked with it, so that there is a kernel and nothing lacks."""
        if self.unit in ("calls", "called"):
            return self._replace(unit="called" if self.unit == "calls" else "calls")
        return self._replace(unit="small") if self.unit in WITHOUT_KERNEL else None

    def __str__(self):
        return f"{self.version} {self.arch} {self.option} {self.unit}"


def shapes(version):
    return [Shape(version, arch, unit, option) for unit in SOURCES for option in OPTIONS
            for arch in ARCHITECTURES if samples.compiles(version, arch)]


# ---- what fields hold ----

SHT_SYMTAB, SHT_RELA, SHT_REL = 2, 4, 9
SHT_CALLGRAPH, SHT_PROTOTYPE = 0x70000001, 0x70000002
SHT_MERC_TEXT, SHT_MERC_RELA, SHT_MERC_SYMTAB = 0x70000016, 0x70000082, 0x70000085
SHT_MERC_INFO = 0x70000083
SHT_MERC_CALLGRAPH, SHT_MERC_PROTOTYPE = 0x7000008a, 0x7000008b
ENTRY_SIZES = {SHT_SYMTAB: 24, SHT_RELA: 24, SHT_REL: 16, SHT_CALLGRAPH: 8, SHT_PROTOTYPE: 8,
               SHT_MERC_RELA: 24, SHT_MERC_SYMTAB: 24, SHT_MERC_CALLGRAPH: 8,
               SHT_MERC_PROTOTYPE: 8}
PAIRS = (SHT_CALLGRAPH, SHT_PROTOTYPE, SHT_MERC_CALLGRAPH, SHT_MERC_PROTOTYPE)
# Types without bytes in the file, and those that no section has whose name is not in NAMES.
MEMORY = (8, *(0x70000000 + low for low in (7, 9, 10, 21, 0x7d)))
OF_NAMES = (2, 3, 4, 9, *(0x70000000 + low for low in (
    1, 2, 7, 8, *range(0x64, 0x7c), 0x82, 0x83, 0x85, 0x8a, 0x8b)))
SHF_EXECINSTR, SHF_INFO_LINK, SHF_MERC = 4, 0x40, 0x10000000
STT_FUNC = 2
# Before 12 those of a kernel have no SHF_INFO_LINK.
OF_A_KERNEL, OF_NONE = (".nv.shared.", ".nv.local."), ".nv.shared.reserved."

SYMBOLS, SECOND_SYMBOLS, STRINGS, NOTE = ".symtab", ".nv.merc.symtab", ".strtab", ".note.nv.tkinfo"
# What a section's whole name says of sh_type, and of what sh_link leads to.
NAMES = tuple((re.compile(name), {0x70000000 * nv + low for low in types},
               link) for name, nv, types, link in (
    (r"\.(sh)?strtab", False, [3], ""), (r"\.symtab", False, [2], STRINGS),
    (r"\.rela\..+", False, [4], SYMBOLS), (r"\.rel\..+", False, [9], SYMBOLS),
    (r"\.text\..+", False, [1], SYMBOLS), (r"(\.nv\.merc)?\.(nv_)?debug_.+", False, [1], ""),
    (r"\.note\.nv\.tkinfo", False, [7], ""), (r"\.note\.nv\.(cuinfo|cuver)", False, [7], NOTE),
    (r"\.nv\.info(\..+)?", True, [0], SYMBOLS), (r"\.nv\.callgraph", True, [1], SYMBOLS),
    (r"\.nv\.prototype", True, [2], SYMBOLS), (r"\.nv\.global", True, [7], ""),
    (r"(\.nv\.merc)?\.nv\.global\.init", True, [8], ""), (r"\.nv\.compat", True, [0x86], ""),
    (r"\.nv\.shared\..+", True, [10, 0x15], ""),
    *((rf"\.nv\.constant{bank}(\..+)?", True, [0x64 + bank], "") for bank in range(24)),
    (r"\.nv\.merc\.symtab", True, [0x85], STRINGS),
    (r"\.nv\.merc\.rela\..+", True, [0x82], SECOND_SYMBOLS),
    (r"\.nv\.capmerc\.text\..+", True, [0x16], SECOND_SYMBOLS),
    (r"\.nv\.merc\.nv\.info(\..+)?", True, [0x83], SECOND_SYMBOLS),
    (r"\.nv\.merc\.nv\.callgraph", True, [0x8a], SECOND_SYMBOLS),
    (r"\.nv\.merc\.nv\.prototype", True, [0x8b], SECOND_SYMBOLS),
    (r"\.nv\.merc\.nv\.shared\..+", True, [0x15, 0x7d], ""),
    (r"\.nv\.merc\.nv\.constant\.user", True, [0x7c], ""),
    (r"\.nv\.merc\.nv\.constant\.optimizer\..+", True, [0x84], "")))
UNITS = re.compile(r"(\.nv\.merc)?\.(debug_(frame|info|line|pub\w+)|nv_debug_line_sass)")
# Those whose names end in a function, and how the code of that is called.
OF_CODE = ((re.compile(r"\.nv\.(?:info|constant\d+|shared)\.(.+)"), ".text."),
           (re.compile(r"\.nv\.merc\.nv\.(?:info|constant\.optimizer)\.(.+)"), ".nv.capmerc.text."))
# Of attributes: the numbers of those whose first word, or each word, is a symbol.
REGISTERS, SYMBOL_FIRST, ALL_SYMBOLS = 0x2f, (0x0a, 0x11, 0x12, 0x23, 0x2f), 0x0f

Section = collections.namedtuple("Section", "name type flags address offset size link info "
                                            "alignment entry_size text")


class Cubin:
    def __init__(self, data):
        self.data = data
        self.abi = data[8]
        self.flags, = struct.unpack_from("<I", data, 0x30)
        at, = struct.unpack_from("<Q", data, 0x28)
        count, names = struct.unpack_from("<HH", data, 0x3c)
        raw = [struct.unpack_from("<IIQQQQIIQQ", data, at + 64 * i) for i in range(count)]
        self.sections = [Section(*one, self.string(raw[names][4] + one[0])) for one in raw]

    def string(self, at):
        return self.data[at:self.data.index(b"\0", at)].decode()

    @staticmethod
    def is_linked(section):
        """Whether sh_info is the index of the section that it goes with."""
        return bool(section.flags & SHF_INFO_LINK) or (
            section.text.startswith(OF_A_KERNEL) and not section.text.startswith(OF_NONE))

    def index(self, name):
        return next((i for i, one in enumerate(self.sections) if one.text == name), None)

    def symbols(self, index):
        """(type, section) of each in the table that a section is or leads to."""
        table = self.sections[index]
        return [struct.unpack_from("<4xBxH16x", self.data, table.offset + at)
                for at in range(0, table.size, 24)]

    def leads_to(self, section, start):
        return 0 < section.info < len(self.sections) and \
            self.sections[section.info].text.startswith(start)

    def leads_to_itself(self, index):
        """sh_info is, but for its highest byte, a function in this section."""
        section = self.sections[index]
        symbols = self.symbols(section.link)
        number = section.info & 0xffffff
        return number < len(symbols) and (symbols[number][0] & 15, symbols[number][1]) == (
            STT_FUNC, index)

    def leads_to_its_namesake(self, section):
        """.rela.text.kernel leads to .text.kernel, .nv.merc.rela.text.kernel to the same
        of the second set."""
        of = self.sections[section.info].text if section.info < len(self.sections) else ""
        if section.type == SHT_MERC_RELA:
            return any(of.startswith(start) and
                       section.text == ".nv.merc.rela" + of.removeprefix(start)
                       for start in (".nv.merc", ".nv.capmerc"))
        return section.text == (".rel" if section.type == SHT_REL else ".rela") + of

    def pairs_lead_somewhere(self, section):
        """The pairs of a call graph or of prototypes are symbols, names, and -1 to -4."""
        symbols = len(self.symbols(section.link))
        names = self.sections[self.sections[section.link].link].size
        calls = section.type in (SHT_CALLGRAPH, SHT_MERC_CALLGRAPH)
        return all(other >= 2**32 - 4 or other < symbols if calls and not one else
                   one < symbols and other < max(symbols, names)
                   for one, other in struct.iter_unpack("<II", self.data[
                       section.offset:section.offset + section.size]))

    def link_text(self, section):
        return self.sections[section.link].text if section.link < len(self.sections) else None

    def leads_to_its_code(self, section):
        """.nv.info.kernel leads to .text.kernel; None for names that end in no function."""
        for name, code in OF_CODE:
            found = name.fullmatch(section.text)
            if found:
                return 0 < section.info < len(self.sections) and \
                    self.sections[section.info].text == code + found[1]
        return None

    def in_place(self):
        """[(section, whether it shares no bytes, whether nothing lies before it)], by place."""
        places = sorted((one.offset, one.offset + one.size, index)
                        for index, one in enumerate(self.sections)
                        if index and one.size and one.type not in MEMORY)
        before = (0, 64, 0)
        for place in places:
            one, last = self.sections[place[2]], self.sections[before[2]]
            twin = place[:2] == before[:2] and in_merc(one.text) != in_merc(last.text)
            yield (one, place[0] >= before[1] or twin,
                   None if one.type == SHT_MERC_SYMTAB or not (in_merc(one.text) and
                                                               in_merc(last.text))
                   else place[0] - before[1] < one.alignment)
            before = place

    def attributes(self, section):
        """(number, bytes) of each; the number is None where they do not end with the section."""
        at, end = section.offset, section.offset + section.size
        while at < end:
            kind, number, size = struct.unpack_from("<BBH", self.data, at)
            at += 4 + (size if kind == 4 else 0)
            yield (number if at <= end and 1 <= kind <= 4 else None,
                   self.data[at - size:at] if kind == 4 else b"")

    def are_symbols(self, section):
        """Where attributes name symbols, there are such."""
        count = len(self.symbols(section.link))
        for number, data in self.attributes(section):
            words = struct.unpack(f"<{len(data) // 4}I", data[:len(data) // 4 * 4])
            if number is None or not all(0 < word < count for word in (
                    words if number == ALL_SYMBOLS else words[:number in SYMBOL_FIRST])):
                return False
        return True

    def are_relocations(self, section):
        """Symbols that there are, and places in the section, but for code."""
        count, to = len(self.symbols(section.link)), self.sections[section.info]
        return all(info >> 32 < count and (to.type == SHT_MERC_TEXT or place < to.size)
                   for place, info, _ in struct.iter_unpack("<QQq", self.data[
                       section.offset:section.offset + section.size]))

    def are_units(self, section):
        at, end = section.offset, section.offset + section.size
        while at < end:
            size, = struct.unpack_from("<I", self.data, at)
            at += 4
            if size == 0xffffffff:
                size, = struct.unpack_from("<Q", self.data, at)
                at += 8
            at += size
        return at == end

    def counts_symbols(self, index):
        return self.sections[index].info <= len(self.symbols(index))


def in_merc(name):
    return name.startswith((".nv.merc.", ".nv.capmerc."))


def facts_of_a_name(cubin, section):
    """Of a section's type, and of what sh_link leads to."""
    for name, types, link in NAMES:
        if name.fullmatch(section.text):
            yield "sh_type", "as the name says", section.type in types
            yield "sh_link", "as the name says", cubin.link_text(section) == link
            return
    yield "sh_type of other names", "none that goes with a name", section.type not in OF_NAMES


def facts_of_contents(cubin):
    registers = 0
    for section in cubin.sections[1:]:
        if section.text == STRINGS:
            yield ".strtab", "first an empty name", cubin.data[section.offset] == 0
        if UNITS.fullmatch(section.text):
            yield ".debug_frame, _info, _line and _pub*", "whole units", cubin.are_units(section)
        if section.type == SHT_MERC_INFO:
            registers += sum(number == REGISTERS for number, _ in cubin.attributes(section))
            yield "symbols in .nv.merc.nv.info*", "of .nv.merc.symtab", cubin.are_symbols(section)
        if section.type == SHT_MERC_RELA:
            yield ("relocations .nv.merc.rela.*", "symbols of .nv.merc.symtab, places in the section",
                   cubin.are_relocations(section))
        if section.type == SHT_MERC_SYMTAB:
            yield ("sections in .nv.merc.symtab", "sections", all(
                index < len(cubin.sections) or index >= 0xff00
                for _, index in cubin.symbols(cubin.sections.index(section))))
    functions = sum(section.type == SHT_MERC_TEXT for section in cubin.sections)
    if functions:
        yield "numbers of registers in .nv.merc.nv.info*", "one for each function", \
            registers == functions


def facts_of_places(cubin):
    for section, own, tight in cubin.in_place():
        yield "sh_offset", "a multiple of sh_addralign", section.offset % section.alignment == 0
        yield "sh_offset and sh_size", "no bytes of another section, but for its twin's", own
        if tight is not None:
            yield "sh_offset of .nv.merc.* and .nv.capmerc.*", "next to each other", tight


def facts(cubin):
    """(field, what it holds, whether it does) of everything in a file."""
    yield from facts_of_contents(cubin)
    yield from facts_of_places(cubin)
    if cubin.abi == 7:
        yield ("e_flags of ABI 7, bits 8 to 31", "5 or 13, the virtual architecture, and 0",
               cubin.flags >> 8 & 0xff in (5, 13) and cubin.flags >> 16 & 0xff and
               not cubin.flags >> 24)
    if cubin.abi == 8:
        index = cubin.flags >> 24
        for name in (".note.nv.cuinfo", ".note.nv.cuver"):
            if cubin.index(name):
                yield "e_flags, bits 24 to 31", f"the section {name}", index == cubin.index(name)
    for index, section in enumerate(cubin.sections[1:], 1):
        yield from facts_of_a_name(cubin, section)
        if section.type in (SHT_SYMTAB, SHT_MERC_SYMTAB):
            yield (f"sh_info of {section.text}", "a number of its symbols",
                   cubin.counts_symbols(index))
        elif section.text.startswith(".text."):
            yield "sh_info of .text.*", "a function in it", cubin.leads_to_itself(index)
        elif section.type == SHT_MERC_TEXT:
            yield ("sh_info of .nv.capmerc.text.*", "a function in it, of .nv.merc.symtab",
                   cubin.leads_to_itself(index))
        elif cubin.leads_to_its_code(section) is not None and not section.text.startswith(
                ".nv.shared."):
            yield ("sh_info of .nv.info.*, .nv.constant*.* and their like", "the code of the function",
                   cubin.leads_to_its_code(section))
        elif section.text.startswith(OF_A_KERNEL[0]) and section.info:
            yield ("sh_info of .nv.shared.*", "the code of the function, or 0",
                   cubin.leads_to_its_code(section))
        elif section.type in (SHT_REL, SHT_RELA, SHT_MERC_RELA):
            yield "sh_info of relocations", "a section", cubin.leads_to(section, ".")
            yield ("sh_info of relocations", "the section that they are named after",
                   cubin.leads_to_its_namesake(section))
        elif cubin.is_linked(section):
            yield ("sh_info of others with SHF_INFO_LINK", "a section",
                   cubin.leads_to(section, "."))
        else:
            yield "sh_info of all others", "0", section.info == 0
        if section.type in PAIRS:
            yield ("pairs of call graphs and prototypes", "symbols, names, and -1 to -4",
                   cubin.pairs_lead_somewhere(section))
        if section.type in ENTRY_SIZES:
            yield ("sh_entsize of tables", "24, 16 or 8 by their type",
                   section.entry_size == ENTRY_SIZES[section.type] and
                   section.size % section.entry_size == 0)
        yield ("sh_addralign", "a power of two",
               section.alignment and section.alignment & (section.alignment - 1) == 0)
        yield ("SHF_EXECINSTR", "set of .text.* alone",
               bool(section.flags & SHF_EXECINSTR) == section.text.startswith(".text."))
        yield ("0x10000000 in sh_flags", "set of .nv.merc.* and .nv.capmerc.* alone",
               bool(section.flags & SHF_MERC) == in_merc(section.text))


def field_lines(name, written):
    held, places, files = (collections.Counter() for _ in range(3))
    for shape in written:
        seen = set()
        for field, what, holds in facts(Cubin(shape.path.read_bytes())):
            held[field, what] += bool(holds)
            places[field, what] += 1
            seen.add((field, what))
        files.update(seen)
    for field in sorted(places):
        yield (f"field | {name} | {field[0]} | {field[1]} | "
               f"{held[field]} of {places[field]} in {files[field]} files")


# ---- what becomes of them ----

def cases(written, linker):
    for shape in written:
        parts = [(one.kind, one.path) for one in (shape, shape.partner()) if one]
        yield case(f"{shape} on {linker}", linker, shape.arch, parts, shape=shape,
                   left=shape.left, contained=shape.kind == "object")


def compare(name, written, linker):
    """A comparison of all that one compiler makes, on one linker."""
    comparison = Comparison(f"shapes of {name} on {linker}")
    comparison.add(list(cases(written, linker)))
    return comparison


def names_of(shapes, among):
    """UNIT/OPTION/ARCH of each; */OPTION/ARCH for all units that there are, or all but a few."""
    found, every = collections.defaultdict(set), collections.defaultdict(set)
    for units, some in (found, shapes), (every, among):
        for shape in some:
            units[f"{shape.option}/{shape.arch}"].add(shape.unit)
    names = []
    for rest, units in found.items():
        lacking = every[rest] - units
        if len(units) > 1 and len(lacking) < min(len(units), 4):
            names.append(f"*/{rest}" + "".join(f" -{unit}" for unit in sorted(lacking)))
        else:
            names += [f"{unit}/{rest}" for unit in units]
    return sorted(names)


def verdict_lines(name, linker, verdicts):
    """The number that both link, and by name what else there is, of (shape, verdict, code, what
    the real library says)."""
    others = collections.defaultdict(list)
    for shape, found, code, real in verdicts:
        if found != AGREE_YES:
            others[found, code, real].append(shape)
    both = len(verdicts) - sum(map(len, others.values()))
    yield f"link | {name} on {linker} | agree yes | {both}"
    for (found, code, real), shapes in sorted(others.items()):
        names = sorted({shape.unit for shape in shapes}) if found == LEFT else names_of(
            shapes, [one[0] for one in verdicts])
        yield f"link | {name} on {linker} | {found} | {code}, {real} | {len(shapes)}: " + \
            " ".join(names)


def link_lines(name, linker, comparison):
    return verdict_lines(name, linker, [(one.facts["shape"], found, plan.code, real)
                                        for one, plan, real, found in comparison.rows])


def pairs():
    return [(version, linker) for version in linkers.producers() for linker in linkers.versions()
            if {version, linker} <= {*LINKED} and samples.key(version) <= samples.key(linker)]


# ---- of others ----

def forms(compiler):
    """What there is of a compiler: (form, its name in the table, the linkers that may read it)."""
    def readers(version):
        return [linker for linker in LINKED if samples.key(version) <= samples.key(linker)]

    ptxas = sorted(compiler.ptxas(), key=samples.key)
    for version in ptxas:
        yield version, f"{compiler.name}, ptxas {version}", readers(version)
    yield "ptx", f"PTX of {compiler.name}", LINKED
    for version in ptxas if compiler.writes_ir else []:
        yield f"object {version}", f"objects of {compiler.name}, ptxas {version}", readers(version)
    if compiler.links:
        yield "linked", f"linked cubins of {compiler.name}", LINKED


def is_relocatable_cubin(form):
    return form[0].isdigit()


def ir_lines(compiler, version):
    return verdict_lines(f"LLVM IR of {compiler.name}", version,
                         ir_links.rows(other_compilers.written(compiler, "ir"), version))


def other_lines(compiler, versions):
    """The rows of one compiler on these linkers."""
    for version in ir_links.versions() if compiler.writes_ir else []:
        yield from ir_lines(compiler, version)
    for form, name, readers in forms(compiler):
        written = other_compilers.written(compiler, form)
        failed = other_compilers.cannot(compiler, form)
        yield f"made | {name} | {len(written)}" + (
            f" | not {' '.join(names_of(failed, [*written, *failed]))}" if failed else "")
        if is_relocatable_cubin(form):
            yield from field_lines(name, written)
        for linker in readers:
            if linker in versions:
                yield from link_lines(name, linker, compare(name, written, linker))


# ---- the table ----

def own_lines(version):
    """The rows of one version of NVIDIA's."""
    samples.make(shapes(version))
    yield from field_lines(version, shapes(version))
    for writer, linker in pairs():
        if writer == version:
            yield from link_lines(version, linker, compare(version, shapes(version), linker))


def lines(wanted):
    """The rows of the compilers that are here; `wanted` are words of their names, none: all."""
    for version in linkers.producers():
        if not wanted or version in wanted:
            yield from own_lines(version)
    for compiler in other_compilers.here():
        if not wanted or compiler.name.split()[0] in wanted:
            yield from other_lines(compiler, linkers.versions())


def owner(line):
    """The compiler of a row, "12.9" or "clang 18.1.6"."""
    return re.search(r"(?:clang |triton )?\d+\.[\d.]+", line.split(" | ")[1])[0]


def order(line):
    """First NVIDIA's, their fields and then their links; the others' as they were written."""
    name = owner(line)
    if name[0].isdigit():
        return 0, line.partition(" ")[0], samples.key(name)
    return 1, name.split()[0], samples.key(name.split()[1])


KEPT = TABLE.read_text().splitlines()


def kept(*columns):
    """The lines of the table that begin so."""
    start = [*columns]
    return [line for line in KEPT if line.split(" | ")[:len(start)] == start]


def newest(versions):
    """The newest of each major."""
    return list({one.partition(".")[0]: one for one in sorted(versions, key=samples.key)}.values())


def rules_hold(fields):
    """A rule is one of every file, or it is none."""
    assert all(held == places for held, _, places, *_ in (
        line.split(" | ")[4].split() for line in fields)), fields


def as_kept(name, linker, comparison):
    """Nothing is refused without a reason, and what the table has of this link is so."""
    comparison.finish()
    if kept("link", f"{name} on {linker}"):
        assert list(link_lines(name, linker, comparison)) == kept("link", f"{name} on {linker}")


def main():
    head, new = 2, list(lines(sys.argv[1:]))
    written = set(map(owner, new))
    rows = [line for line in KEPT[head:] if owner(line) not in written] + new
    TABLE.write_text("".join(f"{line}\n" for line in KEPT[:head] + sorted(rows, key=order)))


if __name__ == "__main__":
    main()
