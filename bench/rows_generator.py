# SPDX-License-Identifier: MIT
"""What a name costs the generator, as the list gets longer."""
import functools
import re

import measure
from measure import BUILD, ROOT, WORK, Row

GEN = BUILD / "gen" / "gen"
SHORT, LONG, LONGEST = 465, 5000, 50000


@functools.lru_cache(maxsize=None)
def listed(count):
    """The path of a list of one library with so many names: those of the runtime, less and
    less, or again and again under other names."""
    head, _, rest = (ROOT / "symbols.txt").read_text().partition("\nlibrary cudart\n")
    library, _, functions = rest.partition("\nlibrary ")[0].partition("\nfunctions\n")
    rows = {}
    for row in functions.splitlines():
        rows.setdefault(row.split()[0], []).append(row) if row.strip() else None
    plain = [name for name, own in rows.items()
             if len(own) == 1 and not re.search(r"\b(family|hook|apart|undeclared)\b", own[0])]
    for i in range(count - len(rows)):
        name = plain[i % len(plain)]
        copy = f"{name}_{i // len(plain)}"
        rows[copy] = [rows[name][0].replace(name, copy, 1)]
    for name in plain[:max(0, len(rows) - count)]:
        del rows[name]
    made = WORK / f"symbols-{count}.txt"
    made.write_text("\n".join([head, "library cudart", library, "functions",
                               *(row for name in sorted(rows) for row in rows[name]), ""]))
    return made


def command(count):
    folder = WORK / f"generated-{count}"
    folder.mkdir(exist_ok=True)
    return GEN, "-o", folder, listed(count)


def time_of(count):
    """Microseconds of the processor for one name."""
    return 1e6 * measure.processor_time(*command(count)) / count


@functools.lru_cache(maxsize=None)
def instructions_of(count):
    return measure.callgrind(None, *command(count)) / count


def size(count):
    return SHORT if measure.quick else count


def row(count, counted):
    def time():
        return measure.interleaved(lambda: time_of(size(count)), lambda: time_of(SHORT), 5)

    def instructions():
        return [instructions_of(size(count)), instructions_of(SHORT)]
    name = f"a name of {count:,} / a name of {SHORT}"
    return Row(name, "us", 1.1, time, instructions, 0) if counted else Row(name, "us", 1.1, time)


# callgrind would take most of a minute for the longest.
GROUPS = {"The generator": [row(LONG, True), row(LONGEST, False)]}
