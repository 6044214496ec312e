# SPDX-License-Identifier: MIT
"""Lists as long as anybody likes, of libraries that there are not, and what their calls become."""
from fakes import answer

TOOLKITS = "30.0 30.1 31.0 31.1 32.0 32.1"
MAJORS = (30, 31, 32)
MISSING, ABSENT, REFUSED = 11, 12, 13
STRUCTS = 100

HEAD = """
library {name}
    stub lib{name}_stub.so
    soname lib{name}.so.30 30.0-30.1
    soname lib{name}.so.31 31.0-31.1
    soname lib{name}.so.32 32.0-
    folder nvidia/cu30/lib 30.0-30.1
    folder nvidia/cu31/lib 31.0-31.1
    folder nvidia/cu32/lib 32.0-
    variable {upper}
    error missing 11
    error absent 12
    error refused 13
    error driver 14
    error incoherent 15
    status {name}Status

enum {name}Status
    {name}Ok 0 30.0-
    {name}Bad 1 31.0-
"""
STRUCT = """
struct {name}S{i}
    size 24 30.0-30.1 layout A
    size 32 31.0- layout B
    .a u64 0 30.0-
    .b ptr 8 30.0-
    .c i32 16 30.0-30.1
    .c i32 24 31.0-
    .d u64 16 31.0-
"""


def rows(name, i):
    """The rows of five names: one of each thing that can become of a name."""
    first = (f"plain{i} 30.0- (ptr, u32, out u64)" if i % 2 else
             f"gone{i} 30.0-31.0 (ptr, u32)")
    return [first, f"changed{i} 30.0-30.1 (ptr, u32)", f"changed{i} 31.0- (ptr, u64, u32)",
            f"moved{i} 30.0-31.1 (ptr)", f"moved{i} 32.0- (ptr, u32)",
            f"moved{i}_v2 30.1-31.1 (ptr, u32) family moved{i}",
            f"byvalue{i} 30.0- (ptr, {name}S{i % STRUCTS}, u32)"]


def library(name, names):
    """A section of that many names."""
    functions = [row for i in range(names // 5) for row in rows(name, i)]
    return "".join([HEAD.format(name=name, upper=name.upper()),
                    *[STRUCT.format(name=name, i=i) for i in range(STRUCTS)],
                    "\nfunctions\n", *[f"    {row}\n" for row in functions]])


def text(*sections):
    return f"toolkits {TOOLKITS}\n" + "".join(sections)


# ---- a library of 31.1, and its callers ----

VERSION = "31.1"


def exports(names):
    """What it exports."""
    return [name for i in range(names // 5) for name in (
        *([f"plain{i}"] if i % 2 else []), f"changed{i}", f"moved{i}", f"moved{i}_v2",
        f"byvalue{i}")]


def calls(library, names):
    """[(name, caller's major, what it gives)] of every name of every major."""
    def forwarded(name):
        return answer(library, name, VERSION)

    for i in range(names // 5):
        for major in MAJORS:
            old = major == 30
            if i % 2:
                yield f"plain{i}", major, forwarded(f"plain{i}")
            elif major < 32:
                yield f"gone{i}", major, ABSENT
            yield f"changed{i}", major, REFUSED if old else forwarded(f"changed{i}")
            yield f"byvalue{i}", major, REFUSED if old else forwarded(f"byvalue{i}")
            # 32 gave the name without a suffix to what had one.
            yield f"moved{i}", major, forwarded(f"moved{i}" + "_v2" * (major == 32))
            if major < 32:
                yield f"moved{i}_v2", major, forwarded(f"moved{i}_v2")
