# SPDX-License-Identifier: MIT
"""What the first call costs, step by step: the search, dlopen(), filling the slots."""
import functools
import re

import measure
from measure import BENCH, LIB, NEWEST, OBJECTS, Row, compile, run

MAJOR = NEWEST.partition(".")[0]
CALLERS = 300


def program():
    return compile("first", BENCH / "first.c", "-rdynamic", "-ldl",
                   LIB / f"cuda{MAJOR}/libcudart_stub.so", f"-Wl,-rpath,{LIB}")


def ask(*words, **env):
    """What bench/first.c prints."""
    return [float(word) for word in run(program(), *words, **env).split()]


def library():
    return measure.real(NEWEST)["cudart"]


def search_path(*folders):
    return {"LD_LIBRARY_PATH": ":".join(map(str, folders))}


def through_stub(*files, **env):
    """Microseconds of the search, of dlopen(), and from there on."""
    return ask("stub", *files, **search_path(library().parent), **env)


def by_hand(*files):
    """Of dlopen(), and from there on, without a stub."""
    return ask("library", library(), *files, **search_path(library().parent))


def least(sample):
    """Of a few: for differences, which carry the noise of both."""
    return min(sample() for _ in range(measure.often(3)))


# ---- a process with little in it ----

def whole(files=lambda: []):
    loaded = files()
    return measure.interleaved(lambda: sum(through_stub(*loaded)), lambda: sum(by_hand(*loaded)),
                               25)


def searching():
    return measure.interleaved(lambda: through_stub()[0], lambda: by_hand()[0], 25)


def opening():
    return measure.interleaved(lambda: through_stub()[1], lambda: by_hand()[0], 25)


def filling():
    """Beside looking up what the library exports, each name once."""
    said = run(measure.tool("nm"), "-D", "--defined-only", library())
    names = re.findall(r" [TWi] (\w+)", said)
    return measure.interleaved(lambda: through_stub()[2],
                               lambda: ask("names", library(), *names)[0], 25)


# ---- a process with much in it ----

def searching_objects():
    """What they add to the search, beside one look at each."""
    files = measure.objects()

    def added():
        return least(lambda: through_stub(*files)[0]) - least(lambda: through_stub()[0])
    return measure.interleaved(added, lambda: ask("walk", *files)[0], 5)


def searching_callers():
    """What it takes to look at what 300 modules import from the stub, 60 names each as
    real ones do.  A major that is pinned makes no use of that."""
    stub = LIB / "cuda12" / "libcudart_stub.so"
    names = re.findall(r" T (cuda[A-Z]\w+)", run(measure.tool("nm"), "-D", stub))[:60]
    files = measure.callers(measure.often(CALLERS), *names)

    def added():
        return (least(lambda: through_stub(*files)[0]) -
                least(lambda: through_stub(*files, LAZYCUDA_MAJOR=MAJOR)[0]))
    return [(added(), 2000) for _ in range(measure.often(5))]


GROUPS = {
    f"The first call, on {NEWEST}": [
        Row("stub / dlopen() by hand", "us", 1.5, whole),
        Row("of it the search / dlopen() by hand", "us", 0.4, searching),
        Row("of it dlopen() / dlopen() by hand", "us", 1.1, opening),
        Row("of it the slots / dlsym() of each name", "us", 2, filling),
        Row(f"with {OBJECTS:,} objects: stub / by hand", "us", 1.5,
            functools.partial(whole, measure.objects)),
        Row(f"the search: {OBJECTS:,} objects / a look at each", "us", 5, searching_objects),
        Row(f"the search: {CALLERS} callers / 2 ms", "us", 1, searching_callers),
    ],
}
