# SPDX-License-Identifier: MIT
"""Lists of libraries without majors: what they may say, and what is made of them."""
import re

import pytest

import elf
import lists

BASE = f"{lists.OTHER}\n{lists.WITHOUT_MAJORS}"


@pytest.fixture
def out(tmp_path):
    (tmp_path / "out").mkdir()
    return tmp_path / "out"


@pytest.mark.parametrize("old, new, message", [
    ("    majors none", "    majors ^two", "`two` where `none` or `own` is expected"),
    ("    majors none", "    majors none\n    ^majors none", "this was given on line 24 already"),
    ("    majors none\n", "", "library thing has no row `error refused`"),
    ("    witness thingA\n", "", "library thing has no row `witness`"),
    ("    witness thingA", "    witness ^thingX", "there is no function thingX"),
    ("    home /one", "    home ^one", "`one` is not an absolute path"),
    ("    error absent 22", "    error absent 22\n    ^error refused 23", "no such error"),
    ("    home /one", "    home /one\n    node ^libthing.so.0 1", "without majors has no nodes"),
    ("    home /one", "    home /one\n    folder ^lib 1.0-", "is in no toolkit"),
    ("    thingB 1.1-1.1 (i32)", "    thingB 1.1-1.1 (i32)\n    ^thingB 2.0- (i64)",
     "has another interface on line"),
    ("    thingB 1.1-1.1 (i32)", "    ^thingB 1.1-1.1 (i32) apart", "no majors to keep apart"),
    ("    variable OTHER", "    variable OTHER\n    home ^/usr", "only a library without majors"),
    ("    variable OTHER", "    variable OTHER\n    witness ^other", "only a library without majors"),
])
def test_malformed(gen, out, old, new, message):
    text = BASE.replace(old, new)
    assert text != BASE
    done = gen(text.replace("^", ""), out)
    assert done.returncode == 2 and list(out.iterdir()) == []
    assert message in done.stderr
    if "^" in new:
        before = text[:text.index("^")]
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        assert f":{line}:{column}: " in done.stderr


def test_no_refusal_is_a_success(gen, out):
    assert gen(BASE, out).returncode == 0
    text = (out / "libthing_stub.c").read_text()
    assert re.findall(r"\[(LC_[A-Z]+)\] = (\d+)", text) == [
        ("LC_MISSING", "21"), ("LC_ABSENT", "22"), ("LC_REFUSED", "21"), ("LC_DRIVER", "21"),
        ("LC_INCOHERENT", "21")]


def test_its_names_have_no_version(gen, out, cc, tmp_path):
    assert gen(BASE, out).returncode == 0
    loader = tmp_path / "loader.c"
    loader.write_text('#include "libthing_stub.h"\n'
                      "int32_t lc_slow(unsigned slot) { return (int32_t)slot; }\n")
    symbols = elf.exports(cc.stub(out, tmp_path / "libthing_stub.so", loader=loader))
    assert {(s.name, s.node) for s in symbols if s.name.startswith("thing")} == {
        ("thingA", None), ("thingB", None), ("thingC", None)}
    assert not [s.name for s in symbols if s.name.startswith("lc_")]
