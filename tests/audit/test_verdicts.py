# SPDX-License-Identifier: MIT
"""What the tables promise is what the loader does: for every name that callers
of any major import, on every version of every library."""
import json

import pytest

import build
import inside
import symbols
from fakes import fake

DIRECT, RENAMED, ADAPTED, REFUSED, ABSENT = range(5)
CAUSES = {REFUSED: 3, ABSENT: 2}


CASES = [(library, ".".join(map(str, version))) for library in build.STUBBED
         for version in map(symbols.version, symbols.read().toolkits)
         if symbols.read().libraries[library].soname(version)]


@pytest.mark.parametrize("library, version", CASES)
def test_the_loader_does_what_the_tables_say(world, library, version):
    world.loader(fake(library, version))
    stub = inside.stub(library, build.TESTS / "audit" / "verdicts.c")
    said = world.root / "verdicts"
    called = world.probe(f"open:{stub}", "call:lazycuda_test_verdicts", VERDICTS=said)[-1]
    assert called["value"] == 0
    rows = [json.loads(line) for line in said.read_text().splitlines()]
    listed = symbols.read().libraries[library]
    assert {(row["name"], row["major"]) for row in rows} == {
        (f.name, major) for f in listed.functions
        for major in ([0] if listed.without_majors else f.range.majors())}
    # Of a name that newer headers of the driver lack nobody knows whether it went; fakes lack it.
    wanted = symbols.version(version)
    gone = {f.name for f in listed.functions if listed.without_majors and
            f.range.versions()[0] < wanted and wanted not in f.range}
    wrong = [row for row in rows if row["name"] not in gone and not agrees(row, stub, library)]
    assert not wrong


def agrees(row, stub, library):
    if row["verdict"] in CAUSES:
        return row["status"] and row["cause"] == CAUSES[row["verdict"]]
    if row["status"]:
        return False
    if row["verdict"] == ADAPTED:
        return row["object"] == str(stub)
    if row["object"] == str(stub):
        return False
    # nvJitLink's versioned names are one function, and any of them will do.
    return library == "nvJitLink" or (row["symbol"] == row["name"]) == (row["verdict"] == DIRECT)
