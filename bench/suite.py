#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Where the time of the tests goes, from what a run of them has written.

    bench/suite.py [XML...]   `make bench-suite`

The files are those of the last run of each configuration, build/tests/results-*.xml.
`cpu` is what the test's process and those that it waited for took of a processor: that
hardly depends on what else the machine does; `time` is by the clock.
"""
import collections
import pathlib
import sys
import xml.etree.ElementTree

RESULTS = pathlib.Path(__file__).resolve().parents[1] / "build" / "tests"
LONGEST = 15        # tests that are named
LINE = "{:52}{:>7}{:>10}{:>10}{:>9}"


def tests(file):
    """[(cpu, seconds, name)] of a run, "gen/test_list.py::test_malformed[unexpected-byte-0x01]", and how
    many were skipped."""
    try:
        cases = list(xml.etree.ElementTree.parse(file).getroot().iter("testcase"))
    except xml.etree.ElementTree.ParseError as error:
        sys.exit(f"{file}: it is not what pytest writes: {error}")
    found = []
    for case in cases:
        cpu, seconds = case.find("properties/property[@name='cpu']"), float(case.get("time"))
        found.append((seconds if cpu is None else float(cpu.get("value")), seconds,
                      f"{case.get('classname').replace('.', '/')}.py::{case.get('name')}"))
    return found, sum(case.find("skipped") is not None for case in cases)


def report(file):
    found, skipped = tests(file)
    folders = collections.defaultdict(list)
    for test in found:
        folders[test[2].partition("/")[0]].append(test)
    print(LINE.format(file.stem.partition("-")[2] or file.stem, "tests", "cpu s", "time s", "of cpu"))
    whole = sum(cpu for cpu, *_ in found) or 1.0
    for name, mine in [*sorted(folders.items(), key=lambda one: -sum(cpu for cpu, *_ in one[1])),
                       ("all", found)]:
        cpu, seconds = (sum(test[at] for test in mine) for at in (0, 1))
        print(LINE.format(f"  {name}", len(mine), f"{cpu:.1f}", f"{seconds:.1f}", f"{100 * cpu / whole:.1f} %"))
    print(f"  skipped: {skipped}\n     cpu s    time s  of those that took longest")
    for cpu, seconds, name in sorted(found, reverse=True)[:LONGEST]:
        print(f"{cpu:10.1f}{seconds:10.1f}  {name}")


if __name__ == "__main__":
    files = [pathlib.Path(word) for word in sys.argv[1:]] or sorted(RESULTS.glob("results-*.xml"))
    if not files:
        sys.exit("there is no build/tests/results-*.xml: run make test first")
    for one in files:
        report(one)
