# SPDX-License-Identifier: MIT
"""The cost of a plan: `python plan.py KIND INPUTS ROUNDS SAMPLES`

Prints the nanoseconds of one lazycuda_plan() with so many inputs, once for each sample.  KIND: fatbins
(each with PTX, a cubin and two LTO-IR; the PTX and the cubin have 20 symbols each), ptx (the same PTX
alone), lto (the fatbins, with LTO), or archive (one input of as many such fatbins).
"""
import pathlib
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "plan"))
from lazycuda.link_library import library  # noqa: E402
from scene import Scene  # noqa: E402

SYMBOLS = 20
WORDS = ("driver=12.9", "nvjitlink=12.9", "nvrtc=12.9", "arch=sm_90", "option=-lineinfo",
         "option=-maxrregcount=64")


def code(kind, number):
    # The second half of an input's names is the first half of the next one's.
    first = number * SYMBOLS // 2
    names = " ".join(f"{'def' if i < SYMBOLS // 2 else 'ext'}=_Z20some_device_function{first + i}Pfi"
                     for i in range(SYMBOLS))
    ptx = f"ptx 8.4 sm_80 {names}"
    return ptx if kind == "ptx" else "{" + "/".join(
        f"{entry} member=kernels.o" if kind == "archive" else entry for entry in (
            ptx, f"cubin 12.4 sm_86 {names}", "lto 12.4 sm_80", "lto 12.4 sm_90")) + "}"


def scene(kind, inputs):
    codes = [code(kind, number) for number in range(inputs)]
    given = ["+is=archive;" + "/".join(codes)] if kind == "archive" else codes
    return Scene([*WORDS, *["lto"] * (kind == "lto"), f"support=nrt:on:NRT_incref,NRT_decref,NRT_Allocate:{codes[0]}",
                  *(f"in=kernels:+main;{each}" for each in given)])


def main(kind, inputs, rounds, samples):
    asked, plan, free = scene(kind, inputs).asked, library().lazycuda_plan, library().lazycuda_plan_free
    for sample in range(-1, samples):       # the first is not counted
        start = time.thread_time_ns()
        for _ in range(rounds):
            made = plan(*asked)
            if made.contents.code or made.contents.step_count != inputs:
                sys.exit(made.contents.message)
            free(made)
        if sample >= 0:
            print((time.thread_time_ns() - start) / rounds)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
