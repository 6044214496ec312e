# SPDX-License-Identifier: MIT
"""Where the project is, is said in the Makefile, and every package says the same."""
import re

import pytest

import build

KINDS = ("HOMEPAGE", "REPOSITORY", "ISSUES")
# {file: how it says each}; what a format has no field for is left out.
FIELDS = {
    "pyproject.toml": {"HOMEPAGE": r'^Homepage = "(.*)"', "REPOSITORY": r'^Repository = "(.*)"',
                       "ISSUES": r'^Issues = "(.*)"'},
    "packaging/lazycuda.spec": {"HOMEPAGE": r"^URL: +(\S+)"},
    "packaging/debian/control": {"HOMEPAGE": r"^Homepage: (\S+)",
                                 "REPOSITORY": r"^Vcs-Browser: (\S+)"},
    "packaging/debian/copyright": {"HOMEPAGE": r"^Source: (\S+)"},
    "packaging/conda/recipe.yaml": {"HOMEPAGE": r"^  homepage: (\S+)",
                                    "REPOSITORY": r"^  repository: (\S+)"},
    "README.md": {"REPOSITORY": r"^    \$ git clone (\S+)", "ISSUES": r"\[issues\]\((\S+)\)"},
}
NOT_YET = "it has no home page"


def told(text):
    """{kind: URL} of the Makefile, those that are set."""
    found = {kind: re.search(rf"^{kind} :=[ \t]*(\S*)$", text, re.M)[1] for kind in KINDS}
    return {kind: url for kind, url in found.items() if url}


def said(text, fields):
    """{kind: URL} of another file."""
    found = {kind: re.search(pattern, text, re.M) for kind, pattern in fields.items()}
    return {kind: match[1] for kind, match in found.items() if match}


@pytest.mark.parametrize("file", FIELDS)
def test_every_file_says_what_the_makefile_says(file):
    urls = told((build.ROOT / "Makefile").read_text())
    text = (build.ROOT / file).read_text()
    assert said(text, FIELDS[file]) == {kind: urls[kind] for kind in FIELDS[file] if kind in urls}


def test_that_there_is_none_is_said_as_long_as_there_is_none():
    readme = " ".join((build.ROOT / "README.md").read_text().split())
    assert (NOT_YET in readme) == (not told((build.ROOT / "Makefile").read_text()))
