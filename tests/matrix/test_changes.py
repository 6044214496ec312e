# SPDX-License-Identifier: MIT
"""The driver functions that changed under one name: the stub's table is what symbols.txt says,
and what a real driver does."""
import ctypes
import re

import build
import done_with

TABLE = (build.ROOT / "stubs" / "cudart" / "adaptors" / "by_driver.c").read_text()


def test_the_table_is_what_the_list_of_names_gives():
    found = re.findall(r'\{\s*"(cu\w+)",\s*(\d+)\s*\}', TABLE)
    rows = [(name, int(since)) for name, since in found]
    assert rows == sorted(rows)
    first = {}
    for name, since in done_with.changes():
        first.setdefault(name, []).append(since)
    assert rows == [(name, since) for name, several in first.items() for since in several]
    assert len(rows) > 20


def test_a_real_driver_changes_them_there(debian):
    driver, version = ctypes.CDLL(str(debian("cuda"))), ctypes.c_int()

    def get(name, version):
        function, found = ctypes.c_void_p(), ctypes.c_int(-1)
        error = driver.cuGetProcAddress_v2(name.encode(), ctypes.byref(function), version,
                                           ctypes.c_uint64(0), ctypes.byref(found))
        return error, found.value, function.value

    assert driver.cuDriverGetVersion(ctypes.byref(version)) == 0
    rows = [(name, since) for name, since in done_with.changes() if since <= version.value]
    for name, since in rows:
        before, now = get(name, since - 1), get(name, since)
        assert now[:2] == (0, 0) and before[2] != now[2], (name, since)
    assert len(rows) > 5
