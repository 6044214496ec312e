#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What was measured, as a table.

    bench/report.py JSON            prints the table of a run
    bench/report.py JSON FOLDER     writes it to FOLDER/cost.txt, and what FOLDER/how-it-works.md
                                    shows of it
"""
import json
import pathlib
import re
import sys

NAME = 54
HEADING = (f"{'A / B':{NAME}}{'min':>8}{'median':>8}{'A':>10}{'B':>10} {'unit':12} "
           f"{'instructions':>16}  at most")


def limit(row):
    """"1.25, +1": the ratio, and how many instructions more."""
    more = row.get("more")
    return f"{row['limit']:.3g}" + (f", {more:+g}" if more is not None else "")


def is_above(row):
    """Over its limit, by more than samples differ."""
    counts = row.get("instructions")
    more = row.get("more")
    return row["min"] > 1.02 * row["limit"] or bool(
        counts and more is not None and counts[0] - counts[1] > more + 0.5)


def counted(count):
    """In eight columns."""
    return f"{count:8,.0f}" if count < 1e6 else f"{count / 1000:7,.0f}k"


def line(row):
    name = f"  {row['name']:{NAME - 2}}"
    if "unmeasured" in row:
        why = row["unmeasured"] and f"not measured: {row['unmeasured']}"
        return f"{name}{why:66}  {limit(row)}"
    counts = "".join(map(counted, row.get("instructions", ())))
    digits = 0 if min(row["a"], row["b"]) >= 1000 else 2
    return (f"{name}{row['min']:8.3f}{row['median']:8.3f}{row['a']:10.{digits}f}"
            f"{row['b']:10.{digits}f} {row['unit']:12} {counts:>16}  {limit(row)}"
            f"{'  ABOVE' if is_above(row) else ''}"
            f"{'  not counted: ' + row['uncounted'] if 'uncounted' in row else ''}")


def table(rows):
    groups = {}
    for row in rows:
        groups.setdefault(row["group"], []).append(line(row))
    return [HEADING, *(text for title, lines in groups.items() for text in (title, *lines))]


def replace_figures(text, rows):
    """The text with new medians in a table of `| name | median |`, as exact as the old ones."""
    medians = {row["name"]: row["median"] for row in rows if "median" in row}

    def cell(found):
        name, old = found.groups()
        digits = len(old.partition(".")[2])
        return f"| {name} | {medians[name]:.{digits}f} |" if name in medians else found[0]
    return re.sub(r"^\| (.+) \| ([\d.]+) \|$", cell, text, flags=re.M)


def main():
    if not 2 <= len(sys.argv) <= 3 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    rows = json.loads(pathlib.Path(sys.argv[1]).read_text())
    if len(sys.argv) == 2:
        print("\n".join(table(rows)))
        return
    folder = pathlib.Path(sys.argv[2])
    (folder / "cost.txt").write_text("\n".join(table(rows)) + "\n")
    summary = folder / "how-it-works.md"
    if summary.exists():
        summary.write_text(replace_figures(summary.read_text(), rows))


if __name__ == "__main__":
    main()
