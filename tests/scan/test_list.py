# SPDX-License-Identifier: MIT
"""The list itself: what is known of the real libraries must come out of it."""
import re

import pytest

import symbols

LIST = symbols.read()
VERSIONS = [symbols.version(text) for text in LIST.toolkits]


def rows(library, wanted):
    """{name: function} of one version; a name has one interface in it."""
    found = {}
    for function in LIST.libraries[library].functions:
        if wanted in function.range:
            assert function.name not in found, f"{function.name} has two rows for {wanted}"
            found[function.name] = function
    return found


def test_layouts_inside_a_major_are_interchangeable():
    for library in LIST.libraries.values():
        for struct, rows in library.structs.items():
            for major in (12, 13):
                letters = {letter for _, span, letter in rows if major in span.majors()}
                assert len(letters) <= 1, struct


@pytest.mark.parametrize("wanted", VERSIONS)
def test_per_thread_twins_are_like_their_base_names(wanted):
    names = rows("cudart", wanted)
    twins = [name for name in names if re.search("_pt[ds][sz]$", name)]
    assert len(twins) >= 58
    for twin in twins:
        base = names[twin[:-5]]
        assert names[twin].parameters == base.parameters, twin
        assert (names[twin].result, names[twin].hook) == (base.result, base.hook), twin
        # A family of twins is a family of base names.
        assert names[twin].family == base.family + twin[-5:], twin


def test_a_family_agrees_on_what_it_writes():
    """Equal types, equal directions; else the stub would treat outputs of one
    name otherwise than those of a name that does the same."""
    for library in LIST.libraries.values():
        families = {}
        for function in library.functions:
            families.setdefault(function.family, []).append(function)
        for members in families.values():
            directions = {}
            for function in members:
                types = tuple(re.sub("^(in|out|inout|buf) ", "* ", p) for p in function.parameters)
                assert directions.setdefault(types, function.parameters) == function.parameters
