# SPDX-License-Identifier: MIT
"""The driver functions that changed under one name: the stub's table is what symbols.txt says,
and what a real driver does."""
import ctypes
import re
import subprocess
import sys

import build
import done_with

TABLE = (build.ROOT / "stubs" / "cudart" / "adaptors" / "by_driver.c").read_text()

# Prints for each name and version whether the driver has it, and another than for the version
# before.
LOOK = """
import ctypes, sys
driver = ctypes.CDLL(sys.argv[1])
def get(name, version):
    function, found = ctypes.c_void_p(), ctypes.c_int(-1)
    error = driver.cuGetProcAddress_v2(name.encode(), ctypes.byref(function), version,
                                       ctypes.c_uint64(0), ctypes.byref(found))
    return error, found.value, function.value
for name, since in zip(sys.argv[2::2], map(int, sys.argv[3::2])):
    before, now = get(name, since - 1), get(name, since)
    print(name, since, now[:2] == (0, 0), before[2] != now[2])
"""


def test_the_table_is_what_the_list_of_names_gives():
    found = re.findall(r'^\t\{ "(cu\w+)", (\d+) \},$', TABLE, re.M)
    rows = [(name, int(since)) for name, since in found]
    assert rows == sorted(rows)
    first = {}
    for name, since in done_with.changes():
        first.setdefault(name, []).append(since)
    assert rows == [(name, since) for name, several in first.items() for since in several]
    assert len(rows) > 20


def test_a_real_driver_changes_them_there(debian):
    driver = debian("cuda")
    version = ctypes.c_int()
    assert ctypes.CDLL(str(driver)).cuDriverGetVersion(ctypes.byref(version)) == 0
    rows = [(name, since) for name, since in done_with.changes() if since <= version.value]
    said = subprocess.run([sys.executable, "-c", LOOK, driver, *[
        str(word) for row in rows for word in row]], capture_output=True, text=True, check=True)
    assert said.stdout.splitlines() == [f"{name} {since} True True" for name, since in rows]
    assert len(rows) > 5
