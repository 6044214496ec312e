# SPDX-License-Identifier: MIT
"""ELF files with more of something than any has: it is read, or refused and never cut off."""
import json
import struct

import pytest

import build
import loadable
import shapes
from lazycuda import elf

TOOL = build.BUILD / "bin" / "lazycuda"
PRIVATE = "LAZYCUDA_1"


@pytest.fixture(scope="module")
def program():
    return build.compile("file", "-std=gnu11", "-D_GNU_SOURCE", "-g", *build.sanitizing(),
                         build.TESTS / "hostile" / "file.c", *build.room("stubs/base"), "-ldl")


@pytest.fixture
def ask(program, tmp_path):
    """ask(bytes, library): what is wrong with a file that might be this library, and what it is"""
    def ask(data, library="cudart"):
        file = tmp_path / "file.so"
        file.write_bytes(of_this_cpu(data))
        done = build.run(program, library, file, check=True)
        why, stub, soname = done.stdout.strip().split("|")
        return why, stub == "1", soname
    return ask


def of_this_cpu(data):
    machine = build.stub("cudart").read_bytes()[18:20]
    return data[:18] + machine + data[20:]


@pytest.fixture
def audit(tmp_path):
    def audit(data):
        file = tmp_path / "file.so"
        file.write_bytes(data)
        done = build.run(TOOL, "audit", "--json", file)
        said, = json.loads(done.stdout)["files"]
        return said["error"], [(each["needed"], each["names"]) for each in said["imports"]]
    return audit


def with_headers(data, count):
    """The file with this many program headers, most of them of no meaning, at its end."""
    begin, old = struct.unpack_from("<Q", data, 32)[0], struct.unpack_from("<H", data, 56)[0]
    headers = data[begin:begin + 56 * old] + bytes(56 * (count - old))
    end = data + bytes(-len(data) % 8)
    made = bytearray(end + headers)
    struct.pack_into("<Q", made, 32, len(end))
    struct.pack_into("<H", made, 56, count)
    return bytes(made)


# ---- version needs ----

def needing(count):
    files = [f"libcudart-{i}.so.12" for i in range(count)]
    return loadable.library(needed=files, imports=[("cudaMalloc", file, "libcudart.so.12")
                                                   for file in files])


def test_many_version_needs_are_all_read(audit):
    error, imports = audit(needing(257))
    assert error is None and len(imports) == 257
    assert all(names == 1 for _, names in imports)


def test_as_many_version_needs_as_an_index_can_tell(audit):
    # In the order of their names, the one that is wanted is the last.
    data = loadable.library(needed=["libcudart.so.12"], imports=[
        *[("other", "a", f"{i:x}") for i in range(0x7fff - 2)],
        ("cudaMalloc", "libcudart.so.12", "libcudart.so.12")])
    assert audit(data) == (None, [("libcudart.so.12", 1)])


@pytest.mark.parametrize("tag, at, layout, value", [
    *((loadable.VERNEEDNUM, None, "<Q", count) for count in (0, 1, 3, 2**32)),
    *((loadable.VERDEFNUM, None, "<Q", count) for count in (0, 1, 3)),
    *((loadable.VERNEED, 2, "<H", count) for count in (0, 2, 0xffff)),
    (loadable.VERNEED, 12, "<I", 0), (loadable.VERNEED, 16 + 12, "<I", 16), (loadable.VERDEF, 16, "<I", 0)])
def test_lists_of_versions_end_where_both_their_count_and_their_last_record_say(audit, tag, at, layout, value):
    data = bytearray(loadable.library(soname="libx.so", nodes=["A", "B"], imports=[
        ("cudaMalloc", "libcudart.so.12", "libcudart.so.12"), ("other", "libother.so", "OTHER")]))
    dynamic = struct.unpack_from("<Q", data, 120 + 8)[0]
    while struct.unpack_from("<Q", data, dynamic)[0] != tag:
        dynamic += 16
    assert audit(bytes(data))[0] is None and len(elf.Elf(bytes(data)).needs) == 2
    struct.pack_into(layout, data, dynamic + 8 if at is None else struct.unpack_from("<Q", data, dynamic + 8)[0] + at, value)
    kind = "needs" if tag in (loadable.VERNEED, loadable.VERNEEDNUM) else "definitions"
    with pytest.raises(elf.ElfError) as refused:
        _ = elf.Elf(bytes(data)).needs, elf.Elf(bytes(data)).defines
    assert str(refused.value) == audit(bytes(data))[0] == f"has damaged version {kind}"


