# SPDX-License-Identifier: MIT
"""The manual pages: well formed, and complete where that can be told."""
import re
import subprocess

import pytest

import build
from projects import tool

PAGES = sorted((build.ROOT / "docs").glob("lazycuda.[17]"))


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
    read = {name for folder in ("stubs", "stubs/generated")
            for file in (build.ROOT / folder).glob("*.c")
            for name in re.findall(r'"(LAZYCUDA_[A-Z]+)"', file.read_text())}
    assert read >= {"LAZYCUDA_CUDART", "LAZYCUDA_GUARD"}
    assert not [name for name in sorted(read) if name not in plain(page)]


def test_each_page_leads_to_the_other():
    for page in PAGES:
        other = {"1": "7", "7": "1"}[page.suffix[1:]]
        assert f".BR lazycuda ({other})" in page.read_text().partition(".SH SEE ALSO")[2]
    assert len(PAGES) == 2
