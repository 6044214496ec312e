#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The table in docs/reference/abi.md of what libraries lay out and callers read, from the lists.

    tools/upkeep/laid_out.py            write it
    tools/upkeep/laid_out.py --check    is it that?
"""
import fnmatch
import pathlib
import re

import generated_page
import libraries

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/reference/abi.md"
LISTS = ("symbols.txt", *sorted(path.relative_to(ROOT).as_posix()
                                for path in (ROOT / "libraries").glob("*.txt")))
MARKS = re.compile(r"(<!-- table: laid-out -->\n).*?(<!-- end -->)", re.S)
# Functions of symbols.txt that hand out what headers do not show; libraries.txt names the others'.
HANDING = {"cudart": ["cudaGetExportTable"]}
ADAPTED = "[adapted](adapted.md), else refused"
ONE_SONAME = "as without a stub: there is one SONAME"
FUNCTION = re.compile(r"\s+(\w+)\s+(\S+)\s+\((.*?)\)(?: -> (\S+))?(.*)$")


class Library:
    def __init__(self, name):
        self.name = name
        self.layouts = {}       # {struct: [(range, letter)]}
        self.fields = {}        # {struct: the structs that its pointers lead to}
        self.apart = []         # functions
        self.filled = set()     # structs that functions write, or lead to
        self.sonames = 0
        self.called = {}        # {a version of the list: what people call it}

    def reached(self):
        """The filled structs and those that they lead to."""
        found, more = set(), set(self.filled)
        while more:
            found |= more
            more = {target for one in more for target in self.fields.get(one, ())} - found
        return found

    def changed(self):
        return {struct for struct in self.reached()
                if len({letter for _, letter in self.layouts[struct]}) > 1}


def read_function(library, line):
    name, _, parameters, _, words = FUNCTION.match(line).groups()
    if " apart" in words:
        library.apart.append(name)
    for parameter in parameters.split(", "):
        way, _, kind = parameter.rpartition(" ")
        struct = kind.lstrip("*")
        if way in ("out", "inout") and struct in library.layouts:
            library.filled.add(struct)


def read(path):
    """The libraries of a list."""
    found, block, struct = [], "", ""
    for line in (ROOT / path).read_text().splitlines():
        line = line.split("#")[0].rstrip()
        words = line.split()
        if not words:
            continue
        if not line.startswith(" "):
            block, struct = words[0], words[-1]
            if block == "library":
                found.append(Library(words[1]))
        elif block == "library" and words[0] == "soname":
            found[-1].sonames += 1
        elif block == "library" and words[0] == "called":
            found[-1].called[words[1]] = words[2]
        elif block == "struct" and words[0] == "size":
            found[-1].layouts.setdefault(struct, []).append((words[2], words[4]))
        elif block == "struct" and words[1].startswith("*"):
            found[-1].fields.setdefault(struct, set()).add(words[1].lstrip("*").partition("[")[0])
        elif block == "functions":
            read_function(found[-1], line)
    return found


def ranges(library, struct):
    """A: 11.0-12.0, B: 13.0-.  The ranges of one layout follow on each other."""
    letters = {}
    for versions, letter in library.layouts[struct]:
        first, dash, last = (library.called.get(word, word) for word in versions.partition("-"))
        letters[letter] = (letters.get(letter, (first,))[0], dash, last if dash else first)
    return ", ".join(f"{letter}: {first}" if first == last else f"{letter}: {first}-{last}"
                     for letter, (first, _, last) in letters.items())


def handing(library, patterns):
    """Its functions that hand out what the library laid out for itself."""
    return [name for name in library.apart
            if any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)]


def lines_of(library, patterns):
    for struct in sorted(library.changed()):
        yield f"`{struct}`", ranges(library, struct), (
            ADAPTED if library.name == "cudart" else ONE_SONAME if library.sonames == 1 else
            "refused where they differ")
    if handing(library, patterns):
        yield ", ".join(f"`{pattern}`" for pattern in patterns), "the library's own", "refused"


def table():
    rules, alike, numbers = libraries.read_rules(), [], {}
    lines = ["| library | what it lays out | layouts | to another major |", "|---|---|---|---|"]
    for library in (one for path in LISTS for one in read(path)):
        patterns = rules.get(library.name, {}).get("apart", HANDING.get(library.name, []))
        rows = list(lines_of(library, patterns))
        # The others say by a number what another major says by another one.
        count = len(library.apart) - len(handing(library, patterns))
        if count:
            how = ADAPTED if library.name in ("cudart", "nvJitLink") else "refused"
            numbers.setdefault(how, []).append(f"{library.name} {count}")
        lines += [f"| {' | '.join((library.name, *row))} |" for row in rows]
        alike += [] if rows or count else [library.name]
    lines += [f"| functions of {', '.join(of)} | statuses | one number, two meanings | {how} |"
              for how, of in numbers.items()]
    return "\n".join([*lines, f"| {', '.join(alike)} | nothing, or structs | one in all versions | forwarded |", ""])


def page(text):
    assert MARKS.search(text), f"{PAGE} has no place for the table"
    return MARKS.sub(lambda found: found[1] + table() + found[2], text)


if __name__ == "__main__":
    generated_page.finish(PAGE, page(PAGE.read_text()), "the lists give", __doc__)
