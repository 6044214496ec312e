# SPDX-License-Identifier: MIT
"""promises.txt has what holds each promise of docs/reference/threats.md and threads.md: tests
that there are; and every test of what is hostile and every target of the fuzzers holds one."""
import re

import pytest

import build
import pages


def promises(page="threats.md"):
    """(promise, what holds it) of each row that is about a page."""
    text = (build.TESTS / "docs" / "promises.txt").read_text()
    rows = [line.rpartition(" | ") for line in pages.section(text, f"## {page}").splitlines() if line]
    return [(promise, held.split()) for promise, _, held in rows]


def functions(path):
    return re.findall(r"^def (test_\w+)\(", path.read_text(), re.M)


@pytest.mark.parametrize("page, least", [("threats.md", 25), ("threads.md", 15)])
def test_every_promise_is_held_by_something_that_is_there(page, least):
    rows = promises(page)
    assert len(rows) > least
    for promise, holders in rows:
        assert holders, promise
        for holder in holders:
            file, _, name = holder.partition("::")
            path = build.ROOT / file if file.startswith("tests/") else build.TESTS / file
            assert path.exists(), holder
            assert not name or name in functions(path), holder


def test_every_target_of_the_fuzzers_is_named():
    named = {holder for _, holders in promises() for holder in holders}
    targets = {*build.TESTS.glob("fuzz/*.c"), build.TESTS / "fuzz" / "metadata.py"}
    assert {str(path.relative_to(build.ROOT)) for path in targets} <= named


def test_every_file_of_hostile_tests_is_named():
    named = {holder.partition("::")[0] for _, holders in promises() for holder in holders}
    assert {f"hostile/{path.name}" for path in build.TESTS.glob("hostile/test_*.py")} <= named
