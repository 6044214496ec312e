# SPDX-License-Identifier: MIT
"""A hint that is malformed, or that applies to nothing, is refused with its place."""

import pytest

HEADER = """
struct s { int a; };
enum thingStatus thingF(struct s *s, int *count, void *any, int number);
"""


@pytest.mark.parametrize("row, column, why", [
    # that name something that does not exist
    ("direction thingX count in", 15, "applies to nothing: thingX count"),
    ("result thingX i32", 12, "applies to nothing: thingX"),
    ("declared thingX ()", 14, "applies to nothing: thingX"),
    ("family *_v# *", 12, "applies to nothing: *_v#"),
    ("hook thingF thingX", 17, "applies to nothing: thingX"),
    ("layout thingX 1.0- s 1.0 t", 12, "applies to nothing: thingX"),
    ("layout thingF 1.0- s 1.1 t", 12, "there is no toolkit 1.1"),
    ("reserved pad", 14, "no field is called pad"),
    # that are malformed
    ("nonsense thingF", 5, "'nonsense' is not a kind of hint"),
    ("direction thingF count", 5, "expected: direction FUNCTION"),
    ("direction thingF count up", 28, "'up' is none of in, out, inout, buf, ptr"),
    ("folder lib 1", 16, "'1' is not a range of versions"),
    ("layout thingF 1.0 s now t", 25, "'now' is neither a version nor same"),
    ("parse rust thing.h", 11, "'rust' is none of c, c++"),
    ("stub libother.so", 5, "stub is given twice"),
])
def test_a_row(toolkits, row, column, why):
    toolkits.add("1.0", HEADER, ["thingF"])
    message = toolkits.refuse(f"# a comment\n\n    {row}  # and another\n")
    line = toolkits.base.count("\n") + 3
    assert message.startswith(f"{toolkits.hints}:{line}:{column}: "), message
    assert why in message


@pytest.mark.parametrize("edit, where, why", [
    (lambda base: "", "", "names no library"),
    (lambda base: "    stub libthing_stub.so\n", ":1:5", "a row before any `library`"),
    (lambda base: base + "library thing\n", ":13:9", "library thing is there already"),
    (lambda base: base.replace("    stub libthing_stub.so\n", ""), ":1:1", "has no `stub`"),
    (lambda base: base.replace("    include include 1.0-\n", ""), ":1:1",
     "has no `include` for 1.0"),
])
def test_a_file(toolkits, edit, where, why):
    toolkits.add("1.0", HEADER, ["thingF"])
    message = toolkits.refuse(base=edit(toolkits.base))
    assert message.startswith(f"{toolkits.hints}{where}: "), message
    assert why in message
