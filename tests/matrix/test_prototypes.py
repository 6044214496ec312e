# SPDX-License-Identifier: MIT
"""An adaptor has the prototype of its slot: the compiler refuses any other."""
import re

import pytest

import build

ADAPTORS = build.ROOT / "stubs" / "cudart" / "adaptors"
ROWS = (ADAPTORS / "rows.h").read_text()
MEMORY = (ADAPTORS / "memory.c").read_text()
ROW = r"^\tSERVE(?:_BY)?\((\w+),\s+\w+(?:,\s+(\w+))?\)$"
EVERY_ERROR = "-ferror-limit=0" if "clang" in build.output(*build.CC, "--version") else "-fmax-errors=0"
FUNCTIONS = {function or slot for slot, function in re.findall(ROW, ROWS, re.M)}


def conflicts(text, *folders):
    """The adaptors in this source whose types are not those of their slots."""
    source = build.text(text, "c")
    with pytest.raises(build.CompileError) as error:
        build.compile("adaptor.o", "-std=gnu11", "-fPIC", EVERY_ERROR, "-c",
                      *(word for folder in (*folders, build.ROOT / "stubs", build.BUILT, ADAPTORS)
                        for word in ("-I", folder)), source)
    return set(re.findall(r"error: conflicting types for .?lc_adapt_(\w+)", str(error.value)))


def test_every_adaptor_is_declared_as_its_slot_is():
    assert ROWS.count("\tSERVE") == len(re.findall(ROW, ROWS, re.M)) > 100
    assert conflicts('#include "adaptors.h"\n' + "".join(
        f"struct other *lc_adapt_{function}(struct other *);\n" for function in FUNCTIONS)) == FUNCTIONS


# Plain functions, and functions that a macro writes for both default streams.
@pytest.mark.parametrize("old, new, functions", [
    ("Advise_11(void *pointer, uint64_t count, int32_t advice, int32_t device)",
     "Advise_11(void *pointer, uint64_t count, int32_t advice, int64_t device)", {"cudaMemAdvise_11"}),
    ("Advise_13(void *pointer, uint64_t count, int32_t advice,",
     "Advise_13(void *pointer, uint64_t count,", {"cudaMemAdvise_13"}),
    ("int32_t lc_adapt_cudaMemPrefetchAsync##suffix##_11(",
     "int64_t lc_adapt_cudaMemPrefetchAsync##suffix##_11(",
     {"cudaMemPrefetchAsync_11", "cudaMemPrefetchAsync_ptsz_11"}),
])
def test_an_adaptor_with_another_prototype_is_not_compiled(old, new, functions):
    assert MEMORY.count(old) == 1
    assert conflicts(MEMORY.replace(old, new)) == functions
