# SPDX-License-Identifier: MIT
"""The lists of libraries/, read without gen, and what has to become of each call by them."""
import functools
import re
from dataclasses import dataclass, field

import build

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


@dataclass
class List:
    name: str
    majors: list = field(default_factory=list)              # the oldest first
    sonames: dict = field(default_factory=dict)             # of each major
    cudas: dict = field(default_factory=dict)               # of CUDA, by SONAME, where a row says it
    nodes: dict = field(default_factory=dict)
    words: dict = field(default_factory=dict)               # of rows that stand once
    errors: dict = field(default_factory=dict)              # {(kind, major): status}
    layouts: dict = field(default_factory=dict)             # {(struct, major): letter}
    rows: dict = field(default_factory=dict)                # {(name, major): Row}
    variables: dict = field(default_factory=dict)           # {name: size}

    def covered(self, text):
        """The majors of a RANGE: each has one toolkit."""
        found = set()
        for part in text.split(","):
            first, dash, last = part.partition("-")
            low, high = major(first), major(last) if last else 10**6 if dash else major(first)
            found |= {one for one in self.majors if low <= one <= high}
        return found

    def names(self, of):
        return sorted(name for name, one in self.rows if one == of)

    def of_cuda(self, cuda):
        """Its majors that are of a CUDA."""
        if self.words.get("majors") != "own":
            return [cuda] if cuda in self.sonames else []
        return [of for of, soname in self.sonames.items() if cuda in self.cudas.get(soname, [cuda])]

    def key(self, name, of):
        """What two majors have to agree on to have the same interface."""
        def letter(match):
            word = match[0]
            return ALIKE.get(word) or f"{word}.{self.layouts.get((word, of), '')}"
        text = re.sub(r"\b(in|out|inout|buf) (?=\w)", "*", self.rows[name, of].types)
        return re.sub(r"\w+", letter, text)

    def fate(self, name, caller, there):
        """Of a call by a caller of one major, on a library of another."""
        if caller == there:
            return FORWARDED
        if (name, there) not in self.rows:
            return ABSENT
        rows = self.rows[name, caller], self.rows[name, there]
        known = not any(row.undeclared or row.apart for row in rows)
        return FORWARDED if known and self.key(name, caller) == self.key(name, there) else REFUSED


def major(text):
    return int(text.partition(".")[0])


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
                made.majors = [major(word) for word in words[1:]]
        elif block == "functions":
            found = re.match(r"\s+(\w+)\s+(\S+)\s+(\(.*?\)(?: -> \S+)?)(.*)$", line)
            for of in made.covered(found[2]):
                made.rows[found[1], of] = Row(found[3], *(f" {word}" in found[4] for word in (
                    "text", "negative", "apart", "undeclared")))
        elif block == "struct" and words[0] == "size":
            for of in made.covered(words[2]):
                made.layouts[struct, of] = words[4]
        elif block == "library":
            read_property(made, words)
    return made


def read_property(made, words):
    if words[0] == "soname":
        made.sonames.update((of, words[1]) for of in made.covered(words[2]))
    elif words[0] == "data":
        made.variables[words[1]] = int(words[2])
    elif words[0] == "cuda":
        made.cudas[words[1]] = [int(word) for word in words[2:]]
    elif words[0] == "node":
        made.nodes.setdefault(int(words[2]), []).append(words[1])
    elif words[0] == "error":
        for of in made.covered(words[3]) if words[3:] else made.majors:
            made.errors[words[1], of] = int(words[2])
    else:
        made.words[words[0]] = words[1]
