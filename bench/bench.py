#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What lazycuda costs, as ratios measured in one run.

    bench/bench.py [--json FILE] [--only TEXT]... [--quick]     `make bench`
    bench/bench.py --list

Each row compares two things whose samples were taken in turn, A B A B ..., so
that a machine whose speed drifts slows both; times are the processor's, but
where a disk is waited for.  Instructions are counted by valgrind's callgrind and
do not depend on the machine's mood.  A row that cannot be measured here says why.
docs/reference/cost.md says what the limits are; bench/report.py puts a run there.
"""
import argparse
import fcntl
import json
import pathlib
import statistics

import measure
import report
import rows_calls
import rows_command
import rows_dispatch
import rows_embedded
import rows_first
import rows_load
import rows_many
import rows_threads

GROUPS = {group: rows for module in (rows_calls, rows_first, rows_many, rows_load, rows_threads,
                                     rows_dispatch, rows_command, rows_embedded)
          for group, rows in module.GROUPS.items()}


def summary(pairs):
    """The ratio of the fastest samples, the median of the ratios, and the medians."""
    first, second = zip(*pairs)
    return {"min": min(first) / min(second), "median": statistics.median(a / b for a, b in pairs),
            "a": statistics.median(first), "b": statistics.median(second), "samples": len(pairs)}


def measured(row):
    result = {"name": row.name, "unit": row.unit, "limit": row.limit}
    if row.more is not None:
        result["more"] = row.more
    try:
        result |= summary(row.pairs())
    except measure.Unmeasured as why:
        return result | {"unmeasured": str(why)}
    try:
        if row.instructions:
            result["instructions"] = list(row.instructions())
    except measure.Unmeasured as why:
        result["uncounted"] = str(why)
    return result


def planned(row):
    return {"name": row.name, "limit": row.limit, "more": row.more, "unmeasured": ""}


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=pathlib.Path, default=measure.WORK / "bench.json",
                        metavar="FILE", help="where the rows are written, %(default)s")
    parser.add_argument("--only", action="append", metavar="TEXT",
                        help="only rows that have this in their names")
    parser.add_argument("--quick", action="store_true",
                        help="a few short samples, to see that all rows can be measured")
    parser.add_argument("--list", action="store_true",
                        help="the rows and their limits, without measuring")
    return parser.parse_args()


def main():
    args = arguments()
    results = []
    measure.quick = args.quick
    measure.WORK.mkdir(parents=True, exist_ok=True)
    lock = open(measure.WORK / "lock", "w")
    if not args.list:
        fcntl.flock(lock, fcntl.LOCK_EX)    # two runs would measure each other
    print(report.HEADING)
    for group, rows in GROUPS.items():
        rows = [row for row in rows
                if not args.only or any(text in row.name for text in args.only)]
        if rows:
            print(group)
        for row in rows:
            results.append({"group": group, **(planned if args.list else measured)(row)})
            print(report.line(results[-1]), flush=True)
    if not args.list:
        args.json.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
