# SPDX-License-Identifier: MIT
"""Layouts of structs, and which of them are interchangeable."""
import pytest

USE = "enum thingStatus thingF(struct s *);"


def layouts(toolkits, *bodies, hints="", before="", use=USE):
    """The sizes of struct s where toolkits 1.0, 1.1, ... give it these bodies."""
    for minor, body in enumerate(bodies):
        toolkits.add(f"1.{minor}", f"{before}\nstruct s {{ {body} }};\n{use}", ["thingF"])
    return toolkits.derive(hints).sizes("s")


def test_fields(toolkits):
    header = """
    struct inner { char c; short h; };
    struct other { int a; };
    union u { int i; double d; };
    struct s {
        char name[16];
        int grid[2][3];
        struct inner in;
        struct { long a; union { int b; float c; }; } named;
        union { void *p; struct other *o; const struct other *co; struct opaque *h; };
        union u u;
        struct inner many[2];
        void (*call)(int);
        enum { A, B } kind;
        unsigned long long big;
    };
    """
    derived = toolkits.add("1.0", header + USE, ["thingF"]).derive()
    assert derived.sizes("s") == ["112 1.0- layout A"]
    assert derived.fields("s") == [
        ".name i8[16] 0 1.0-", ".grid i32[6] 16 1.0-", ".in.c i8 40 1.0-", ".in.h i16 42 1.0-",
        ".named.a i64 48 1.0-", ".named.b i32 56 1.0-", ".named.c f32 56 1.0-",
        ".co *other 64 1.0-", ".h ptr 64 1.0-", ".o *other 64 1.0-", ".p ptr 64 1.0-",
        ".u.d f64 72 1.0-", ".u.i i32 72 1.0-", ".many inner[2] 80 1.0-", ".call ptr 88 1.0-",
        ".kind i32 96 1.0-", ".big u64 104 1.0-"]
    # Only what a function leads to, by value or through a pointer.
    assert derived.structs() == ["inner", "other", "s"]


@pytest.mark.parametrize("old, new, size", [
    ("int a;", "unsigned b;", 4),
    ("long a;", "unsigned long long a;", 8),
    ("int a, reserved;", "int a, reserved2;", 8),
    ("int a; int reserved[3];", "int a; char reserved[12];", 16),
])
def test_what_makes_no_difference(toolkits, old, new, size):
    hints = "    reserved reserved\n" if "reserved" in old else ""
    assert layouts(toolkits, old, new, hints=hints) == [f"{size} 1.0- layout A"]


@pytest.mark.parametrize("old, new", [
    ("int a;", "int a, b;"),                # another size
    ("int a, b, c;", "int a; long b;"),     # another type
    ("int a; float b;", "float b; int a;"),  # moved
    ("int a, b;", "int b, a;"),             # each where one of its type was
    ("char *p; int reserved;", "long p; int reserved;"),
])
def test_what_makes_a_difference(toolkits, old, new):
    hints = "    reserved reserved\n" if "reserved" in old + new else ""
    sizes = layouts(toolkits, old, new, hints=hints)
    assert [size.split()[1:] for size in sizes] == [["1.0", "layout", "A"], ["1.1-", "layout", "B"]]


LONG, SHORT = "int a[17]; int extra;", "int a[17];"


@pytest.mark.parametrize("reserved, bodies, sizes", [
    # Growth into a reserved tail, and into padding.
    ("reserved", ["int a; int reserved[3];", "int a, b; int reserved[2];", "int a, b; int reserved[2];",
                  "int a, b, c; int reserved[1];"],
     ["16 1.0 layout A", "16 1.1-1.2 layout A tail", "16 1.3- layout A tail"]),
    ("", ["long a; int b;", "long a; int b, c;"], ["16 1.0 layout A", "16 1.1- layout A tail"]),
    # reserved2 may become anything; reservedBlocks is a field like any other.
    ("reserved", ["int reservedBlocks; int reserved2;", "float a; float b;", "float a; int reserved2;"],
     ["8 1.0 layout A", "8 1.1 layout B", "8 1.2- layout C"]),
    # Growth of a union: y lies where only the pad was.
    ("pad", ["union { int a; char pad[16]; };", "union { int a; int b; char pad[16]; };",
             "union { int a; int b; struct { float x; int y; } c; char pad[16]; };"],
     ["16 1.0 layout A", "16 1.1 layout A union", "16 1.2- layout A tail union"]),
    # Return to an earlier layout.
    ("", [LONG, SHORT, LONG, LONG, "long a;", SHORT],
     ["72 1.0 layout A", "68 1.1 layout B", "72 1.2-1.3 layout A", "8 1.4 layout C", "68 1.5- layout B"])])
