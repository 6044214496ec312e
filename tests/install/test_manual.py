# SPDX-License-Identifier: MIT
"""The manual pages: well formed, and complete where that can be told."""
import re
import subprocess

import pytest

import build
import pages
from projects import tool

PAGES = pages.MANUALS


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_groff_has_no_warning(page):
    tool("groff")
    said = subprocess.run(["groff", "-man", "-t", "-ww", "-rLL=80n", "-Tutf8", page],
                          capture_output=True, text=True)
    assert said.returncode == 0 and said.stderr == ""


def plain(page):
    return re.sub(r"\\f.|\\", "", page.read_text())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_variable_of_ours_is_explained(page):
    read = {name for folder in ("stubs", "link", "tools") for kind in ("*.[ch]", "*.py")
            for file in (build.ROOT / folder).rglob(kind) if "upkeep" not in file.parts
            for name in re.findall(r'"(LAZYCUDA_[A-Z_]+)"', file.read_text())}
    assert read >= {"LAZYCUDA_CUDART", "LAZYCUDA_GUARD", "LAZYCUDA_LINK_LIBRARY", "LAZYCUDA_NVVM"}
    assert not [name for name in sorted(read) if name not in plain(page)]
