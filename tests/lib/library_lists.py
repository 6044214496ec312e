# SPDX-License-Identifier: MIT
"""The lists of libraries/, read without gen, and what has to become of each call by them."""
import functools
import re
from dataclasses import dataclass, field

import build
from symbols import version

FOLDER = build.ROOT / "libraries"
NAMES = tuple(sorted(path.stem for path in FOLDER.glob("*.txt")))
FORWARDED, ABSENT, REFUSED = "forwarded", "absent", "refused"
# 32 and 64 bits are passed alike, whatever their sign.
ALIKE = {"u32": "i32", "u64": "i64"}


def stub(name):
    return build.BUILD / "lib" / f"lib{name}_stub.so"     # as it is used, not as a sanitizer has it


@dataclass
class Row:
    types: str
    text: bool
    negative: bool
    apart: bool
    undeclared: bool

    @property
    def result(self):
        """"status", or the type."""
        return self.types.partition(" -> ")[2] or "status"


@dataclass(eq=False)
class List:
    name: str
    versions: list = field(default_factory=list)            # (major, minor), the oldest first
    sonames: dict = field(default_factory=dict)             # of each major
    cudas: dict = field(default_factory=dict)               # of CUDA, by SONAME, where a row says it
    nodes: dict = field(default_factory=dict)
    words: dict = field(default_factory=dict)               # of rows that stand once
    errors: dict = field(default_factory=dict)              # {(kind, major): status}
    layouts: dict = field(default_factory=dict)             # {(struct, version): letter}
    has: dict = field(default_factory=dict)                 # {name: {version: Row}}
    rows: dict = field(default_factory=dict)                # {(name, major): its newest Row}
    variables: dict = field(default_factory=dict)           # {name: size}

    def covered(self, text):
        """The versions of a RANGE."""
        found = set()
        for part in text.split(","):
            first, dash, last = part.partition("-")
            low = version(first)
            high = version(last) if last else (10**6, 0) if dash else low
            found |= {one for one in self.versions if low <= one <= high}
        return found

    @property
    def majors(self):
        return sorted({one for one, _ in self.versions})

    def newest(self, of):
        return max(one for one in self.versions if one[0] == of)

    def names(self, of):
        """What callers of a major may import."""
        return sorted(name for name, one in self.rows if one == of)

    def exported(self, of):
        """What the newest library of a major has."""
        return sorted(name for name, one in self.has.items() if self.newest(of) in one)

    def of_cuda(self, cuda):
        """Its majors that are of a CUDA."""
        if self.words.get("majors") != "own":
            return [cuda] if cuda in self.sonames else []
        return [of for of, soname in self.sonames.items() if cuda in self.cudas.get(soname, [cuda])]

    @functools.lru_cache(maxsize=None)
    def key(self, name, of):
        """What two versions have to agree on to have the same interface."""
        def letter(match):
            word = match[0]
            return ALIKE.get(word) or f"{word}.{self.layouts.get((word, of), '')}"
        text = re.sub(r"\b(in|out|inout|buf) (?=\w)", "*", self.has[name][of].types)
        return re.sub(r"\w+", letter, text)

    def keys(self, name, of):
        """Those of a caller of a major, which does not say of which version it is."""
        return {self.key(name, one) for one in self.has[name] if one[0] == of}

    def fate(self, name, caller, there):
        """Of a call by a caller of one major, on the newest library of another."""
        at = self.newest(there)
        if at not in self.has[name]:
            return ABSENT
        if caller == there:
            return FORWARDED
        rows = [row for one, row in self.has[name].items() if one[0] == caller or one == at]
        known = not any(row.undeclared or row.apart for row in rows)
        meant = {self.key(name, one) for one in self.untold(there) if one in self.has[name]}
        return FORWARDED if known and self.keys(name, caller) == meant else REFUSED

    @functools.lru_cache(maxsize=None)
    def untold(self, of):
        """The newest version of a major, and those that no name tells from it."""
        inside, newest = [one for one in self.versions if one[0] == of], self.newest(of)
        firsts = {min(one for one in has if one[0] == of) for has in self.has.values() if newest in has}
        return [one for one in inside if one >= max(firsts)]


@functools.lru_cache(maxsize=None)
def read(name):
    made, block, struct = List(name), "", ""
    for line in (FOLDER / f"{name}.txt").read_text().splitlines():
        line = line.split("#")[0].rstrip()
        if not line:
            continue
        words = line.split()
        if not line.startswith(" "):
            block, struct = words[0], words[-1]
            if block == "toolkits":
                made.versions = [version(word) for word in words[1:]]
        elif block == "functions":
            found = re.match(r"\s+(\w+)\s+(\S+)\s+(\(.*?\)(?: -> \S+)?)(.*)$", line)
            row = Row(found[3], *(f" {word}" in found[4] for word in (
                "text", "negative", "apart", "undeclared")))
            for of in made.covered(found[2]):
                made.has.setdefault(found[1], {})[of] = row
        elif block == "struct" and words[0] == "size":
            for of in made.covered(words[2]):
                made.layouts[struct, of] = words[4]
        elif block == "library":
            read_property(made, words)
    for name, one in made.has.items():
        made.rows.update(((name, of[0]), one[of]) for of in sorted(one))
    return made


def read_property(made, words):
    if words[0] == "soname":
        made.sonames.update((of, words[1]) for of, _ in sorted(made.covered(words[2])))
    elif words[0] == "data":
        made.variables[words[1]] = int(words[2])
    elif words[0] == "cuda":
        made.cudas[words[1]] = [int(word) for word in words[2:]]
    elif words[0] == "node":
        made.nodes.setdefault(int(words[2]), []).append(words[1])
    elif words[0] == "error":
        for of in {of for of, _ in made.covered(words[3])} if words[3:] else made.majors:
            made.errors[words[1], of] = int(words[2])
    else:
        made.words[words[0]] = words[1]
