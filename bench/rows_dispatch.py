# SPDX-License-Identifier: MIT
"""What it costs to look at device code, to plan a link, and to carry it out."""
import functools
import sys

import measure
import rows_link
from measure import BENCH, LIB, NEWEST, ROOT, WORK, Row, compile, run

sys.path.append(str(ROOT / "tools" / "upkeep"))
import fetch  # noqa: E402

MIB, ENTRIES = 500, 8000
PLANS = ("ptx", "fatbins", "lto", "archive")


def program(name):
    return compile(name, "-I", ROOT / "include", BENCH / f"{name}.c",
                   LIB / "liblazycuda_link.so", f"-Wl,-rpath,{LIB}", "-ldl")


def planning(kind, inputs, rounds):
    """Microseconds of a plan of so many inputs, beside one for each."""
    built = program("plan")
    rounds = 20 if measure.quick and rounds > 20 else rounds
    return [(float(run(built, kind, rounds, inputs)) / 1000, inputs)
            for _ in range(measure.often(15))]


def inspecting_file():
    """A large library, inspected and read() once, both from the page cache."""
    inspection, library = program("inspection"), WORK / "large.so"
    run(inspection, "make", library, measure.often(MIB), 8 if measure.quick else ENTRIES)
    try:
        return measure.interleaved(lambda: 1e3 * float(run(inspection, "file", library)),
                                   lambda: 1e3 * float(run(inspection, "read", library)), 9)
    finally:
        library.unlink()


def inspecting_memory():
    """A container in memory, inspected with its payloads and copied once."""
    inspection = program("inspection")

    def sample():
        copied, inspected = run(inspection, "memory", 10 if measure.quick else 100,
                                80 if measure.quick else ENTRIES).split()
        return 1e3 * float(inspected), 1e3 * float(copied)
    return [sample() for _ in range(measure.often(9))]


def linking(kind, *more):
    folder, *others = (measure.real(version)["nvJitLink"].parent for version in (NEWEST, *more))
    pairs = rows_link.link_cost(kind, folder, compile, run, measure.often(60), others)
    return [(a / 1000, b / 1000) for a, b in pairs]


def from_python(kind):
    folder = measure.real(NEWEST)["nvJitLink"].parent
    in_c, in_python, env = rows_link.python_command(kind, folder, compile, run, WORK)
    with measure.one_processor():
        pairs = measure.rounds_in_turn(lambda: measure.Worker(*in_python, **env),
                                       lambda: measure.Worker(*in_c, **env), 20)
    return [(a / 1000, b / 1000) for a, b in pairs]


def isolating(kind):
    folder = measure.real(NEWEST)["nvJitLink"].parent
    pairs = rows_link.isolation_cost(kind, folder, compile, run, rounds=measure.often(20))
    return [(a / 1e6, b / 1e6) for a, b in pairs]


def nvvm():
    """libnvvm of the newest, and a library of bitcode of 50 MB."""
    folder, table = ROOT / "build" / "nvvm", ROOT / "tools" / "upkeep" / "nvvm.txt"
    failures = [] if measure.quick else fetch.fetch(folder, [NEWEST, "nvshmem"], table=table)
    found = [next(iter(folder.rglob(name)), None)
             for name in ("libnvvm.so.4", "libnvshmem_device_sm_100.bc")]
    if None in found:
        raise measure.Unmeasured(failures[0] if failures else f"there is no libnvvm or no bitcode in {folder}")
    return found


def linking_bitcode():
    library, bitcode = nvvm()
    said = run(program("bitcode"), bitcode, "sm_100", library, measure.often(20),
               LAZYCUDA_NVVM=str(library), LAZYCUDA_NVRTC="none",
               LAZYCUDA_NVJITLINK=str(measure.real(NEWEST)["nvJitLink"]))
    return [tuple(float(word) / 1e6 for word in line.split()) for line in said.splitlines()]


def counting(kind):
    if measure.quick:
        raise measure.Unmeasured("nvJitLink takes a minute in valgrind")
    return rows_link.link_instructions(kind, measure.real(NEWEST)["nvJitLink"].parent, compile, run,
                                       measure.callgrind, WORK)


GROUPS = {
    "Device code": [
        Row(f"plan 100 inputs, {kind} / 100 us", "us", 1,
            functools.partial(planning, kind, 100, 2000))
        for kind in PLANS
    ] + [
        Row("plan 100,000 inputs, ptx / 100 ms", "us", 1,
            functools.partial(planning, "ptx", 100000, 5)),

        Row(f"inspect a library of {MIB} MB / read() of it", "ms", 2, inspecting_file),
        Row("inspect 100 MB of fatbins / memcpy() of them", "ms", 1, inspecting_memory),
    ] + [
        # The links that are short: of others what the handle adds cannot be seen.
        Row(f"link {kind}: handle / nvJitLink alone", "us", 1.02,
            functools.partial(linking, kind),
            functools.partial(counting, kind) if kind.startswith("cubin") else None)
        for kind in rows_link.KINDS
    ] + [
        Row("link with 50 MB of bitcode: handle / libnvvm alone", "ms", 1.2, linking_bitcode),
        # What is chosen for each link is looked for once.
        Row("link with 2 toolkits: handle / nvJitLink alone", "us", 1.02,
            functools.partial(linking, "cubin of 51 kernels", "12.9")),
        Row("link cubin of 51 kernels: Python / C", "us", 1.3,
            functools.partial(from_python, "cubin of 51 kernels")),
    ] + [
        Row(f"link {kind}: isolated / in the process", "ms", limit,
            functools.partial(isolating, kind))
        for kind, limit in (("ptx", 4), ("ltoir", 4))
    ],
}