def test_how_a_struct_changes(toolkits, reserved, bodies, sizes):
    assert layouts(toolkits, *bodies, hints=f"    reserved {reserved}\n" if reserved else "") == sizes


EACH_OTHER = ("struct s {{ struct t *t; struct s *next; }}; struct t {{ struct u *u; }};"
              "struct u {{ struct s *s; struct v *v; }}; struct v {{ {} }};")


@pytest.mark.parametrize("header, inner, hints, sizes", [
    # A struct behind a pointer counts; growth there keeps the letter; and structs that point to each other.
    ("struct t {{ {} }}; struct s {{ int n; struct t *p; }};", ["int a;", "long a;", "int a;"], "", {
        "t": ["4 1.0 layout A", "8 1.1 layout B", "4 1.2- layout A"],
        "s": ["16 1.0 layout A", "16 1.1 layout B", "16 1.2- layout A"]}),
    ("struct t {{ {} }}; struct s {{ struct t *p; }};", ["int a; int reserved;", "int a; int b;"],
     "    reserved reserved\n", {"t": ["8 1.0 layout A", "8 1.1- layout A tail"], "s": ["8 1.0- layout A"]}),
    (EACH_OTHER, ["int a;", "int a;", "float a;", "float a;"], "", {
        name: [f"{size} 1.0-1.1 layout A", f"{size} 1.2- layout B"]
        for name, size in (("s", 16), ("t", 8), ("u", 16), ("v", 4))})])
def test_structs_behind_pointers(toolkits, header, inner, hints, sizes):
    for minor, text in enumerate(inner):
        toolkits.add(f"1.{minor}", header.format(text) + USE, ["thingF"])
    derived = toolkits.derive(hints)
    assert {name: derived.sizes(name) for name in sizes} == sizes


@pytest.mark.parametrize("header, name", [
    ("struct s_st { int a; }; typedef struct s_st s; void thingF(s *);", "s"),
    ("struct s_st { int a; }; typedef struct s_st s_t; void thingF(s_t *);", "s_t"),
    ("struct s_st { int a; }; void thingF(struct s_st *);", "s_st"),
    ("typedef struct { int a; } s; void thingF(s *);", "s"),
    ("typedef union { int a; } s; void thingF(const s *);", "s"),
])
def test_names_of_structs(toolkits, header, name):
    assert toolkits.add("1.0", header, ["thingF"]).derive().structs() == [name]


def test_a_hint_gives_a_function_another_toolkit_s_layout(toolkits):
    use = "void thingGet(struct s *); void thingSet(const struct s *);"
    toolkits.add("1.0", "struct s { int a; };" + use)
    toolkits.add("1.1", "struct s { int a, b; };" + use)
    toolkits.add("1.2", "struct s { int a, b, c; };" + use)
    derived = toolkits.derive("    layout thingGet 1.0-1.1 s 1.0 s_v1\n")
    assert derived.function("thingGet") == ["1.0-1.1 (out s_v1) -> void", "1.2- (out s) -> void"]
    assert derived.function("thingSet") == ["1.0- (in s) -> void"]
    assert derived.sizes("s_v1") == ["4 1.0-1.1 layout A"]
    assert derived.sizes("s") == ["4 1.0 layout A", "8 1.1 layout B", "12 1.2- layout C"]
    assert "struct s_v1\n    # 1.0-1.1: s in the headers of 1.0\n" in derived.text


def test_a_hint_renames_a_struct_in_one_toolkit(toolkits):
    toolkits.add("1.0", "struct s { int a[3]; }; void thingF(struct s *);")
    toolkits.add("1.1", "struct s { int a[2]; }; struct s_v2 { int a[3]; };"
                 "void thingF(struct s *); void thingF_v2(struct s_v2 *);")
    toolkits.add("1.2", "struct s { int a[3]; }; void thingF(struct s *);")
    derived = toolkits.derive("    layout thingF 1.1 s same s_short\n"
                              "    layout thingF_v2 1.1 s_v2 same s\n")
    assert derived.sizes("s") == ["12 1.0- layout A"]
    assert derived.sizes("s_short") == ["8 1.1 layout A"]


def test_a_hint_that_gives_a_struct_two_layouts_is_refused(toolkits):
    toolkits.add("1.0", "struct s { int a; }; struct t { int b; };"
                 "void thingF(struct s *); void thingG(struct t *);")
    assert "two layouts" in toolkits.refuse("    layout thingF 1.0 s same t\n")
