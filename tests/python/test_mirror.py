# SPDX-License-Identifier: MIT
"""What lazycuda.link says of lazycuda_link.h is what a C compiler says."""
import ctypes
import re

import pytest

import build
from lazycuda import link, link_library

HEADER = (build.ROOT / "include" / "lazycuda_link.h").read_text()
CODE = re.sub(r"/\*.*?\*/", "", HEADER, flags=re.S)
ENUMS = {"kind": link.Kind, "policy": link.Policy, "output": link.Output, "code": link.Code,
         "backend": link.Backend, "form": link.Form, "log": link.Log, "setting_kind": link._Setting}


def ask(name, expressions):
    """What C says of each, as numbers."""
    lines = "".join(f'\tprintf("%llu\\n", (unsigned long long)({one}));\n' for one in expressions)
    source = build.text(f"#include <stdio.h>\n#include <lazycuda_link.h>\n"
                        f"int main(void)\n{{\n{lines}\treturn 0;\n}}\n", "c")
    return list(map(int, build.output(build.program(source, name=name)).split()))


@pytest.mark.parametrize("name", link_library.STRUCTS)
def test_a_struct_has_the_fields_of_c(name):
    struct = link_library.STRUCTS[name]
    fields = [field for field, *_ in struct._fields_]
    said = ask(name, [f"sizeof(struct {name})"] + [
        word for field in fields for word in
        (f"offsetof(struct {name}, {field})", f"sizeof(((struct {name} *)0)->{field})")])
    mine = [ctypes.sizeof(struct)]
    for field in fields:
        mine += [getattr(struct, field).offset, getattr(struct, field).size]
    assert mine == said


@pytest.mark.parametrize("name", link_library.STRUCTS)
def test_a_struct_has_no_field_more_in_c(name):
    """One that fits into what was padding changes no size."""
    body = re.search(rf"struct {name} {{(.*?)\n}};", CODE, re.S)[1]
    words = [word for line in body.split(";") for word in
             (re.findall(r"\(\*(\w+)\)", line)[:1] or re.findall(r"(\w+)\s*(?=,|$)", line.strip()))]
    assert words == [field for field, *_ in link_library.STRUCTS[name]._fields_]


@pytest.mark.parametrize("name", ENUMS)
def test_an_enumeration_has_the_numbers_of_c(name):
    body = re.search(rf"enum lazycuda_{name} {{(.*?)}};", CODE, re.S)[1]
    words = re.findall(r"\bLAZYCUDA_\w+", body)
    prefix = f"LAZYCUDA_{name.upper().replace('_KIND', '')}_"
    assert dict(zip((word[len(prefix):] for word in words), ask(name, words))) == {
        one.name: one.value for one in ENUMS[name]}


def test_flags_are_those_of_c():
    flags = {name: value for name, value in vars(link._Flag).items() if name[0] != "_"}
    assert ask("flags", [f"LAZYCUDA_{name}" for name in flags]) == list(flags.values())
    known = set(re.findall(r"#define LAZYCUDA_((?:ENTRY|SYMBOL|INSPECT|INPUT|LINK)_\w+)\s", CODE))
    assert known - {"LINK_H"} == set(flags)


def test_functions_take_as_many_as_in_c():
    for name, (_, arguments) in link_library.FUNCTIONS.items():
        words = re.search(rf"\b{name}\(([^;]*)\);", CODE)[1]
        assert (0 if words == "void" else words.count(",") + 1) == len(arguments), name


def test_a_number_that_is_not_known_has_a_name():
    assert link.Code(9999).name == "NUMBER_9999" and link.Code(9999) == 9999
    with pytest.raises(ValueError):
        link.Code("x")
