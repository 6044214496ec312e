#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Where the time of the tests goes, from what a run of them has written.

    bench/suite.py [--longest N] [XML...]   `make bench-suite`

The files are those of the last run of each configuration, build/tests/results-*.xml.
`cpu` is what the test's process and those that it waited for took of a processor: that
hardly depends on what else the machine does; `time` is by the clock.
"""
import argparse
import pathlib
import sys
import xml.etree.ElementTree
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parents[1]
RESULTS = ROOT / "build" / "tests"

LINE = "{:52}{:>7}{:>10}{:>10}{:>9}"


class Test(NamedTuple):
    name: str           # gen/test_list.py::test_malformed[unexpected-byte-0x01]
    seconds: float
    cpu: float
    skipped: bool

    @property
    def folder(self):
        return self.name.partition("/")[0]


def tests(file):
    """Those of a run, in order."""
    try:
        root = xml.etree.ElementTree.parse(file).getroot()
    except xml.etree.ElementTree.ParseError as error:
        sys.exit(f"{file}: it is not what pytest writes: {error}")
    for case in root.iter("testcase"):
        module = case.get("classname").replace(".", "/")
        cpu = case.find("properties/property[@name='cpu']")
        seconds = float(case.get("time"))
        yield Test(f"{module}.py::{case.get('name')}", seconds,
                   seconds if cpu is None else float(cpu.get("value")),
                   case.find("skipped") is not None)


def rows(found, by):
    """[(name, how many, cpu, time)], that with the most first."""
    sums = {}
    for test in found:
        count, cpu, seconds = sums.get(by(test), (0, 0.0, 0.0))
        sums[by(test)] = count + 1, cpu + test.cpu, seconds + test.seconds
    return sorted(((name, *row) for name, row in sums.items()), key=lambda row: -row[2])


def report(file, longest):
    found = list(tests(file))
    whole = sum(test.cpu for test in found) or 1.0
    name = file.stem.partition("-")[2] or file.stem
    print(LINE.format(name, "tests", "cpu s", "time s", "of cpu"))
    for name, count, cpu, seconds in [*rows(found, lambda test: test.folder),
                                      *rows(found, lambda test: "all")]:
        print(LINE.format(f"  {name}", count, f"{cpu:.1f}", f"{seconds:.1f}",
                          f"{100 * cpu / whole:.1f} %"))
    print(f"  skipped: {sum(test.skipped for test in found)}")
    if longest:
        print("     cpu s    time s  of those that took longest")
    for test in sorted(found, key=lambda test: -test.cpu)[:longest]:
        print(f"{test.cpu:10.1f}{test.seconds:10.1f}  {test.name}")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=pathlib.Path, metavar="XML")
    parser.add_argument("--longest", type=int, default=15, metavar="N",
                        help="how many tests are named, %(default)s")
    args = parser.parse_args()
    files = args.files or sorted(RESULTS.glob("results-*.xml"))
    if not files:
        sys.exit("there is no build/tests/results-*.xml: run make test first")
    for file in files:
        report(file, args.longest)


if __name__ == "__main__":
    main()
