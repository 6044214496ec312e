# SPDX-License-Identifier: MIT
"""Where the project is, is said in the Makefile, and every package says the same."""
import re

import pytest

import build

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


def said(file, fields):
    """{kind: URL} of a file."""
    text = (build.ROOT / file).read_text()
    found = {kind: re.search(pattern, text, re.M) for kind, pattern in fields.items()}
    return {kind: match[1] for kind, match in found.items() if match and match[1]}


URLS = said("Makefile", {kind: rf"^{kind} :=[ \t]*(\S*)$" for kind in ("HOMEPAGE", "REPOSITORY", "ISSUES")})


@pytest.mark.parametrize("file", FIELDS)
def test_every_file_says_what_the_makefile_says(file):
    assert said(file, FIELDS[file]) == {kind: URLS[kind] for kind in FIELDS[file] if kind in URLS}


def test_that_there_is_none_is_said_as_long_as_there_is_none():
    assert ("it has no home page" in " ".join((build.ROOT / "README.md").read_text().split())) == (not URLS)
