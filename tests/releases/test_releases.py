# SPDX-License-Identifier: MIT
"""Stubs of several releases in one process, as two wheels bring them that were made at different
times.  The other release's is today's with another record: another name of its release, or more
fields than are known today (stubs/loader/peers.h)."""
import re
import struct

import pytest

import build
import elf
from fakes import fake
from syscalls import between, system_calls
from world import CALL, probe

VERSION = re.search(r"^VERSION := (.*)$", (build.ROOT / "Makefile").read_text(), re.M)[1]
PAIR = ("nvrtc", "nvJitLink")


def another_release(image, _record):
    """Its structs may be laid out in another way."""
    return image.replace(b"\0" + VERSION.encode() + b" ", b"\0" + b"9" * len(VERSION) + b" ")


def larger(image, record):
    """It has fields that nobody here knows."""
    size, = struct.unpack_from("I", image, record)
    struct.pack_into("I", image, record, size + 64)
    return image


CHANGES = pytest.mark.parametrize("change", [another_release, larger])


def changed(world, library, change):
    """The stub of a library, with another record."""
    folder = world.put("other", build.stub(library))
    file = folder / build.stub_name(library)
    address = int(re.search(r"(\w+) .* lazycuda_stub_1\b", elf.readelf("--dyn-syms", file))[1], 16)
    # Segments: where they are in the file, and in memory.
    places = [[int(word, 16) for word in row.split()] for row in re.findall(
        r"LOAD\s+(\w+ \w+ \w+ \w+)", elf.readelf("-l", file))]
    record = next(address - memory + start for start, memory, _, size in places
                  if memory <= address < memory + size)
    before = file.read_bytes()
    file.write_bytes(change(bytearray(before), record))
    assert file.read_bytes() != before
    return file


@CHANGES
@pytest.mark.parametrize("called_first", PAIR)
def test_they_agree_on_a_major(world, change, called_first):
    # The highest of each would be nvrtc 13 with nvJitLink 12.
    for library, version in (("nvrtc", "13.5"), ("nvrtc", "12.9"), ("nvJitLink", "12.9")):
        world.loader(fake(library, version))
    called = sorted(PAIR, key=lambda library: library != called_first)
    said = world.probe(f"open:{changed(world, 'nvrtc', change)}", "stub:nvJitLink",
                       *[f"call:{CALL[library]}" for library in called],
                       *[f"status:{library}" for library in PAIR])
    assert [status["major"] for status in said[-2:]] == [12, 12]


def looks(world, second):
    """How often the second stub's first call looks for its library."""
    first = f"call:{CALL['cudart']}"
    calls = system_calls(world, probe(world.cc), "open:" + str(build.stub("cudart", world.stubs)),
                         f"open:{second}", "shell:sleep 0.1", first, "mark:from", "load:nvrtc", "mark:to")
    return between(calls, "from", "to").count("libnvrtc.so.13")


@pytest.mark.usefixtures("stubs_apart")
def test_what_one_found_out_is_for_its_own_release_alone(world):
    assert looks(world, build.stub("nvrtc", world.stubs)) == 0
    assert looks(world, changed(world, "nvrtc", another_release)) > 0
