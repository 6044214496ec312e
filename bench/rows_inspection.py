# SPDX-License-Identifier: MIT
"""Inspecting, beside reading and copying the same bytes: rows for bench.py.

Each function takes what bench.py has for it: run(*command) gives the output of
a command, compile(target, *arguments) builds a program, interleaved and ratio
take and sum up samples.
"""
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIB = ROOT / "build" / "lib"
MIB, ENTRIES = 500, 8000


def program(compile):
    return compile("inspection", "-I", ROOT / "include", ROOT / "bench/inspection.c",
                   LIB / "liblazycuda_link.so", f"-Wl,-rpath,{LIB}")


def library_file(run, compile, interleaved, ratio, work):
    """A shared library of 500 MB, inspected and read() once, both from the page
    cache; A and B are milliseconds."""
    inspection, library = program(compile), work / "large.so"
    run(inspection, "make", library, MIB, ENTRIES)
    try:
        pairs = interleaved(lambda: 1e3 * float(run(inspection, "file", library)),
                            lambda: 1e3 * float(run(inspection, "read", library)), 9)
    finally:
        library.unlink()
    return ratio(pairs) | {"unit": "ms", "limit": "A: 500 ms"}


def memory(run, compile, ratio, count=9):
    """A container of 100 MB in memory, inspected with its payloads and copied
    once; A and B are milliseconds."""
    inspection = program(compile)
    samples = [[1e3 * float(word) for word in run(inspection, "memory", 100, ENTRIES).split()]
               for _ in range(count)]
    return ratio([(inspected, copied) for copied, inspected in samples]) | {
        "unit": "ms", "limit": "1 (memory speed)"}
