# SPDX-License-Identifier: MIT
"""What one stub found out is shared with those alone that have it laid out the same way."""
import hashlib
import re
import struct

import pytest

import build
import elf
from fakes import fake
from syscalls import between, system_calls
from world import CALL, probe

KNOWN_H = (build.ROOT / "stubs/loader/known.h").read_text()
NUMBER = int(re.search(r"#define LC_KNOWN_NUMBER (\d+)u", KNOWN_H)[1])
# What the structs were, for each number that there has been since a test looks at them.
STRUCTS = {2: "1dec1b50d7dc3baa", 3: "2387ce35fff85d7f", 4: "e02ae44e0bee20a9",
           5: "7ec1e8556feb6534", 6: "ce54600becbc14c4", 7: "f052c0f65c6d32d4"}
# These are read across releases, and have rules of their own: stubs/loader/peers.h.
SETTLED = {"lc_peer", "lc_library", "lc_specifics", "lc_aside", "lc_adaptor"}


def sources():
    rooms = ("entry", "base", "loader")
    text = "\n".join(file.read_text() for room in rooms
                     for file in sorted((build.ROOT / "stubs" / room).glob("*.[ch]")))
    return re.sub(r"/\*.*?\*/", "", text, flags=re.S)


def structs():
    """{name: what it holds} of lc_known and all that it leads to."""
    text, found, wanted = sources(), {}, ["lc_known"]
    bodies = dict(re.findall(r"^(?:struct|enum) (\w+) \{(.*?)\n\}", text, re.S | re.M))
    numbers = dict(re.findall(r"^#define (LC_\w+) (\w+)$", re.sub(r"[ \t]+$", "", text, flags=re.M),
                              re.M))
    while wanted:
        name = wanted.pop()
        if name in found or name in SETTLED or name not in bodies:
            continue
        body = re.sub(r"\bLC_\w+", lambda word: numbers.get(word[0], word[0]), bodies[name])
        found[name] = " ".join(body.split())
        wanted += re.findall(r"\b(?:struct|enum) (\w+)", body)
    return found


def test_a_changed_struct_has_a_new_number():
    found = structs()
    assert {"lc_way", "lc_folder", "lc_sought", "lc_survey", "lc_option", "lc_arena", "lc_chunk",
            "lc_user", "lc_ldcache"} <= set(found)
    text = "\n".join(f"{name}: {found[name]}" for name in sorted(found))
    assert STRUCTS[NUMBER] == hashlib.sha256(text.encode()).hexdigest()[:16], \
        "LC_KNOWN_NUMBER is to be one higher, with a row here"


LAYOUT = 72     # its offset in struct lc_peer


def with_layout(world, change):
    """The stub of nvrtc, whose record has another layout."""
    folder = world.put("other", build.stub("nvrtc"))
    file = folder / build.stub_name("nvrtc")
    symbols = elf.readelf("--dyn-syms", file)
    address = int(re.search(r"(\w+) .* lazycuda_stub_1\b", symbols)[1], 16)
    # Segments: where they are in the file, and in memory.
    places = [[int(word, 16) for word in row.split()] for row in re.findall(
        r"LOAD\s+(\w+ \w+ \w+ \w+)", elf.readelf("-l", file))]
    offset = next(address - memory + start for start, memory, _, size in places
                  if memory <= address < memory + size)
    image = bytearray(file.read_bytes())
    layout = struct.unpack_from("I", image, offset + LAYOUT)[0]
    assert layout >> 16 == NUMBER
    struct.pack_into("I", image, offset + LAYOUT, change(layout))
    file.write_bytes(image)
    return file


def looks(world, second):
    """How often the second stub's first call looks for its library."""
    first = f"call:{CALL['cudart']}"
    calls = system_calls(world, probe(world.cc), f"open:{build.stub('cudart')}", f"open:{second}",
                         "shell:sleep 0.1", first, "mark:from", "load:nvrtc", "mark:to")
    return between(calls, "from", "to").count("libnvrtc.so.13")


@pytest.mark.parametrize("change", [lambda layout: layout + (1 << 16), lambda layout: layout + 8],
                         ids=["number", "size"])
def test_another_layout_is_left_alone(world, change):
    assert looks(world, build.stub("nvrtc")) == 0
    other = with_layout(world, change)
    assert looks(world, other) > 0
    world.loader(fake("nvrtc", "12.9"), fake("cudart", "12.9"))
    *_, status = world.probe("stub:cudart", f"open:{other}", f"call:{CALL['cudart']}", "load:nvrtc",
                             "status:nvrtc")
    assert (status["state"], status["version"]) == ("usable", "12.9")
