# SPDX-License-Identifier: MIT
"""The manual pages: well formed, and complete where that can be told."""
import re
import subprocess

import pytest

import build
import pages
from projects import tool

PAGES = pages.MANUALS
OF_THE_COMMAND = [page for page in PAGES if page.suffix != ".3"]
OF_HEADERS = [page for page in PAGES if page.suffix == ".3"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_groff_has_no_warning(page):
    tool("groff")
    said = subprocess.run(["groff", "-man", "-t", "-ww", "-rLL=80n", "-Tutf8", page],
                          capture_output=True, text=True)
    assert said.returncode == 0 and said.stderr == ""


def plain(page):
    return re.sub(r"\\f.|\\", "", page.read_text())


@pytest.mark.parametrize("page", OF_THE_COMMAND, ids=lambda page: page.name)
def test_every_variable_of_ours_is_explained(page):
    read = {name for folder in ("stubs", "link", "tools") for kind in ("*.[ch]", "*.py")
            for file in (build.ROOT / folder).rglob(kind) if "upkeep" not in file.parts
            for name in re.findall(r'"(LAZYCUDA_[A-Z_]+)"', file.read_text())}
    assert read >= {"LAZYCUDA_CUDART", "LAZYCUDA_GUARD", "LAZYCUDA_LINK_LIBRARY", "LAZYCUDA_NVVM"}
    assert not [name for name in sorted(read) if name not in plain(page)]


# ---- the headers ----

def header_of(page):
    """Without its comments."""
    text = (build.ROOT / "include" / page.stem).read_text()
    return re.sub(r"/\*.*?\*/", "", text, flags=re.S)


@pytest.mark.parametrize("page", OF_HEADERS, ids=lambda page: page.name)
def test_every_function_is_described(page):
    text = page.read_text().partition(".SH DESCRIPTION")[2]
    names = re.findall(r"^[\w *]+ \*?(lazycuda_\w+)\(", header_of(page), re.M)
    assert len(names) > 8
    for name in names:
        assert re.search(rf"^\.BR {name} \(\)", text, re.M), name


def members(page, enumeration):
    body = re.search(rf"^enum {enumeration} \{{(.*?)^\}};", header_of(page), re.M | re.S)[1]
    return re.findall(r"\b(LAZYCUDA_\w+) = (\d+)", body)


@pytest.mark.parametrize("header, enumeration, row", [
    ("lazycuda.h", "lazycuda_state", "{name}\t"), ("lazycuda.h", "lazycuda_cause", "{name}\t"),
    ("lazycuda_link.h", "lazycuda_code", "{number}\t{short}\t"),
    ("lazycuda_link.h", "lazycuda_policy", ".B {name}\n")])
def test_every_number_is_described(header, enumeration, row):
    page, = [page for page in OF_HEADERS if page.stem == header]
    found = members(page, enumeration)
    assert len(found) > 2
    for name, number in found:
        line = row.format(name=name, number=number, short=name.replace("LAZYCUDA_CODE_", ""))
        assert f"\n{line}" in page.read_text(), name


def test_every_field_of_a_status_is_described():
    page, = [page for page in OF_HEADERS if page.stem == "lazycuda.h"]
    fields = re.findall(r"(\w+)(?:, (\w+))?;", re.search(
        r"^struct lazycuda_status \{(.*?)^\};", header_of(page), re.M | re.S)[1])
    text = page.read_text().partition(".SS struct lazycuda_status")[2].partition(".SS")[0]
    assert len(fields) > 8
    assert not [name for pair in fields for name in pair if name and not re.search(
        rf"\b{name}\b", text)]
