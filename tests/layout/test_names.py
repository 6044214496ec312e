# SPDX-License-Identifier: MIT
"""One name means one thing: files, types and macros have names of their own in all of the
tree, functions that other files call too, and functions of one file in the file's room."""
import collections
import re

from tree import code, room, sources

TYPE = re.compile(r"\b(?:struct|union|enum)\s+(\w+)\s*\{")
MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.M)
FUNCTION = re.compile(r"^(?P<words>(?!else|return|typedef)[A-Za-z_][\w \t*]*?[\s*])"
                      r"(?P<name>(?!ElfW)\w+)\([^;{}]*\)[^;{}]*?\n\{", re.M)
ENUM = re.compile(r"\benum\b\s*\w*\s*\{([^}]*)\}")
# A list of rows is written out by each of its users in the user's own way.
ROWS = {"X", "SERVE_BY"}


def written():
    """Generated code has the names of the list that it was made from."""
    return sources()


def shared(found):
    """{name: {places}}: those with more than one place."""
    return {name: sorted(map(str, places)) for name, places in found.items() if len(places) > 1}


def defined(pattern):
    found = collections.defaultdict(set)
    for path in written():
        for name in pattern.findall(code(path)):
            if name not in ROWS:
                found[name].add(path)
    return found


def test_files():
    # name.c and name.h of one room are one thing.
    found = collections.defaultdict(set)
    for path in written():
        found[path.stem].add(room(path) if room(path) != "include" else path)
    assert shared(found) == {}


def test_types():
    assert shared(defined(TYPE)) == {}


def test_macros_and_constants():
    found = defined(MACRO)
    for path in written():
        for body in ENUM.findall(code(path)):
            for name in re.findall(r"(?:^|,)\s*(\w+)", body):
                found[name].add(path)
    assert shared(found) == {}


def functions():
    """(name, file, whether other files can call it)"""
    for path in written():
        for match in FUNCTION.finditer(code(path)):
            own = "static" in match["words"].split() and path.suffix == ".c"
            yield match["name"], path, not own


def test_functions():
    callable_elsewhere, own = (collections.defaultdict(set) for _ in range(2))
    for name, path, elsewhere in functions():
        if name != "main":
            (callable_elsewhere if elsewhere else own)[name].add(path)
    assert shared(callable_elsewhere) == {}
    assert {name: sorted(map(str, own[name])) for name in callable_elsewhere if name in own} == {}
    in_room = collections.defaultdict(set)
    for name, paths in own.items():
        for path in paths:
            in_room[name, room(path)].add(path)
    assert shared(in_room) == {}


def test_what_is_read_is_there():
    names = {name for name, _, _ in functions()}
    assert {"lc_image_open", "lk_choose", "main"} <= names and len(names) > 1000
    assert "lc_image" in defined(TYPE) and len(defined(MACRO)) > 200
