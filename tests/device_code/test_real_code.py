# SPDX-License-Identifier: MIT
"""PTX, cubins and LTO-IR of real compilers, for every architecture they know."""
import re
import struct

import pytest

import build

RELOCATABLE, LINKED, DEBUG, NO_ROOT = 0x01, 0x02, 0x20, 0x200


def files(folder, ending, name="[kh]"):
    """(architecture, file) of each."""
    found = [(re.match(r"\w_(\w+)\.", file.name)[1], file)
             for file in sorted(folder.glob(f"{name}_*.{ending}"))]
    assert found
    return found


def number(version):
    major, minor = map(int, version.split("."))
    return 1000 * major + 10 * minor


def test_ptx(toolkit, produced, read):
    for arch, file in files(produced, "ptx"):
        entry = read(file)
        assert (entry.wrong, entry.headers, entry.kind) == (None, None, "ptx"), file
        assert entry.arch == arch
        assert entry.toolkit == number(toolkit.version)
        assert f".version {entry.isa // 10}.{entry.isa % 10}\n" in file.read_text()
        assert entry.flags == RELOCATABLE


@pytest.mark.parametrize("name, flags", [
    ("[kh]", RELOCATABLE), ("[ef]", LINKED), ("[lns]", RELOCATABLE), ("d", RELOCATABLE | DEBUG)])
def test_cubins(toolkit, produced, read, name, flags):
    for arch, file in files(produced, "cubin", name):
        entry = read(file)
        assert (entry.wrong, entry.error, entry.kind) == (None, None, "cubin"), file
        # Nothing in a cubin tells sm_100f from sm_100.
        assert entry.arch == arch.removesuffix("f"), file
        assert entry.toolkit == number(toolkit.version), file
        assert entry.abi == (8 if toolkit.major >= 13 or int(arch.rstrip("af")) >= 100 else 7)
        # Whether a unit without a kernel keeps something alone depends on its toolkit.
        assert entry.flags & ~(NO_ROOT if name == "[lns]" else 0) == flags


def test_ltoir(toolkit, produced, read):
    for arch, file in files(produced, "ltoir"):
        entry = read(file)
        assert (entry.wrong, entry.kind, entry.level) == (None, "ltoir", 1), file
        assert entry.arch == arch.removesuffix("f"), file
        assert entry.toolkit == number(toolkit.version)
        numbers = struct.unpack_from("8B", file.read_bytes(), 4)
        assert [entry.container, entry.ir, entry.debug, entry.llvm] == [
            1000 * major + minor for major, minor in zip(numbers[::2], numbers[1::2])]
        assert entry.flags == RELOCATABLE


def test_optixir_is_told_from_ltoir(toolkit, produced, read):
    if toolkit.major < 12:
        pytest.skip("nvrtc 11 makes no OptiX-IR")
    entry = read(produced / "o_80.optixir")
    assert (entry.wrong, entry.kind, entry.level) == (None, "optixir", 2)
    assert entry.toolkit == number(toolkit.version)


def readelf_symbols(file):
    """{name: as the reader says it}, of what readelf says."""
    symbols = {}
    for line in build.output("readelf", "-sW", file).splitlines():
        found = re.match(r"\s*\d+: \w+ +\w+ +(?:<.*?>: )?\w+ +(GLOBAL|WEAK) +\w+ +"
                         r"(?:\[<other>: (\w+)\] +)?(\w+) (\S+)$", line)
        if not found:
            continue
        bind, other, section, name = found.groups()
        other = int(other or "0", 16)
        # Memory that a launch sizes, and what tools look for and can do without.
        if section == "UND" and (bind == "WEAK" or other & 0xe0 == 0x40 or name[0] == "."):
            continue
        symbols[name] = (("needed" if section == "UND" else "defined") +
                         ("-weak" if bind == "WEAK" else "") + ("-kernel" if other & 0x10 else ""))
    return symbols


def test_symbols_of_cubins_are_those_that_readelf_finds(produced, read):
    for _, file in files(produced, "cubin", "[khef]"):
        assert read(file).symbols == readelf_symbols(file), file


def test_ptx_has_the_symbols_of_its_cubin(produced, read):
    for _, file in files(produced, "ptx"):
        symbols = read(file).symbols
        # Some that compilers add are weak and stand in every cubin.
        assert symbols == {name: how for name, how in
                           read(file.with_suffix(".cubin")).symbols.items()
                           if not name.startswith("__nv_reservedSMEM_")}, file
        if file.name[0] == "k":
            assert symbols["kernel"] == "defined-kernel"
            assert symbols["_Z6helperi"] == symbols["elsewhere"] == "needed"
            assert "hidden" not in symbols and "dynamic" not in symbols
