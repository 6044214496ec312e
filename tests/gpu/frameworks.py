#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compute what wheels.py does with torch, CuPy or JAX twice, directly and through stubs, and compare.

    tests/gpu/frameworks.py FOLDER [torch|cupy|jax]...

FOLDER holds stubs under the real SONAMEs of the major that the framework was built for:
`make install COMPAT=13 ALL_STUBS=yes` puts them into LIBDIR/lazycuda/compat13.  They are
preloaded, so that every object of the process binds to them, and forward to the libraries
that the framework has installed.  Prints a line for each value that both processes printed
and the totals; status 1 if a value differs, or if a stub that was preloaded served nothing.
A framework that is not installed, or sees no GPU, is skipped.
"""
import pathlib
import sys

import wheels

# What frameworks open in one process alone: CUPTI is a profiler's, NVSHMEM a launcher's.
PRELOADED = ("cublas", "cublasLt", "cudart", "cudnn", "cufft", "curand", "cusolver", "cusparse",
             "cusparseLt", "nccl", "nvJitLink", "nvrtc")
FRAMEWORKS = ("torch", "cupy", "jax")


def stubs_in(folder):
    found = [str(file.resolve()) for name in PRELOADED
             for file in pathlib.Path(folder).glob(f"lib{name}.so.*")]
    if not found:
        sys.exit(f"{folder}: there are no stubs under real SONAMEs; make them with "
                 "`make install COMPAT=13 ALL_STUBS=yes`")
    return found


def main(arguments):
    names = arguments[1:] or FRAMEWORKS
    if not arguments or set(names) - set(FRAMEWORKS):
        sys.exit(__doc__)
    stubs = stubs_in(arguments[0])
    counts = dict(passed=0, failed=0, skipped=0)
    for framework in names:
        direct, why, _ = wheels.run(framework)
        if not direct:
            print(f"skip {framework}: {why}")
            counts["skipped"] += 1
            continue
        through, other, files = wheels.run(framework, stubs)
        missing = set(stubs) - files
        different = {name: f"{through.get(name)}, directly {direct.get(name)}"
                     for name in {*direct, *through} if through.get(name) != direct.get(name)}
        if other != why:
            different["its end"] = f"{other}, directly {why}"
        failed = different or missing
        counts["failed" if failed else "passed"] += 1
        print(f"{'fail' if failed else 'pass'} {framework}: {len(set(direct) - set(different))} equal, "
              f"{len(different)} different, {len(stubs) - len(missing)} stubs preloaded")
        for name, values in sorted(different.items()):
            print(f"  {name}: {values}")
        if why:
            print(f"  not compared: {why}")
    print(", ".join(f"{number} {what}" for what, number in counts.items()))
    return counts["failed"] != 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
