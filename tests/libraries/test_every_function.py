# SPDX-License-Identifier: MIT
"""Every function of every stub of libraries/, called by callers of every major: on a fake of every
major, and where there is no library.  What has to become of a call is worked out from the lists by
rules of their own."""
import functools
import re

import pytest

import build
import library_lists
from library_lists import ABSENT, FORWARDED, REFUSED

# enum lazycuda_cause.
CAUSES = {ABSENT: 2, REFUSED: 3}
# cuFile's functions return a struct that begins with one.
STATUSES = ("status", "CUfileError")
PAIRS = [(name, caller, there) for name in library_lists.NAMES
         for made in [library_lists.read(name)]
         for caller in made.sonames for there in made.sonames]


@functools.lru_cache(maxsize=None)
def fake(name, of):
    """The newest library of this major; each function returns and notes its number.  It has an
    exit handler, as real ones have."""
    made = library_lists.read(name)
    numbers = {one: number for number, one in enumerate(made.exported(of), 1000)}
    source = "int fake_called;\n#define F(name, n) long name(void) { fake_called = n; return n; }\n"
    source += "".join(f"F({one}, {number})\n" for one, number in numbers.items())
    source += ("#include <stdlib.h>\nstatic void end(void) { }\n"
               "__attribute__((constructor)) static void begin(void) { atexit(end); }\n")
    nodes = made.nodes.get(of, []) if "nodes" in made.words else [made.sonames[of]]
    plain = not nodes
    script = "" if plain else f"{nodes[0]} {{ global: *; }};\n" + "".join(
        f"{node} {{ global: {node.replace('.', '_')}_; }} {nodes[0]};\n" for node in nodes[1:])
    source += "".join(f"void {node.replace('.', '_')}_(void) {{ }}\n" for node in nodes[1:])
    flags = () if plain else (f"-Wl,--version-script={build.text(script, 'map')}",)
    file = build.compile(made.sonames[of], "-O0", "-w", "-fno-builtin", "-shared", "-fPIC",
                         f"-Wl,-soname,{made.sonames[of]}", *flags, build.text(source, "c"))
    return file, numbers


def calls(world, name, major, real="-", **env):
    """{function: (what it returned, the number of what was called, the cause)}"""
    made = library_lists.read(name)
    node = made.sonames[major] if made.words.get("nodes") is None else "-"
    names = world.root / "names"
    names.write_text("".join(f"{one}\n" for one in made.names(major)))
    lines = world.versioned("every", library_lists.stub(name), node, name, real, names, **env)
    return {words[0]: tuple(int(word) for word in words[1:]) for words in map(str.split, lines)}


def low(value, bits=32):
    """Of a register, what an int is; or a number of 64 bits."""
    return (value & (1 << bits) - 1) - (value << 1 & 1 << bits)


def said_so(row, returned, error):
    """Whether the caller of a function that can say it is told the error."""
    if row.negative:
        return low(returned, int(row.result[1:])) == -abs(error)
    return row.result not in STATUSES or low(returned) == error


@pytest.mark.parametrize("name, major, there", PAIRS)
def test_on_a_library(world, name, major, there):
    made = library_lists.read(name)
    file, numbers = fake(name, there)
    world.loader(file)
    said = calls(world, name, major, world.root / "loader" / file.name)
    assert len(said) == len(made.names(major))
    for one in made.names(major):
        fate, (returned, called, cause) = made.fate(one, major, there), said[one]
        if fate == FORWARDED:
            assert (one, called) == (one, numbers[one])
            continue
        assert (one, called, cause) == (one, 0, CAUSES[fate])
        assert said_so(made.rows[one, major], returned, made.errors[fate, major]), (one, returned)


@pytest.mark.parametrize("name, major", sorted({pair[:2] for pair in PAIRS}))
def test_without_a_library(world, name, major):
    made = library_lists.read(name)
    for one, (returned, called, cause) in calls(world, name, major).items():
        row = made.rows[one, major]
        assert (one, called, cause) == (one, 0, 1)
        if row.text:
            assert returned, one
        elif row.negative or row.result in STATUSES:
            assert said_so(row, returned, made.errors["missing", major]), (one, returned)
        elif row.result in ("ptr", "i64", "u64", "i32", "u32"):
            assert (one, returned) == (one, 0)


GIVE_BACK = re.compile(r"(Destroy|Free|Close|Deregister|Unload|Shutdown)(?![a-z])")
WORK = re.compile(r"(Get|Set|Create|Add|Init|Alloc|Malloc|Execute|Exec|BackendFinalize)(?![a-z])")


@pytest.mark.parametrize("name", library_lists.NAMES)
def test_once_exit_has_begun_to_shut_the_library_down(world, name):
    """What gives something back succeeds, and nothing reaches the library."""
    made = library_lists.read(name)
    major = max(made.sonames)
    file, numbers = fake(name, major)
    world.loader(file)
    said = calls(world, name, major, world.root / "loader" / file.name, AT_EXIT="1")
    assert len(said) == len(made.names(major))
    for one, (returned, called, cause) in said.items():
        row = made.rows[one, major]
        assert (one, called) == (one, 0)
        if one not in numbers or row.result not in STATUSES or row.text:
            continue
        gives_back, works = GIVE_BACK.search(one), WORK.search(one)
        if low(returned) == 0:
            assert not works or gives_back, one
        else:
            assert (one, low(returned), cause) == (one, made.errors["missing", major], 7)
            assert works or not gives_back, one


@pytest.mark.parametrize("library, name", [("nccl", "pncclGetLastError"), ("nppc", "nppGetGpuName")])
def test_these_hand_out_a_text(library, name):
    """Their callers print it; headers do not tell it apart from another address."""
    assert {row.text for (one, _), row in library_lists.read(library).rows.items()
            if one == name and row.result == "ptr"} == {True}


@pytest.mark.parametrize("name", ["cuptiGetResultString", "cuptiGetErrorMessage"])
def test_a_text_that_is_written(world, name):
    """nvidia-resiliency-ext throws an exception with the text, whatever is returned."""
    missing, known, unknown = world.versioned(
        "text", library_lists.stub("cupti"), "libcupti.so.12", name, 15, 1, 4321)
    assert missing.startswith("15 ") and "no usable libcupti.so.13" in missing
    assert known == "15 CUPTI_ERROR_INVALID_PARAMETER"
    assert unknown.startswith("15 ") and "libcupti" in unknown