# ---- tables ----

def test_the_symbols_end_where_a_table_begins_however_many_there_are(audit):
    # Without a hash table nothing says how many symbols there are.  Seven tables lie before
    # them, and behind them one whose bytes look like a symbol.
    strings = b"\0cudaMalloc\0cudaFree\0libcudart.so.12\0"

    def symbol(name):
        return struct.pack("<IBBHQQ", strings.index(name), 0x12, 0, 0, 0, 0)
    start = 64 + 2 * 56
    parts = [strings.ljust(40, b"\0"), bytes(24) + symbol(b"cudaMalloc"), symbol(b"cudaFree")]
    places = [start, start + 40, start + 88]
    others = [(tag, start) for tag in (4, 0x6ffffef5, 7, 23, 12, 13)]
    entries = [(loadable.STRTAB, start), *others, (loadable.SYMTAB, places[1]), (17, places[2]),
               (loadable.STRSZ, len(strings)), (loadable.NEEDED, strings.index(b"lib")), (0, 0)]
    contents = b"".join(parts) + b"".join(struct.pack("<qQ", *entry) for entry in entries)
    model = bytearray(loadable.library()[:start] + contents)
    struct.pack_into("<QQ", model, 64 + 32, len(model), len(model))
    dynamic = start + 112
    struct.pack_into("<QQQQQ", model, 120 + 8, dynamic, dynamic, dynamic, 16 * len(entries),
                     16 * len(entries))
    assert audit(bytes(model)) == (None, [("libcudart.so.12", 1)])


# ---- program headers, version nodes, names ----

@pytest.mark.parametrize("count, why", [(256, ""), (257, "has an unlikely number of segments")])
def test_many_program_headers(ask, audit, count, why):
    data = with_headers(loadable.library(soname="x", nodes=["libcudart.so.12"]), count)
    assert ask(data) == (why, False, "" if why else "libcudart.so.12")
    assert audit(data)[0] == (why or None)


@pytest.mark.parametrize("before, why", [(4095, ""), (4096, "has damaged version definitions")])
@pytest.mark.parametrize("node", ["libcudart.so.12", PRIVATE])
def test_many_version_nodes(ask, before, why, node):
    data = loadable.library(nodes=[*[f"N{i}" for i in range(before)], node])
    assert ask(data) == (why, not why and node == PRIVATE, "" if why or node == PRIVATE else node)


@pytest.mark.parametrize("size, why", [(27 << 20, ""), (65 << 20, "has a table of an unlikely size")])
def test_a_witness_behind_many_names(ask, size, why):
    data = loadable.library(soname="libcuda.so.1", more=["x" * size, "cuDriverGetVersion"])
    assert ask(data, "driver") == (why, False, "" if why else "libcuda.so.1")


def test_without_its_witness_it_is_not_that_library(ask):
    data = loadable.library(soname="libcuda.so.1", more=["x" * (2 << 20)])
    assert ask(data, "driver") == ("", False, "")


@pytest.mark.parametrize("tag", [loadable.SONAME, loadable.NEEDED, loadable.RUNPATH])
def test_a_name_outside_the_string_table(ask, audit, tag):
    data = loadable.library(soname="x", needed=["y"], runpath="z", nodes=["libcudart.so.12"])
    at = struct.unpack_from("<Q", data, 120 + 8)[0]     # of .dynamic
    while struct.unpack_from("<Q", data, at)[0] != tag:
        at += 16
    damaged = data[:at + 8] + struct.pack("<Q", 1 << 20) + data[at + 16:]
    assert ask(damaged)[0] == audit(damaged)[0] == "has a damaged dynamic section"


def test_relocations_however_many():
    # Of real libraries some have 100 MB.
    image = elf.Elf(shapes.READ_IN_PYTHON["relocations"](3 << 20))
    assert sum(1 for _ in image.relocations(image.relocation_tables()[0])) == 3 << 20
