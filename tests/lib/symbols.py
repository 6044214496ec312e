# SPDX-License-Identifier: MIT
"""Reads symbols.txt.  Its head says what it means."""
import functools
import re
from dataclasses import dataclass, field

import build


def version(text):
    """"12.9" as (12, 9)."""
    major, minor = text.split(".")
    return int(major), int(minor)


@functools.lru_cache(maxsize=None)
def _listed(wanted):
    """The version itself; the oldest toolkit stands for older ones of its major, and the newest
    of each major, but the last, for later ones of it."""
    known = [version(text) for text in read().toolkits]
    same = [v for v in known if v[0] == wanted[0]]
    if same and same[0] == known[0] and wanted < same[0]:
        return same[0]
    return min(wanted, same[-1]) if same and same[-1] != known[-1] else wanted


@dataclass(frozen=True)
class Range:
    text: str

    def __contains__(self, wanted):
        wanted = _listed(wanted)
        return any(self._part(part, wanted) for part in self.text.split(","))

    @staticmethod
    def _part(part, wanted):
        first, dash, last = part.partition("-")
        return version(first) == wanted or bool(dash) and version(first) <= wanted and (
            not last or wanted <= version(last))

    def versions(self):
        return [v for v in map(version, read().toolkits) if v in self]

    def majors(self):
        return {major for major, _ in self.versions()}


@dataclass(frozen=True)
class Function:
    name: str
    range: Range
    parameters: tuple
    result: str
    family: str
    hook: bool
    slow: bool
    undeclared: bool
    apart: bool


@dataclass
class Library:
    name: str
    sonames: list = field(default_factory=list)     # (SONAME, Range)
    folders: list = field(default_factory=list)     # (below site-packages, Range)
    extra_nodes: list = field(default_factory=list)     # (node, major)
    errors: dict = field(default_factory=dict)
    status: str = ""        # the enumeration
    enumerators: list = field(default_factory=list)     # (name, value, Range)
    structs: dict = field(default_factory=dict)     # name: [(size, Range, letter)]
    fields: dict = field(default_factory=dict)      # struct: [(name, type, offset, Range)]
    functions: list = field(default_factory=list)
    without_majors: bool = False

    def majors(self, span):
        """Of the callers that a range of versions concerns."""
        return {0} if self.without_majors else span.majors()

    def soname(self, wanted):
        """Of the library of a toolkit, or None."""
        for soname, span in self.sonames:
            if wanted in span:
                return soname
        return None

    def nodes(self):
        """[(node, major)], all of them"""
        if self.without_majors:
            return [(None, 0)]
        real = [(soname, major) for soname, span in self.sonames for major in span.majors()]
        return real + self.extra_nodes

    def exports(self, wanted):
        """Names that the library of a toolkit exports."""
        return sorted({f.name for f in self.functions if wanted in f.range})

    def layout(self, struct, wanted):
        for _, span, letter in self.structs.get(struct, ()):
            if wanted in span:
                return letter
        return None

    def interface(self, function, wanted):
        """Equal for interchangeable interfaces."""
        if function.undeclared:
            return (function.name, wanted[0])
        types = [self._type(text, wanted) for text in (*function.parameters, function.result)]
        return tuple(types)

    def meaning(self, function, wanted):
        """Equal for what one slot serves: the interface, and the major where
        what the result means depends on it."""
        return (self.interface(function, wanted), function.apart and wanted[0])

    def _type(self, text, wanted):
        """A parameter's type, with the layouts of the structs in it; signs do
        not count, and neither does the direction of a pointer."""
        direction, _, name = text.rpartition(" ")
        name = re.sub(r"^u(\d)", r"i\1", name)
        return (bool(direction), name, self.layout(name, wanted))


@dataclass
class Symbols:
    toolkits: list
    libraries: dict


@functools.lru_cache(maxsize=1)
def read():
    symbols = Symbols([], {})
    library = block = struct = fields = None
    for line in build.SYMBOLS.read_text().splitlines():
        line = line.split("#")[0].rstrip()
        if not line:
            continue
        words = line.split()
        if not line[0].isspace():
            block = words[0]
            if block == "toolkits":
                symbols.toolkits += words[1:]
            elif block == "library":
                library = symbols.libraries[words[1]] = Library(words[1])
            elif block == "struct":
                struct = library.structs.setdefault(words[1], [])
                fields = library.fields.setdefault(words[1], [])
            continue
        if block == "library" and words[0] == "soname":
            library.sonames.append((words[1], Range(words[2])))
        elif block == "library" and words[0] == "folder":
            library.folders.append((words[1], Range(words[2])))
        elif block == "library" and words[0] == "node":
            library.extra_nodes.append((words[1], int(words[2])))
        elif block == "library" and words[0] == "majors":
            library.without_majors = True
        elif block == "library" and words[0] == "error":
            library.errors[words[1]] = int(words[2])
        elif block == "library" and words[0] == "status":
            library.status = words[1]
        elif block == "enum":
            library.enumerators.append((words[0], int(words[1], 0), Range(words[2])))
        elif block == "struct" and words[0] == "size":
            struct.append((int(words[1]), Range(words[2]), words[4]))
        elif block == "struct":
            fields.append((words[0][1:], words[1], int(words[2]), Range(words[3])))
        elif block == "functions":
            library.functions.append(_function(line))
    return symbols


def _function(line):
    found = re.fullmatch(r"\s+(\S+)\s+(\S+)\s+\((.*)\)(.*)", line)
    name, span, parameters, rest = found.groups()
    words = rest.split()
    after = dict(zip(words, words[1:]))
    return Function(name, Range(span), tuple(p.strip() for p in parameters.split(",") if p.strip()),
                    after.get("->", "i32"), after.get("family", name),
                    "hook" in words, "slow" in words, "undeclared" in words, "apart" in words)
