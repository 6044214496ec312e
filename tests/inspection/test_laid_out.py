# SPDX-License-Identifier: MIT
"""Each rule for what is in a relocatable cubin, by a field that breaks it alone.

The cubins are made by hand, and begin the fuzzing of these rules; what real linkers do with the
same damage of real ones is in tests/agreement."""
import struct

import pytest

import laid_out
import made_up as c

CUBINS = {"sm_80": (80, 129), "sm_90": (90, 130), "sm_100 of 12.9": (100, 129),
          "sm_100": (100, 135)}
FIELDS = dict(name=0, type=4, flags=8, offset=24, size=32, link=40, info=44, align=48, entry=56)


class Sections:
    def __init__(self, data):
        self.data = bytearray(data)
        headers, = struct.unpack_from("<Q", data, 40)
        count, names = struct.unpack_from("<HH", data, 60)
        rows = [headers + c.SECTION.size * index for index in range(count)]
        table, = struct.unpack_from("<Q", data, rows[names] + FIELDS["offset"])

        def text(row):
            at = table + struct.unpack_from("<I", data, row)[0]
            return data[at:data.index(b"\0", at)].decode()
        self.rows = {text(row): row for row in rows}

    def put(self, section, at, value):
        """at: the name of a field of its header, or where in its bytes a word is."""
        wide = at in ("flags", "offset", "size", "align", "entry")
        place = self.rows[section] + FIELDS[at] if isinstance(at, str) else \
            struct.unpack_from("<Q", self.data, self.rows[section] + FIELDS["offset"])[0] + at
        struct.pack_into("<Q" if wide else "<I", self.data, place, value)
        return bytes(self.data)


@pytest.mark.parametrize("name", CUBINS)
def test_what_is_laid_out_as_compilers_do_is_sound(see, name):
    entry, = see(laid_out.cubin(*CUBINS[name]), "--payloads", "--symbols").entries
    assert entry["error"] is None and entry["kind"] == "cubin"
    assert entry["names"].keys() == {"k", "f", "p", "v"}


# In the attributes .nv.info has 12 bytes each; those of .nv.info.k begin at 0, 4, 20, 36 and 48.
BOTH = [
    ("{}.nv.info", "type", 1, "its type"), ("{}.nv.info", "link", 1, "its link"),
    ("{}.nv.info", 0, 0x00082f07, "its format"), ("{}.nv.info", 0, 0x00ff2f04, "its size"),
    ("{}.nv.info", 4, 0, "its value"), ("{}.nv.info", 4, 99, "its value"),
    ("{}.nv.info", 28, laid_out.V, "its value"), ("{}.nv.info", 52, 99, "its value"),
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
    (".text.k", "info", 8 << 24 | laid_out.V, "its link"),
    (".text.k", "type", laid_out.NV, "its type"), (".nv.constant0.k", "info", 0, "its link"),
    (".nv.constant0.k", "type", laid_out.NV + 0x65, "its type"),
    (".nv.shared.k", "info", 1, "its link"), (".nv.global", "link", 1, "its link"),
    (".strtab", "type", 1, "its link"), (".strtab", 0, 1, "names of symbols"),
    (".nv.constant0.k", "offset", 64, "its bytes are those of another"),
    (".symtab", 24 + 16, 33, "its place"),
]
SECOND = [
    (".nv.capmerc.text.k", "info", 8 << 24 | laid_out.V, "its link"),
    (".nv.capmerc.text.k", "type", 1, "its link"),
    (".nv.merc.symtab", 24 + 4, 0x7fff1012, "its section"),
    (".nv.merc.nv.info", 12, 0x00082304, "not one number of registers for each function"),
    (".nv.merc.debug_frame", "flags", 0, "its flags"),
]


@pytest.mark.parametrize("name, section, at, value, why", [
    *((name, section.format(""), *rest) for name in CUBINS for section, *rest in BOTH),
    *((name, *row) for name in CUBINS for row in PLAIN),
    *((name, section.format(".nv.merc"), *rest) for name in ("sm_100", "sm_100 of 12.9")
      for section, *rest in BOTH),
    *((name, *row) for name in ("sm_100", "sm_100 of 12.9") for row in SECOND)])
def test_one_field_that_is_wrong_is_named(see, name, section, at, value, why):
    error = see(Sections(laid_out.cubin(*CUBINS[name])).put(section, at, value), "--payloads").error
    assert error and error.endswith(why), error


def test_a_section_of_a_known_type_under_a_name_that_nobody_writes(see):
    sections = Sections(laid_out.cubin(100, 135))
    stranger = sections.rows[".rela.text.k"] + FIELDS["name"]
    # Names are found by their first byte: one byte later begins another.
    name, = struct.unpack_from("<I", sections.data, stranger)
    struct.pack_into("<I", sections.data, stranger, name + 1)
    assert see(bytes(sections.data), "--payloads").error.endswith("its name")
