# SPDX-License-Identifier: MIT
"""`make bench` measures every row, or says why not; what it writes can be read."""
import json
import math
import os
import shutil
import subprocess
import sys

import pytest

import build

BENCH = build.ROOT / "bench"
ROWS = [
    {"group": "Calls", "name": "forwarded / direct", "unit": "ns", "limit": 1.25, "more": 1,
     "min": 1.111, "median": 1.112, "a": 2.71, "b": 2.44, "instructions": [8, 7]},
    {"group": "Calls", "name": "slow / quick & short", "unit": "us", "limit": 2,
     "min": 3.5, "median": 4.5, "a": 4500, "b": 1000},
    {"group": "Calls", "name": "wordy / terse", "unit": "ns", "limit": 2, "more": 0,
     "min": 1.5, "median": 1.5, "a": 3, "b": 2, "instructions": [9, 7]},
    {"group": "Devices", "name": "no GPU / none", "limit": 0.0167, "unmeasured": "there is no GPU"},
    {"group": "Devices", "name": "uncounted / counted", "unit": "ns", "limit": 1, "more": 0,
     "min": 0.5, "median": 0.5, "a": 1, "b": 2, "uncounted": "there is no valgrind"},
]


def run(script, *arguments, check=True, **env):
    done = subprocess.run([sys.executable, "-B", BENCH / script, *map(str, arguments)], text=True,
                          stdin=subprocess.DEVNULL, capture_output=True, env={**os.environ, **env})
    assert not check or done.returncode == 0, done.stderr + done.stdout
    return done


def measure(tmp_path, *arguments, **env):
    """What is printed, and the rows."""
    file = tmp_path / "bench.json"
    said = run("bench.py", "--quick", "--json", file, *arguments, **env).stdout
    return said, json.loads(file.read_text())


@pytest.fixture
def measured(tmp_path):
    """The file of ROWS."""
    file = tmp_path / "rows.json"
    file.write_text(json.dumps(ROWS))
    return file


def in_table(said, name):
    # Two spaces end a name: one name may begin another.
    line, = [line for line in said.splitlines() if line.startswith(f"  {name}  ")]
    return line


# ---- measuring ----

def test_every_row_is_measured_or_says_why_not(tmp_path):
    listed = run("bench.py", "--list").stdout
    said, rows = measure(tmp_path)
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


def test_a_row_says_what_it_lacks(tmp_path):
    said, (row,) = measure(tmp_path, "--only", "entry on aarch64", PATH=str(tmp_path))
    assert row["unmeasured"] == "there is no aarch64-linux-gnu-objdump"
    assert "not measured: there is no aarch64-linux-gnu-objdump" in in_table(said, row["name"])


def test_what_cannot_be_counted_is_timed(tmp_path):
    for name in ("cc", "as", "ld"):
        (tmp_path / name).symlink_to(shutil.which(name))
    said, (row,) = measure(tmp_path, "--only", "does nothing: stub / direct", CC="cc",
                           PATH=str(tmp_path))
    assert row["median"] > 0 and "instructions" not in row
    assert in_table(said, row["name"]).endswith("not counted: there is no valgrind")


# ---- the table ----

def test_a_row_above_its_limit_is_marked(measured):
    said = run("report.py", measured).stdout
    marked = [row["name"] for row in ROWS if "ABOVE" in in_table(said, row["name"])]
    assert marked == ["slow / quick & short", "wordy / terse"]
