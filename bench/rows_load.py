# SPDX-License-Identifier: MIT
"""What loading stubs costs, beside loading the libraries."""
import functools
import os
import re
import time

import measure
import rows_many
from measure import BENCH, DRIVER_STUBS, NEWEST, STUBS, WORK, Row, compile, run


WALL, BUSY, RESIDENT, OWN = range(4)    # microseconds, twice, and KiB, twice


def program():
    return compile("load", BENCH / "load.c", "-ldl")


def empty(count=3):
    return [measure.empty(f"libempty{i}.so") for i in range(count)]


def libraries():
    return list(measure.real(NEWEST).values())


def driver():
    return [measure.debian(name) for name in ("libcuda", "libnvidia-ml")]


def load(files):
    """What bench/load.c prints, as WALL, BUSY, RESIDENT and OWN say."""
    return [float(word) for word in run(program(), *files).split()]


def forget(files):
    """Has the kernel drop what it has read of them."""
    for file in files:
        with open(file) as opened:
            os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def load_cold(files):
    forget(files)
    return load(files)


def read_cold(files):
    forget(files)
    start = time.perf_counter()
    for file in files:
        file.read_bytes()
    return 1e6 * (time.perf_counter() - start)


def loading_cold():
    return measure.interleaved(lambda: load_cold(STUBS)[WALL], lambda: read_cold(STUBS), 25)


def loading(how, index, beside, stubs=STUBS):
    others = beside()
    return measure.interleaved(lambda: how(stubs)[index], lambda: how(others)[index])


def opened(files):
    """How many files are opened, beyond those that starting the program opens."""
    log = WORK / "load.strace"

    def count(*files):
        run(measure.tool("strace"), "-f", "-e", "trace=open,openat", "-o", log, program(), *files)
        return len(re.findall(r" = \d+$", log.read_text(), re.M))
    return count(*files) - count()


def opening():
    return [(opened(STUBS), opened(libraries()))]


def own_memory(stubs, most=256):
    return [(load(stubs)[OWN], most) for _ in range(measure.often(5))]


def many():
    """Seventeen stubs; none of their pages waits to be written, which would count as its own."""
    files = [file for file, _ in rows_many.stubs(17)]
    os.sync()
    return files


def loading_many(most):
    return [(rows_many.instructions(*(f"+{file}" for file in many())), most)]


def stripped(stub):
    made = WORK / f"stripped-{stub.name}"
    run(measure.tool("strip"), "-o", made, stub)
    return [(made.stat().st_size / 1024, 400)]


def row(what, unit, limit, how, index, beside):
    name = f"libraries of {NEWEST}" if beside is libraries else "empty libraries"
    return Row(f"3 stubs / 3 {name}: {what}", unit, limit,
               functools.partial(loading, how, index, beside))


GROUPS = {
    "Loading": [
        row("time", "us", 1 / 25, load, BUSY, libraries),
        row("time, cold", "us", 1 / 10, load_cold, WALL, libraries),
        row("time", "us", 2, load, BUSY, empty),
        Row("3 stubs / reading their files: time, cold", "us", 2, loading_cold),
        Row(f"3 stubs / 3 libraries of {NEWEST}: files opened", "files", 1, opening),
        row("resident", "KiB", 1 / 60, load, RESIDENT, libraries),
        row("own memory", "KiB", 1 / 10, load, OWN, libraries),
        Row("3 stubs / 256 KiB: own memory", "KiB", 1, functools.partial(own_memory, STUBS)),
        Row("17 stubs / 1,000,000", "instructions", 1, functools.partial(loading_many, 1_000_000)),
        Row("17 stubs / 12 KiB each: own memory", "KiB", 1, lambda: own_memory(many(), 17 * 12)),
        Row("the driver's 2 stubs / Debian's 535: time", "us", 1 / 4,
            functools.partial(loading, load, BUSY, driver, DRIVER_STUBS)),
        Row("the driver's 2 stubs / 2 empty libraries: time", "us", 2,
            functools.partial(loading, load, BUSY, functools.partial(empty, 2), DRIVER_STUBS)),
        Row("the driver's 2 stubs / 256 KiB: own memory", "KiB", 1,
            functools.partial(own_memory, DRIVER_STUBS)),
    ] + [Row(f"{stub.name} / 400 KiB: stripped", "KiB", 1, functools.partial(stripped, stub))
         for stub in STUBS + DRIVER_STUBS],
}
