# SPDX-License-Identifier: MIT
"""`make bench` measures every row, or says why not; what it writes can be read."""
import json
import math
import sys

import build


def run(*arguments):
    done = build.run(sys.executable, "-B", build.ROOT / "bench" / "bench.py", *arguments)
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def in_table(said, name):
    # Two spaces end a name: one name may begin another.
    line, = [line for line in said.splitlines() if line.startswith(f"  {name}  ")]
    return line


def test_every_row_is_measured_or_says_why_not(tmp_path):
    listed, file = run("--list"), tmp_path / "bench.json"
    said = run("--quick", "--json", file)
    rows = json.loads(file.read_text())
    assert len(rows) > 50
    assert len({row["name"] for row in rows}) == len(rows)
    for row in rows:
        assert in_table(listed, row["name"]) and in_table(said, row["name"])
        assert row["limit"] > 0
        if "unmeasured" in row:
            assert "there is no " in row["unmeasured"] or "could not" in row["unmeasured"]
        else:
            assert all(math.isfinite(row[key]) for key in ("min", "median", "a", "b"))
            assert row["b"] > 0 and row["samples"] > 0
    # It takes a compiler and no more for these.
    for group in ("A call that is adapted, refused or missing", "Threads that call at once"):
        assert not [row for row in rows if row["group"] == group and "unmeasured" in row]
