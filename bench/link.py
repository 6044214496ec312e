# SPDX-License-Identifier: MIT
"""The links of link.c through lazycuda.link: `python link.py ARCH FILE...`

Reads numbers of rounds and prints the nanoseconds that so many links took.
"""
import pathlib
import sys
import time

from lazycuda.link import Input, Linker


def main():
    arch, *files = sys.argv[1:]
    code = [(pathlib.Path(file).read_bytes(), file) for file in files]
    for line in sys.stdin:
        start = time.perf_counter_ns()
        for _ in range(int(line)):
            Linker(arch).add(*[Input(*one) for one in code]).link()
        print(time.perf_counter_ns() - start, flush=True)


if __name__ == "__main__":
    main()
