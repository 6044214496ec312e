# SPDX-License-Identifier: MIT
"""What ships runs on glibc 2.17: a function that a later glibc has under another name, or
with another version, is called through stubs/base/glibc.h.

What a file needs is seen in its symbols as well (tests/exports), but only where it is built
with the glibc that made the change."""
import re

import build
from tree import code, included, room, sources

GLIBC_H = build.ROOT / "stubs/base/glibc.h"
# Functions that read numbers as C23 has them since glibc 2.38, and that glibc.h lacks.
WITHOUT = {"strtoul", "strtoll", "strtoull", "strtoimax", "strtoumax", "sscanf", "fscanf",
           "scanf", "vsscanf", "vfscanf", "vscanf", "atol", "atoll"}


def called(path):
    return set(re.findall(r"\b(\w+)\s*\(", code(path)))


def replaced():
    header = GLIBC_H.read_text()
    return {*re.findall(r"\.symver (\w+),", header),
            *re.findall(r"^# define ([a-z]\w+)\(", header, re.M)}


def reached(path):
    files, waiting = set(), [path]
    while waiting:
        for other in included(waiting.pop()):
            if other not in files:
                files.add(other)
                waiting.append(other)
    return files


def shipped():
    return [path for path in sources()
            if room(path).startswith(("stubs", "link")) and path != GLIBC_H]


def test_glibc_h_has_what_changed():
    assert {"dlopen", "dlsym", "stat", "strtol"} <= replaced()


def test_who_calls_it_includes_glibc_h():
    without = {f"{path.relative_to(build.ROOT)} calls {', '.join(sorted(calls))}"
               for path in shipped() if (calls := called(path) & replaced())
               and path.suffix == ".c" and GLIBC_H not in reached(path)}
    assert without == set()


def test_nobody_calls_what_glibc_h_lacks():
    calls = {f"{path.relative_to(build.ROOT)} calls {', '.join(sorted(found))}"
             for path in shipped() if (found := called(path) & WITHOUT)}
    assert calls == set()
