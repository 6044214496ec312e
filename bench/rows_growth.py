# SPDX-License-Identifier: MIT
"""How the work for a file grows: for each kind of container, and for those that were
made to harm, instructions of a file of four times a size beside one of twice."""
import functools
import pathlib
import sys
import tempfile

import measure
from measure import LIB, ROOT, WORK, Row, compile

TESTS = ROOT / "tests"
sys.path[:0] = [str(TESTS / "growth"), str(TESTS / "inspection")]
import shapes  # noqa: E402

SIZE = 128_000      # bytes of the smallest, about: many times the block that is read at once


def program():
    return compile("growth", "-I", ROOT / "include", TESTS / "growth" / "growth.c",
                   LIB / "liblazycuda_link.so", f"-Wl,-rpath,{LIB}")


@functools.lru_cache(maxsize=None)
def instructions():
    """{(name, times): instructions}: all in one run, which takes less than each by itself."""
    made = {}
    with tempfile.TemporaryDirectory(dir=WORK) as folder:
        for name, make in shapes.SHAPES.items():
            for times in (1, 2, 4):
                made[name, times] = pathlib.Path(folder) / f"{len(made)}"
                made[name, times].write_bytes(shapes.sized(make, SIZE, times))
        counts = measure.callgrinds("measured", program(), *made.values())
    return dict(zip(made, counts))


def growing(name):
    """What the second half of a file takes beside what the quarter before it took, in
    thousands; what is less than an eighth of the whole is nothing."""
    one, two, four = (instructions()[name, times] for times in (1, 2, 4))
    return [(max(four - two, two / 8) / 1000, max(two - one, two / 8) / 1000)]


GROUPS = {
    "A file of four times the size / twice, instructions": [
        Row(name, "k", 2.5, functools.partial(growing, name)) for name in shapes.SHAPES
    ],
}
