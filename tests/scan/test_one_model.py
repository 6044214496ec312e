# SPDX-License-Identifier: MIT
"""What scan writes gen reads, and what the one refuses the other does: both have one model of the
list and one reader."""
import subprocess

import pytest

import build


@pytest.fixture
def gen(tmp_path):
    """gen(list) makes stubs of it."""
    program = build.compile("gen", "-std=gnu11", "-g", "-Wall", "-Wextra", "-Werror",
                            *build.sanitizing(), *build.room("gen", "gen/model"))

    def run(path):
        (tmp_path / "made").mkdir(exist_ok=True)
        return subprocess.run([program, "-o", tmp_path / "made", path], capture_output=True, text=True)
    return run


def test_what_gen_would_refuse_is_not_put_in_place(toolkits, gen):
    # One SONAME for two majors: nobody could tell their callers apart.
    toolkits.list.write_text("as before\n")
    for version in ("1.0", "2.0"):
        toolkits.add(version, "void thingA(int);")
    said = toolkits.run().stderr
    left, line, column, why = said.strip().split(":", 3)
    assert why == " libthing.so.1 is the soname of majors 1 and 2"
    assert open(left).readlines()[int(line) - 1] == "    soname libthing.so.1 1.0-\n"
    assert toolkits.list.read_text() == "as before\n"
    done = gen(left)
    assert (done.returncode, done.stderr) == (2, said)


@pytest.mark.parametrize("word, letters, carried", [
    # Of what holds nothing yet, letters and conversions take no notice: in both by one rule.
    ("spare", "AAB", "{ 0, 0, 4 }"), ("", "ABC", "{ 0, 0, 12 }")])
def test_what_is_reserved_is_so_for_both(toolkits, gen, tmp_path, word, letters, carried):
    for version, fields in (("1.0", "int a, spare, in_spare1;"), ("1.1", "int a; short b, c; int in_spare1;"),
                            ("1.2", "int a, spare, in_spare1; long more;")):
        toolkits.add(version, f"struct s {{ {fields} }}; void thingA(struct s *);".replace("in_", ""))
    derived = toolkits.derive(f"    reserved {word}\n" if word else "")
    assert "".join(size.split()[3] for size in derived.sizes("s")) == letters
    assert (f"reserved {word}" in derived.blocks["library thing"]) == bool(word)
    done = gen(toolkits.list)
    assert (done.returncode, done.stderr) == (0, "")
    made = (tmp_path / "made" / "libthing_stub.layouts.h").read_text()
    conversion = made[made.index(f"LC_CONVERSION(s_{letters[2]}, s_A) = {{"):]
    copies = conversion[conversion.index(".copies"):conversion.index(".lost")]
    assert carried in copies and copies.count("{ ") == 2, copies
