# SPDX-License-Identifier: MIT
"""The steps of docs/reference/new-release.md, taken one after the other in a copy of the sources."""
import difflib
import re
from dataclasses import dataclass

import pytest

import build
import cuda14
import maintainer
import pages
import source_copy

# What runs of `make test`: the agreement of the tables with the loader, and the matrix.
PAIRS = ("11-14.0", "12-14.0", "13-14.0", "14-14.0", "14-13.5", "14-12.9", "14-11.8")
VERDICTS = ("14.0", "13.5", "12.9")


def commands():
    """Those of the page, without what they are said to be for."""
    return pages.commands(pages.where("reference/new-release.md"))


# ---- what a maintainer does at each line; each says what there was to see ----

def where_it_is(copy):
    maintainer.publish(copy)
    maintainer.edit_tables(copy)
    return ""


def derive(copy):
    return copy.run("make", "symbols").stdout


def read(copy):
    old, new = (path.read_text().splitlines() for path in (
        build.SYMBOLS, copy.root / "symbols.txt"))
    return "\n".join(line for line in difflib.unified_diff(old, new, n=0, lineterm="")
                     if line[0] in "+-" and not line.startswith(("+++", "---")))


def generate(copy):
    done = copy.run("make", "generate", check=False)
    assert done.returncode == 2 and (copy.root / "build/generated/libcudart_stub.import14.map"
                                     ).exists(), done.stderr
    return done.stderr


def by_hand(copy):
    maintainer.edit_stubs(copy)
    maintainer.edit_link_tables(copy)
    maintainer.edit_tests(copy)
    return ""


def make(copy):
    return copy.run("make", "CFLAGS=-O0", "generate", "all", "check-symbols").stdout


def tests(copy):
    """Those that agree with the list in all that it says of CUDA 14."""
    verdicts = copy.pytest("tests/audit/test_verdicts.py", " or ".join(VERDICTS))
    matrix = "tests/matrix/test_matrix.py", "does_what_it_says and ({})".format(" or ".join(PAIRS))
    said = copy.pytest(*matrix, check=False)
    skipped = re.search(rf"^SKIPPED \[{len(PAIRS)}\] \S+ (.*)", said, re.M)
    if skipped:
        pytest.skip(f"the copy's matrix was skipped: {skipped[1]}")
    counts = maintainer.add_counts(copy, said)
    assert len(counts) == len(PAIRS), said
    return "\n".join([verdicts, copy.pytest(*matrix)])


ACTIONS = {
    "$EDITOR tools/upkeep/toolkits.txt gen/hints.txt": where_it_is,
    "make symbols": derive,
    "git diff symbols.txt": read,
    "make generate": generate,
    "$EDITOR stubs tests packaging": by_hand,
    "make generate all check-symbols": make,
    "make test CUDA_VERSIONS=all": tests,
}


def follow(root):
    """{command: what it showed}, in the order of the page, and which files were edited."""
    copy = source_copy.Copy(root)
    return {command: ACTIONS[command](copy) for command in commands()}, sorted(copy.edited)


@dataclass
class Made(source_copy.Tree):
    said: dict
    edited: list

    def fake(self, library):
        """CUDA 14.0's library."""
        return self.root / "site" / library / cuda14.FOLDER / "lib" / f"lib{library}.so.14"

    @property
    def stubs(self):
        return self.root / "build" / "lib"

    @property
    def tool(self):
        return self.root / "build" / "bin" / "lazycuda"
