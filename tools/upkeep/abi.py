#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write what lazycuda_link.h says: tools/retarget/lazycuda/link_abi.py for Python, and
link/tables/codes.c.

Run by `make generate` and `make check-generated`.
"""
import pathlib
import re
import textwrap

import generated_page

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADER = ROOT / "include" / "lazycuda_link.h"
SOURCE = "the public headers say"
TYPES = {"size_t": "c_size_t", "int": "c_int", "unsigned": "c_uint", "char": "c_char",
         "unsigned char": "c_ubyte", "uint32_t": "c_uint32", "uint64_t": "c_uint64"}
POINTERS = {"char": "c_char_p", "void": "c_void_p", "struct lazycuda_link": "c_void_p"}

PYTHON = '''\
# SPDX-License-Identifier: MIT
"""lazycuda_link.h for ctypes, written by tools/upkeep/abi.py: change neither, but the header."""
from ctypes import (CFUNCTYPE, POINTER, c_char, c_char_p, c_int, c_size_t, c_ubyte, c_uint, c_uint32,
                    c_uint64, c_void_p)

from .link_types import Number, Struct
'''
CODES = '''\
/* SPDX-License-Identifier: MIT */
/* codes.c - the names of the reasons why there is no image, written by tools/upkeep/abi.py */
#include "../../include/lazycuda_link.h"

const char *lazycuda_code_name(enum lazycuda_code code)
{
	switch (code) {
%s	}
	return NULL;
}
'''


def code(header):
    return re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.S)


def camel(name):
    return "".join(map(str.capitalize, name.replace("lazycuda_", "").split("_")))


def python_type(text):
    """That of C's, without a name."""
    words = re.sub(r"\bconst\b|\*", "", text).split()
    stars, base = text.count("*"), " ".join(words)
    if base == "void" and not stars:
        return "None"
    if stars and base in POINTERS:
        made, stars = POINTERS[base], stars - 1
    elif words[0] == "enum":
        made = "c_int"
    else:
        made = camel(words[1]) if words[0] == "struct" else TYPES[base]
    return "POINTER(" * stars + made + ")" * stars


def declared(text):
    """[(name, Python's type)] of "const char *a, *b"."""
    base, names = re.fullmatch(r"((?:const )?(?:(?:struct|enum) \w+|unsigned char|\w+)) (.*)",
                               text).groups()
    return [(re.search(r"\w+$", one)[0], python_type(base + re.sub(r"\w+$", "", one)))
            for one in names.split(", ")]


def arguments(text):
    return [] if text == "void" else [
        python_type(re.sub(r"(?<=[ *])\w+$", "", one)) for one in text.split(", ")]


def flat(text):
    return " ".join(text.split())


def functions(header):
    """[(result, name, arguments)]"""
    return [(result.strip(), name, flat(taken)) for result, name, taken in re.findall(
        r"^((?:const )?(?:struct |enum )?\w+ \*?)(lazycuda_\w+)\(([^;{]*)\);", code(header), re.M)]


def enumerations():
    """[(name, [(member, number)])], members without what all begin with."""
    for name, body in re.findall(r"^enum lazycuda_(\w+) \{(.*?)\};", code(HEADER), re.M | re.S):
        prefix = f"LAZYCUDA_{name.upper().replace('_KIND', '')}_"
        yield name, [(member[len(prefix):], number) for member, number in
                     re.findall(r"\b(LAZYCUDA_\w+) = (\d+)", body)]


def wrapped(items, width, first="", others="", between=", "):
    """Lines, broken between items."""
    text = between.join(one.replace(" ", "~") for one in items)
    return [line.replace("~", " ") for line in textwrap.wrap(
        text, width, initial_indent=first, subsequent_indent=others, break_long_words=False)]


def filled(items, indent):
    return "\n".join(wrapped(items, 105, indent, indent))


def numbers(pairs):
    return "".join(line.rstrip(";") + "\n" for line in wrapped(
        (f"{name} = {number}" for name, number in pairs), 105, "    ", "    ", "; "))


def struct(name, body):
    """Pointers to functions are types of their own."""
    before, fields = [], []
    for one in map(flat, body.split(";")[:-1]):
        function = re.fullmatch(r"void \(\*(\w+)\)\((.*)\)", one)
        if function:
            own = camel(name) + camel(function[1])
            before.append(f"\n{own} = CFUNCTYPE({', '.join(['None', *arguments(function[2])])})\n")
            fields.append((function[1], own))
        else:
            fields += declared(one)
    fields = filled((f'("{field}", {made})' for field, made in fields), " " * 8)
    return "".join(before) + f"\n\nclass {camel(name)}(Struct):\n    _fields_ = [\n{fields}]\n"


def python():
    parts = [PYTHON]
    for name, members in enumerations():
        parts.append(f'\n\nclass {camel(name)}(Number):\n    """enum lazycuda_{name}"""\n{numbers(members)}')
    flags = re.findall(r"^#define LAZYCUDA_((?:ENTRY|SYMBOL|INSPECT|INPUT|LINK)_\w+)\s+(0x[0-9a-f]+)",
                       code(HEADER), re.M)
    parts.append(f'\n\nclass Flag:\n    """Without LAZYCUDA_."""\n{numbers(flags)}')
    parts += [struct(*one) for one in re.findall(r"^struct (lazycuda_\w+) \{(.*?)^\};", code(HEADER),
                                                 re.M | re.S)]
    lines = filled((f'"{name}": ({python_type(result)}, [{", ".join(arguments(taken))}])'
                   for result, name, taken in functions(HEADER)), " " * 4)
    return "".join([*parts, "\n\n# name: what it returns, what it takes\nFUNCTIONS = {\n", lines, "}\n"])


def codes():
    members = dict(enumerations())["code"]
    return CODES % "".join(f'\tcase LAZYCUDA_CODE_{name}: return "{name}";\n' for name, _ in members)


if __name__ == "__main__":
    generated_page.finish(ROOT / "tools/retarget/lazycuda/link_abi.py", python(), SOURCE, __doc__)
    generated_page.finish(ROOT / "link/tables/codes.c", codes(), SOURCE, __doc__)
