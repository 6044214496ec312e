# SPDX-License-Identifier: MIT
"""Each rule for what is in a relocatable cubin, by a field that breaks it alone.

The cubins are made by hand, and begin the fuzzing of these rules; what real linkers do with the
same damage of real ones is in tests/agreement."""
import pytest

import relocatable
from changed_elf import Elf

CUBINS = {"sm_80": (80, 129), "sm_100 of 12.9": (100, 129), "sm_100": (100, 135)}
FIELDS = {"name": ("I", 0), "type": ("I", 4), "flags": ("Q", 8), "offset": ("Q", 24),
          "size": ("Q", 32), "link": ("I", 40), "info": ("I", 44), "align": ("Q", 48),
          "entry": ("Q", 56)}


def changed(data, section, at, value):
    """at: the name of a field of the section's header, or where in its bytes a word is."""
    elf = Elf(data)
    form, place = FIELDS[at] if at in FIELDS else ("I", at)
    begin = elf.header(section) if at in FIELDS else elf.field(elf.find(section), 24)
    return elf.put(form, begin + place, value)


@pytest.mark.parametrize("name", CUBINS)
def test_what_is_laid_out_as_compilers_do_is_sound(see, name):
    entry, = see(relocatable.cubin(*CUBINS[name]), "--payloads", "--symbols").entries
    assert entry["error"] is None and entry["kind"] == "cubin"
    assert entry["names"].keys() == {"k", "f", "p", "v"}


# An attribute of .nv.info takes 12 bytes; those of .nv.info.k begin at 0, 4, 20, 36 and 48.
BOTH = [
    ("{}.nv.info", "type", 1, "its type"), ("{}.nv.info", "link", 1, "its link"),
    ("{}.nv.info", 0, 0x00082f07, "its format"), ("{}.nv.info", 0, 0x00ff2f04, "its size"),
    ("{}.nv.info", 4, 0, "its value"), ("{}.nv.info", 4, 99, "its value"),
    ("{}.nv.info", 28, relocatable.V, "its value"), ("{}.nv.info", 52, 99, "its value"),
    ("{}.nv.info.k", "info", 1, "its link"),
    ("{}.nv.info.k", 28, 2, "a parameter's number"), ("{}.nv.info.k", 8, 1, "its value"),
    ("{}.nv.info.k", 40, 99, "its value"), ("{}.nv.info.k", 52, 99, "its value"),
    ("{}.nv.callgraph", "entry", 4, "the size of its entries"),
    ("{}.nv.callgraph", "size", 12, "the size of its entries"),
    ("{}.nv.callgraph", 24, 99, "its symbols"), ("{}.nv.callgraph", 28, 99, "its symbols"),
    ("{}.nv.prototype", 0, 99, "its symbols"), ("{}.nv.prototype", 4, 99, "its symbols"),
    ("{}.rela.text.k", "info", 1, "its link"), ("{}.rela.text.k", "type", 1, "its type"),
    ("{}.rela.text.k", 12, 99, "its symbol"), ("{}.rela.text.k", 8, 1000, "its type"),
    ("{}.rela.debug_frame", 0, 32, "its place"),
    ("{}.debug_frame", 0, 29, "its length"), ("{}.debug_frame", 16, 13, "its length"),
    ("{}.debug_frame", "link", 1, "its link"), ("{}.debug_frame", "align", 3, "its alignment"),
    ("{}.debug_frame", "align", 0, "its alignment"), ("{}.debug_frame", "flags", 4, "its flags"),
    ("{}.symtab", "link", 2, "its link"), ("{}.symtab", "entry", 8, "the size of its entries"),
]
PLAIN = [
    (".text.k", "info", 8 << 24 | relocatable.V, "its link"),
    (".text.k", "type", relocatable.NV, "its type"), (".nv.constant0.k", "info", 0, "its link"),
    (".nv.constant0.k", "type", relocatable.NV + 0x65, "its type"),
    (".nv.shared.k", "info", 1, "its link"), (".nv.global", "link", 1, "its link"),
    (".strtab", "type", 1, "its link"), (".strtab", 0, 1, "names of symbols"),
    (".nv.constant0.k", "offset", 64, "its bytes are those of another"),
    (".symtab", 24 + 16, 33, "its place"), (".symtab", 24 + 4, 0x77771012, "its section"),
    (".rela.text.k", 0, 99, "its place"), (".rela.text.k", "link", 2, "its symbols"),
]
SECOND = [
    (".nv.capmerc.text.k", "info", 8 << 24 | relocatable.V, "its link"),
    (".nv.capmerc.text.k", "type", 1, "its link"),
    (".nv.merc.symtab", 24 + 4, 0x7fff1012, "its section"),
    (".nv.merc.nv.info", 12, 0x00082304, "not one number of registers for each function"),
    (".nv.merc.debug_frame", "flags", 0, "its flags"),
]


@pytest.mark.parametrize("name, section, at, value, why", [
    *(("sm_80", section.format(""), *rest) for section, *rest in BOTH),
    *(("sm_80", *row) for row in PLAIN),
    *(("sm_100", section.format(".nv.merc"), *rest) for section, *rest in BOTH),
    *(("sm_100", *row) for row in SECOND)])
def test_one_field_that_is_wrong_is_named(see, name, section, at, value, why):
    error = see(changed(relocatable.cubin(*CUBINS[name]), section, at, value), "--payloads").error
    assert error and error.endswith(why), error
