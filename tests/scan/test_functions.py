# SPDX-License-Identifier: MIT
"""Prototypes: what a declaration becomes, and which one holds for a name."""
import pytest


@pytest.mark.parametrize("declaration, expected", [
    ("enum thingStatus thingF(void);", "()"),
    ("enum thingStatus thingF(int, unsigned, long, unsigned long long, float, double);",
     "(i32, u32, i64, u64, f32, f64)"),
    ("enum thingStatus thingF(char, signed char, unsigned char, short, unsigned short);",
     "(i8, i8, u8, i16, u16)"),
    ("enum thingStatus thingF(const char *in, char *buffer);", "(in i8, buf i8)"),
    ("enum thingStatus thingF(void *, const void *, void **, const void **);",
     "(ptr, ptr, out ptr, out ptr)"),
    ("enum thingStatus thingF(struct opaque *);", "(ptr)"),
    ("enum thingStatus thingF(void (*)(int), int (*)());", "(ptr, ptr)"),
    ("enum thingStatus thingF(int values[4], const int more[]);", "(out i32, in i32)"),
    ("#include <stddef.h>\n#include <stdint.h>\n"
     "enum thingStatus thingF(size_t, uint32_t, int64_t *);", "(u64, u32, out i64)"),
    ("struct s { int a; }; enum thingStatus thingF(struct s, struct s *, const struct s *);",
     "(s, out s, in s)"),
    ("const char *thingF(int);", "(i32) -> ptr"),
    ("struct s { int a; }; struct s thingF(void);", "() -> s"),
])
def test_types(toolkits, declaration, expected):
    derived = toolkits.add("1.0", declaration, ["thingF"]).derive()
    assert derived.function("thingF") == [f"1.0- {expected}"]


def test_a_row_for_each_interface(toolkits):
    old, new = "enum thingStatus thingF(int);", "enum thingStatus thingF(int, void *);"
    toolkits.add("1.0", old).add("1.1", new).add("1.2", new).add("1.10", old)
    assert toolkits.derive().function("thingF") == ["1.0,1.10- (i32)", "1.1-1.2 (i32, ptr)"]


def test_a_name_that_comes_and_one_that_goes(toolkits):
    toolkits.add("1.0", "void thingA(void);")
    toolkits.add("1.1", "void thingA(void); void thingB(void);")
    toolkits.add("2.0", "void thingB(void);", soname="libthing.so.2")
    derived = toolkits.derive()
    assert derived.functions == ["thingA 1.0-1.1 () -> void", "thingB 1.1- () -> void"]
    assert [row for row in derived.blocks["library thing"] if row.startswith("soname")] == [
        "soname libthing.so.1 1.0-1.1", "soname libthing.so.2 2.0-"]


UNITED = """
#ifdef INTERNAL
enum thingStatus thingOld(int);
#else
#define thingNew thingNew_v2
#endif
enum thingStatus thingNew(int *);
"""
CPLUSPLUS = """
#ifdef __cplusplus
struct v { int x; v(int x = 1) : x(x) {} };
extern "C" { unsigned thingPush(v a, v b = 2, struct opaque *s = 0); }
#endif
"""


@pytest.mark.parametrize("header, names, hints, functions", [
    # Several ways to read a header are united.
    (UNITED, "thingNew thingNew_v2 thingOld", "    parse c -DINTERNAL thing.h\n    family *_v# *\n",
     ["thingNew 1.0- (out i32)", "thingNew_v2 1.0- (out i32) family thingNew", "thingOld 1.0- (i32)"]),
    (CPLUSPLUS, "thingPush", "    parse c++ thing.h\n", ["thingPush 1.0- (v, v, ptr) -> u32"]),
    # A name takes its family's declaration.
    ("enum thingStatus __thingMake_1_0(void **);", "__thingMake_1_0 __thingMake_1_7 thingMake",
     "    family __thing*_#_# thing*\n",
     ["__thingMake_1_0 1.0- (out ptr) family thingMake", "__thingMake_1_7 1.0- (out ptr) family thingMake",
      "thingMake 1.0- (out ptr)"]),
    # Later hints win.
    ("enum thingStatus thingF(int *a); enum thingStatus thingG(int *a);", "thingF thingG",
     "    direction * a buf\n    direction thingF a in\n", ["thingF 1.0- (in i32)", "thingG 1.0- (buf i32)"])])
