# SPDX-License-Identifier: MIT
"""An adaptor has the prototype of its slot: the compiler refuses any other."""
import re

import pytest

import build

ADAPTORS = build.ROOT / "stubs" / "cudart" / "adaptors"
ROWS = (ADAPTORS / "rows.h").read_text()
ROW = r"^\tSERVE(?:_BY)?\((\w+), \w+(?:, (\w+))?\)$"
EVERY_ERROR = "-ferror-limit=0" if "clang" in build.output(*build.CC, "--version") else "-fmax-errors=0"


def test_every_adaptor_is_declared_as_its_slot_is():
    functions = {f"{slot}_{how}" if how else slot for slot, how in re.findall(ROW, ROWS, re.M)}
    assert ROWS.count("\tSERVE") == len(re.findall(ROW, ROWS, re.M)) > 100
    source = build.text('#include "adaptors.h"\n' + "".join(
        f"struct other *lc_adapt_{function}(struct other *);\n" for function in functions), "c")
    with pytest.raises(build.CompileError) as error:
        build.compile("adaptor.o", "-std=gnu11", "-fPIC", EVERY_ERROR, "-c", "-I",
                      build.ROOT / "stubs", "-I", build.BUILT, "-I", ADAPTORS, source)
    assert set(re.findall(r"error: conflicting types for .?lc_adapt_(\w+)", str(error.value))) == functions
