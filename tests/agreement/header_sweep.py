#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Cubins with one wrong byte in the ELF header, or one wrong field in a section header: what
the plan refuses, and what the real nvJitLink makes of the rest.  Kept as a table, headers.txt.

    tests/agreement/header_sweep.py [--every N]

writes it, with the real libraries in build/toolkits: 40 values of every byte and every field of
ten cubins, each on the nvJitLinks in LINKED.  With N, every Nth change alone is tried, and the
rows are only printed.  Exit status: 1 if a link that the plan
accepts crashes or hangs.
"""
import argparse
import collections
import pathlib
import struct
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "lib")]
import linkers  # noqa: E402
import plans  # noqa: E402
import samples  # noqa: E402
from cubin_shapes import Cubin, Shape  # noqa: E402

TABLE = HERE / "headers.txt"
LINKED = ("12.9", "13.0", "13.3", "13.5")
CUBINS = tuple(Shape(*words.split()) for words in (
    "12.9 sm_80 small plain", "12.9 sm_80 calls lineinfo", "12.9 sm_90a textures debug",
    "12.9 sm_100f weak plain", "12.9 sm_120 pointers lineinfo", "13.0 sm_80 printing debug",
    "13.0 sm_100f variables plain", "13.3 sm_90a recursion lineinfo", "13.5 sm_80 managed plain",
    "13.5 sm_120 switches debug"))
VALUES = 40
HEADER, SECTION = 64, 64
# Of a section header: (name, where, how many bytes).
FIELDS = (("sh_name", 0, 4), ("sh_type", 4, 4), ("sh_flags", 8, 8), ("sh_addr", 16, 8),
          ("sh_offset", 24, 8), ("sh_size", 32, 8), ("sh_link", 40, 4), ("sh_info", 44, 4),
          ("sh_addralign", 48, 8), ("sh_entsize", 56, 8))
HARM = ("crash", "hang")
# What fits into plans.c.
AT_A_TIME = 8000
SECONDS = 10


def values(old, width, sections, size):
    """40 of the values that these bytes do not have: the nearest, one bit wrong, indexes of
    sections, places in the file and behind it, the ends of each type; then evenly spread."""
    most = (1 << 8 * width) - 1
    bits = [old ^ 1 << bit for bit in range(0, 8 * width, max(1, width // 2))]
    likely = [0, most, old - 1, old + 1, *bits[:16], 1, sections - 1, sections, sections + 1,
              size - 1, size, size + 1, 0xff, 0x7f, 0x80, 0xffff, 0x7fffffff, 0xffffffff,
              2 * old, old // 2, 3, 8, 1 << 40, most >> 1, most - old]
    spread = (old + most * step // 61 for step in range(1, 61))
    found = dict.fromkeys(value & most for value in [*likely, *spread] if value >= 0)
    found.pop(old, None)
    return list(found)[:VALUES]


def changes(data):
    """(where, offset, bytes) of every change."""
    at, = struct.unpack_from("<Q", data, 0x28)
    names = [section.text or "0" for section in Cubin(data).sections]
    places = [(f"byte {byte} of the ELF header", byte, 1) for byte in range(HEADER)]
    places += [(f"{name} of {text}", at + SECTION * index + start, width)
               for index, text in enumerate(names) for name, start, width in FIELDS]
    for name, offset, width in places:
        old = int.from_bytes(data[offset:offset + width], "little")
        for value in values(old, width, len(names), len(data)):
            yield f"{name} is {value:#x}", offset, value.to_bytes(width, "little")


def tried(shape, folder, every, linked):
    """{linker: Counter of what became of each change}, and what harmed: [(linker, change, how)]"""
    data = shape.path.read_bytes()
    chosen = list(changes(data))[::every]
    partner = [shape.partner()] if shape.partner() else []
    counts, harm = {linker: collections.Counter() for linker in linked}, []
    for start in range(0, len(chosen), AT_A_TIME):
        files = []
        for index, (name, offset, new) in enumerate(chosen[start:start + AT_A_TIME]):
            file = folder / f"{index}.cubin"
            file.write_bytes(data[:offset] + new + data[offset + len(new):])
            files.append((name, file))
        for linker in linked:
            asks = {name: plans.Ask(linker, shape.arch, [file, *(one.path for one in partner)])
                    for name, file in files}
            said = plans.run(asks.values())
            inputs = {name: [(shape.kind, file), *((one.kind, one.path) for one in partner)]
                      for name, file in files if said[asks[name]].ok}
            counts[linker]["refused"] += len(files) - len(inputs)
            jobs = [linkers.Job(linker, said[asks[name]].options, some)
                    for name, some in inputs.items()]
            answers = linkers.ask(linkers.portions(linker, jobs), SECONDS)
            for name, job in zip(inputs, jobs):
                how = answers[job].split()[0]
                counts[linker][how] += 1
                if how in HARM:
                    harm.append((linker, name, answers[job]))
    return counts, harm


def sweep(cubins, every, linkers_):
    """(rows of the table, what harmed) of each cubin."""
    samples.make([*cubins, *(shape.partner() for shape in cubins if shape.partner())])
    for shape in cubins:
        linked = [one for one in linkers_ if samples.key(one) >= samples.key(shape.version)]
        with tempfile.TemporaryDirectory() as folder:
            counts, harm = tried(shape, pathlib.Path(folder), every, linked)
        yield ([f"{shape} on {linker} | {sum(found.values())} | " +
                ", ".join(f"{found[what]} {what}" for what in sorted(found))
                for linker, found in counts.items()],
               [f"{shape} on {linker}: {name}: {answer}" for linker, name, answer in harm])


def main():
    words = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    words.add_argument("--every", type=int, default=1, metavar="N")
    every = words.parse_args().every
    rows, harmful = [], 0
    for some, harm in sweep(CUBINS, every, LINKED):
        print(*some, *harm, sep="\n", flush=True)
        rows += some
        harmful += len(harm)
    if every == 1:
        TABLE.write_text("".join(f"{line}\n" for line in rows))
    return harmful > 0


if __name__ == "__main__":
    sys.exit(main())
