# SPDX-License-Identifier: MIT
"""Stubs inside one's own program, beside the shims of Implib.so, whose folder IMPLIB names."""
import functools
import os
import subprocess
import sys

import measure
import rows_calls
import rows_first
from measure import BENCH, BUILD, NEWEST, WORK, Row, compile, run


def shims(library, opened):
    """Its sources for a library, of which another file may be opened."""
    if "IMPLIB" not in os.environ:
        raise measure.Unmeasured("there is no IMPLIB=/path/to/Implib.so")
    folder = WORK / "implib" / str(opened).replace("/", "-")
    folder.mkdir(parents=True, exist_ok=True)
    run(sys.executable, f"{os.environ['IMPLIB']}/implib-gen.py", "-q", "--target", os.uname().machine,
        "--library-load-name", opened, "-o", folder, library)
    return sorted(folder.iterdir())


def stubs(version):
    major = version.partition(".")[0]
    run(BUILD / "bin/lazycuda", "embed", "--cuda", major, "-o", WORK / f"stubs{major}.c", "cudart")
    return [WORK / f"stubs{major}.c"]


def both(make, version, library, opened=None):
    """What is made of the stubs, and of the shims."""
    other = shims(library, opened or library)
    return make("stubs", *stubs(version)), make("shims", *other)


def size():
    def stripped(name, *sources):
        return compile(f"{name}.so", "-shared", "-fPIC", "-Os", "-s", *sources, "-ldl").stat().st_size / 1024
    return [both(stripped, NEWEST, measure.real(NEWEST)["cudart"])]


def call():
    library = measure.tiny()
    made = both(functools.partial(rows_calls.program, rows_calls.SYNCHRONIZE), NEWEST, library)
    return *made, {"LAZYCUDA_CUDART": str(library)}


def first_call(version, opened=None):
    library = measure.real(version)["cudart"]

    def program(name, *sources):
        return compile(f"first-{name}-{version}", BENCH / "first.c", "-rdynamic", *sources, "-ldl")
    made = both(program, version, library, opened)
    env = rows_first.search_path(library.parent)
    try:
        return measure.interleaved(*(lambda one=one: sum(map(float, run(one, "stub", **env).split()))
                                     for one in made), 25)
    except subprocess.CalledProcessError:
        raise measure.Unmeasured("there is no answer of the shims: they abort") from None


GROUPS = {
    "Embedded, beside Implib.so": [
        Row("cudart: stubs / shims", "KiB", 5, size),
        rows_calls.row("does nothing: stubs / shims", 1, 0, call),
        *(Row(f"the first call, {version}: stubs / shims", "us", 4, functools.partial(first_call, version))
          for version in ("12.9", NEWEST)),
        Row("the first call, no library: stubs / shims", "us", 4,
            functools.partial(first_call, NEWEST, "/nonexistent/libcudart.so")),
    ],
}
