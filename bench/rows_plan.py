# SPDX-License-Identifier: MIT
"""What a plan of 100 inputs costs: the times of bench/plan.c, for bench/bench.py."""
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIB = ROOT / "build" / "lib"
KINDS = ("ptx", "fatbins", "lto", "archive")


def program(compile):
    """`compile` is bench.py's."""
    return compile("plan", f"-I{ROOT / 'include'}", ROOT / "bench/plan.c",
                   LIB / "liblazycuda_link.so", f"-Wl,-rpath,{LIB}")


def plan_cost(kind, compile, run, samples=15):
    """Microseconds of one lazycuda_plan() and its free, several times over."""
    built = program(compile)
    return [float(run(built, kind)) / 1000 for _ in range(samples)]
