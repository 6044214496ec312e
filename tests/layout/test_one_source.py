# SPDX-License-Identifier: MIT
"""What stands in one file of the tree, because two would come to differ."""
import re

import pytest

import build

# What nobody writes but who converts a version or says which versions go together.
ALONE = {
    "CUDA's number, 12090, and its major and minor": (
        r"% 1000 / 10\b|\+ 10 \* \(", "stubs/base/cuda_version.h"),
    "an lc_version, 1209, and its major and minor": (
        r"LC_VERSION\(\w+, \w+\) \(|#define LC_M\w+OR\(", "stubs/entry/stub.h"),
    "the branch that runs later toolkits": (r"\{ 12, 525 \}", "stubs/base/cuda_version.c"),
}


@pytest.mark.parametrize("what", ALONE)
def test_it_stands_in_one_file(what):
    pattern, only = ALONE[what]
    assert {path.relative_to(build.ROOT).as_posix()
            for part in ("include", "stubs", "link", "gen", "tools")
            for path in (build.ROOT / part).rglob("*.[ch]") if re.search(pattern, path.read_text())} == {only}