def test_what_holds_for_a_name(toolkits, header, names, hints, functions):
    assert toolkits.add("1.0", header, names.split()).derive(hints).functions == functions


def test_what_is_not_exported_is_not_listed(toolkits):
    header = "struct s { int a; }; void thingA(void); void thingB(struct s); "
    header += "static inline void thingC(void) {}"
    derived = toolkits.add("1.0", header, ["thingA", "thingC"]).derive()
    assert derived.functions == ["thingA 1.0- () -> void", "thingC 1.0- (?) undeclared"]
    assert derived.structs() == []


def test_a_per_thread_twin_has_its_base_name_s_prototype(toolkits):
    for version, type_ in (("1.0", "int *"), ("1.1", "long")):
        toolkits.add(version, f"enum thingStatus thingF({type_});", ["thingF", "thingF_ptsz", "thingF_ptds"])
    derived = toolkits.derive("    direction thingF 1 in\n")
    assert (derived.function("thingF") == derived.function("thingF_ptsz") ==
            derived.function("thingF_ptds") == ["1.0 (in i32)", "1.1- (i64)"])


def test_what_hints_say(toolkits):
    header = """
    typedef struct opaque *handle;
    enum thingStatus thingA(handle *h, int *in, int *count, int *values, void *p, void *q);
    unsigned thingPush(int);
    void thingLog(char *log);
    """
    toolkits.add("1.0", header, ["thingA", "thingPush", "thingLog", "thingX", "thingY", "thingZ"])
    derived = toolkits.derive("""\
    direction thing* 4 buf
    direction thingA in in
    direction thingA h inout
    direction thingA q out ptr
    direction thingLog log ptr
    result thingPush status
    declared thingX (in i8, out ptr) -> ptr
    measured thingY (ptr, u64)
    hook thingP* thingY
    slow thingY
    """)
    assert derived.functions == [
        "thingA 1.0- (inout ptr, in i32, out i32, buf i32, ptr, out ptr)",
        "thingLog 1.0- (ptr) -> void",
        "thingPush 1.0- (i32) hook",
        "thingX 1.0- (in i8, out ptr) -> ptr",
        "thingY 1.0- (ptr, u64) hook slow undeclared",
        "thingZ 1.0- (?) undeclared"]


def test_the_enumeration(toolkits):
    toolkits.add("1.0", "void thingF(void);", status="enum thingStatus { ok, low = -1, last = 7 };")
    toolkits.add("1.1", "void thingF(void);", status="enum thingStatus { ok, low = -1, new, last = 9 };")
    assert toolkits.derive().blocks["enum thingStatus"] == [
        "low -1 1.0-", "new 0 1.1-", "ok 0 1.0-", "last 7 1.0", "last 9 1.1-"]


def test_a_missing_enumeration_is_refused(toolkits):
    toolkits.add("1.0", "void thingF(void);", status="")
    assert "no header of 1.0 defines enum thingStatus" in toolkits.refuse()


@pytest.mark.parametrize("declaration, why", [
    ("void thingF(int, ...);", "takes a variable number of arguments"),
    ("void thingF(long double);", "the type long double is not one"),
    ("void thingF(undefined);", "error: "),
    ("struct s { int a : 3; }; void thingF(struct s *);", "has no byte offset"),
])
def test_what_the_list_cannot_say_is_refused(toolkits, declaration, why):
    assert why in toolkits.add("1.0", declaration, ["thingF"]).refuse()


@pytest.mark.parametrize("header, why", [
    ("#ifdef __aarch64__\nvoid thingF(int);\n#else\nvoid thingF(long);\n#endif",
     "thingF differs between x86_64 and aarch64"),
    ("#ifdef __aarch64__\nvoid thingF(int);\n#endif",
     "thingF differs between aarch64 and x86_64"),
    ("struct s {\n#ifdef __aarch64__\nint pad;\n#endif\nint a; };\nvoid thingF(struct s *);",
     "differs between x86_64 and aarch64"),
])
def test_cpus_have_to_agree(toolkits, header, why):
    message = toolkits.add("1.0", header, ["thingF"]).refuse()
    assert why in message or "aarch64" in message
