# SPDX-License-Identifier: MIT
"""The manual pages: well formed, and complete where that can be told."""
import os
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
    said = build.run("groff", "-man", "-t", "-ww", "-rLL=80n", "-Tutf8", page)
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

@pytest.mark.parametrize("page", OF_HEADERS, ids=lambda page: page.name)
def test_whatever_a_header_declares_and_says_is_described(page):
    """Its functions; and each comment word for word, without marks."""
    header = re.sub(r"^#pragma.*", "", (build.ROOT / "include" / page.stem).read_text(), flags=re.M)
    functions = re.findall(r"^\w[\w *]* \*?(lazycuda_\w+)\(", header, re.M)
    assert len(functions) > 8
    synopsis, _, said = plain(page).partition(".SH DESCRIPTION")
    assert not [name for name in functions if f"{name}(" not in synopsis or f".SS {name}()" not in said]
    headings = re.findall(r"^\.SS .*", said, re.M)
    assert len(set(headings)) == len(headings)
    said = "".join(re.findall(r"\w", re.sub(r"^\.\w+", "", said, flags=re.M))).lower()
    for comment in re.findall(r"/\*(.*?)\*/", header.partition("#ifndef")[2], re.S):
        assert "".join(re.findall(r"\w", comment)).lower() in said, comment


def test_it_is_the_same_where_letters_have_other_capitals(tmp_path):
    """Turkish ones, of which gawk knows."""
    if subprocess.run([tool("localedef"), "-i", "tr_TR", "-f", "UTF-8", tmp_path / "tr_TR.UTF-8"],
                      capture_output=True).returncode:
        pytest.skip("there is no Turkish here: the package locales")
    names = "man/lazycuda.1", "generated/link_abi.py"
    where = build.made_at(tmp_path)
    subprocess.run(["make", "-C", build.ROOT, where, *(f"{where.partition('=')[2]}/{name}" for name in names)],
                   env={**os.environ, "LOCPATH": str(tmp_path), "LC_ALL": "tr_TR.UTF-8"}, check=True,
                   capture_output=True)
    for name in names:
        assert (tmp_path / name).read_bytes() == (build.BUILD / name).read_bytes()
