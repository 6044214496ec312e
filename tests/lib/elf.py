# SPDX-License-Identifier: MIT
"""What readelf says of a file."""
import collections
import re

import build

Symbol = collections.namedtuple("Symbol", "name node default address")


def readelf(*arguments):
    return build.output("readelf", "-W", *arguments)


def _dynamic_symbols(path, defined):
    for line in readelf("--dyn-syms", path).splitlines():
        fields = line.split()
        if len(fields) < 8 or not fields[0].rstrip(":").isdigit():
            continue
        # A local or absolute symbol is a version node or a section.
        if fields[4] == "LOCAL" or fields[6] == "ABS" or (fields[6] != "UND") != defined:
            continue
        name, at, node = fields[7].partition("@")
        if name.startswith("__odr_asan."):      # the sanitizer's, where nodes do not hide it
            continue
        yield Symbol(name, node.lstrip("@") or None, node.startswith("@"), int(fields[1], 16))


def exports(path):
    """Symbols that a shared library defines."""
    return list(_dynamic_symbols(path, True))


def imports(path):
    """Symbols that a file needs from elsewhere."""
    return list(_dynamic_symbols(path, False))


def dynamic(path):
    """The dynamic section: {"NEEDED": [...], "SONAME": [...], "FLAGS": [...]}"""
    entries = collections.defaultdict(list)
    for line in readelf("-d", path).splitlines():
        found = re.match(r"\s*0x[0-9a-f]+ \((\w+)\)\s+(.*)", line)
        if found:
            value = re.search(r"\[(.*)\]", found[2])
            entries[found[1]].append(value[1] if value else found[2].strip())
    return dict(entries)


def is_bound_at_once(path):
    """Whether ld.so binds its functions when it loads it, and not each at its first call."""
    entries = dynamic(path)
    words = " ".join(entries.get("FLAGS", []) + entries.get("FLAGS_1", [])).split()
    return bool({"BIND_NOW", "NOW"} & set(words))


def defined_nodes(path):
    """Version nodes that a library defines, in order, without its base."""
    text = readelf("-V", path).partition("Version definition section")[2]
    text = text.partition("Version needs section")[0]
    return [name for flags, name in re.findall(r"Flags: (\S+).*Name: (\S+)", text)
            if flags != "BASE"]


def glibc(path):
    """The newest glibc that a file needs, as (2, 17)."""
    nodes = re.findall(r"Name: GLIBC_(\d+)\.(\d+)", readelf("-V", path))
    return max((int(major), int(minor)) for major, minor in nodes)


def segments(path):
    """{"GNU_STACK": "RW", ...}"""
    return {found[1]: found[2].replace(" ", "") for found in re.finditer(
        r"^  (\w+)(?:\s+0x[0-9a-f]+){5} ([R ][W ][E ])", readelf("-l", path), re.M)}
