# SPDX-License-Identifier: MIT
"""PTX as compilers, tools and people write it."""
import pytest

HEADER = ".version 8.3\n.target sm_90\n.address_size 64\n"
RELOCATABLE, NO_ROOT = 0x01, 0x200
DEBUG = 0x20 | 0x4000       # without the information


@pytest.fixture
def symbols(read):
    """The symbols of a module of which this is the rest."""
    def run(text):
        entry = read(HEADER + text)
        assert entry.wrong is None, entry.wrong
        return entry.symbols
    return run


# The header.

@pytest.mark.parametrize("text, isa, arch", [
    (".version 8.3\n.target sm_90\n", 83, "90"),
    (".version 8.8\n.target sm_103f\n", 88, "103f"),
    ("\n\n\t  .version\t7.0\n.target\tsm_52,texmode_independent\n", 70, "52"),
    ("// .version 1.0\n/* .target sm_10\n*/.version 6.4 // x\n.target /* y */ sm_75\n", 64, "75"),
    (".version 8.3\n.target sm_90, debug\n", 83, "90"),
    (".version 10.2\n.target sm_130\n", 102, "130"),
])
def test_version_and_target(read, text, isa, arch):
    entry = read(text)
    assert (entry.wrong, entry.headers, entry.error) == (None, None, None)
    assert (entry.kind, entry.isa, entry.arch) == ("ptx", isa, arch)
    assert entry.flags == RELOCATABLE | NO_ROOT | (DEBUG if "debug" in text else 0)
    assert entry.toolkit == 0
    # With a kernel there is something that stays.
    assert not read(text + "\n.visible .entry k() { ret; }\n").flags & NO_ROOT


def test_a_header_behind_a_long_comment(read):
    """Of which one half lies within what is looked at for headers alone."""
    for length in range(65536 - 30, 65536 - 8, 3):
        entry = read("//" + "x" * (length - 3) + "\n.version 8.3\n.target sm_90\n")
        assert (entry.wrong, entry.headers, entry.isa, entry.arch) == (None, None, 83, "90")


def test_the_compiler_that_signed(read):
    signed = "//\n// Cuda compilation tools, release 12.8, V12.8.93\n//\n" + HEADER
    assert read(signed).toolkit == 12080
    # What stands behind the header is no signature.
    assert read(HEADER + "// Cuda compilation tools, release 12.8, V12.8.93\n").toolkit == 0
    for release in ("", "x", "12", "12.", "99999.1"):
        assert read(f"// Cuda compilation tools, release {release}\n" + HEADER).toolkit == 0


@pytest.mark.parametrize("text, wrong", [
    (".version 8\n.target sm_90\n", "has a malformed .version"),
    (".version 8.3x\n.target sm_90\n", "has a malformed .version"),
    (".version 0.0\n.target sm_90\n", "has a malformed .version"),
    (".version 8.3\n.address_size 64\n", "has no .target after its .version"),
    (".version 8.3\n.target gpu_90\n", "has a malformed .target"),
    (".version 8.3\n.target sm_" + "9" * 100 + "\n", "has a malformed .target"),
])
def test_a_header_that_is_wrong(read, text, wrong):
    entry = read(text)
    assert entry.wrong == entry.headers == wrong


def test_nuls_at_the_end(read):
    for nuls in (1, 2, 9):
        assert read(HEADER.encode() + bytes(nuls)).wrong is None
    assert read(HEADER.encode() + b"\0.func").wrong == \
        f"has a NUL byte within its text, at 0x{len(HEADER):x}"


# What it defines and declares.

@pytest.mark.parametrize("text, name, how", [
    (".weak .entry k () { ret; }", "k", "defined-weak-kernel"),
    (".visible .entry k (.param .u64 p) .maxntid 128, 1, 1 .minnctapersm 2 { ret; }", "k",
     "defined-kernel"),
    (".visible .entry\nk\n(\n.param .u64 .ptr .global .align 8 p[4]\n)\n{\nret;\n}", "k",
     "defined-kernel"),
    (".visible .func (.param .b32 r) f (.param .b32 a) { ret; }", "f", "defined"),
    (".weak .func f () { ret; }", "f", "defined-weak"),
    (".visible .func .attribute(.unified(19, 95)) f () { ret; }", "f", "defined"),
    (".extern .func (.param .align 8 .b8 r[16]) f (.param .b32 a, .param .b32 b) .noreturn;", "f",
     "needed"),
    (".visible .func f ();", "f", "needed"),
    (".visible .global .align 4 .b8 v[16] = {1, 2, 3};", "v", "defined"),
    (".visible .global .attribute(.unified(1, 2), .managed) .f32 v;", "v", "defined"),
    (".visible .global .v4 .f32 v = {0f3F800000, 1.0, 2.0, 3.0};", "v", "defined"),
    (".visible .global .texref v;", "v", "defined-weak"),
    (".extern .global .samplerref v;", "v", "defined-weak"),
    (".visible .global .surfref v = {width = 4};", "v", "defined-weak"),
    (".visible .const[2] .u32 v;", "v", "defined"),
    (".weak .global .u32 v;", "v", "defined-weak"),
    (".common .global .u32 v;", "v", "defined-weak"),
    (".extern .global .u32 v;", "v", "needed"),
    (".visible .global .u64 $v$1 = generic(w);", "$v$1", "defined"),
    (".visible .global .u32 %v;", "%v", "defined"),
])
def test_one_symbol(symbols, text, name, how):
    assert symbols(text) == {name: how}


@pytest.mark.parametrize("text", [
    ".func f () { ret; }", ".entry k () { ret; }", ".const .u32 v = 1;", ".extern .shared .u32 a, b;",
    ".global .align 1 .b8 $str[6] = {125, 32, 123, 32, 34, 0};",
    "// .visible .func f () { ret; }\n", "/* .visible .global .u32 v; */",
    "#define X .visible .global .u32 v;\n", "@@DWARF .visible .func f () {\n",
    '.file 1 ".visible .global .u32 v;"\n', '.pragma "nounroll";',
    ".section .debug_str { L: .b8 1, 2\n.b32 L }", ".section .debug_macinfo\n{\n}\n",
    ".section .debug_info { .visible .global .u32 v; }", ";;", "} ) ] , = 5 @ x\n",
])
def test_what_is_no_symbol(symbols, text):
    assert symbols(text) == {}
    # And what follows is seen as if it were not there.
    assert symbols(text + "\n.visible .global .u32 after;") == {"after": "defined"}
    assert symbols(text + "\n.global .u32 after;") == {}


@pytest.mark.parametrize("body", [
    "{ { ret; } { } }", '{ .pragma "a}b"; ret; }', "{ // }\n ret; }", "{ /* } */ ret; }",
    '{ .loc 1 2 3, function_name "}", inlined_at 1 2 3\n }',
    "{ div.u32 %r1, %r2, 3; /* { */ }", '{ .pragma "\\"; }', "{ a/b; }",
    "{ p: .callprototype (.param .b32 _) _ (.param .b64 _); .branchtargets L, M; }",
])
def test_bodies_are_skipped(symbols, body):
    assert symbols(f".visible .func f () {body} .visible .func g () {body}") == {
        "f": "defined", "g": "defined"}


@pytest.mark.parametrize("text, found", [
    (".visible .global .u32 a, b[3] = {1, 2, 3}, c = 5, d[2][2] = {{1, 2}, {3, 4}}, e = generic(x), f;",
     dict.fromkeys("abcdef", "defined")),
    # A declaration and its definition are one symbol.
    (".extern .func f (); .visible .func f () { ret; }", {"f": "defined"}),
    (".visible .func f (); .visible .func f () { ret; }", {"f": "defined"}),
    (".weak .func f (); .weak .func f () { ret; }", {"f": "defined-weak"}),
    # An alias defines.
    (".visible .func a (); .visible .func b () { ret; } .alias a, b;", {"a": "defined", "b": "defined"}),
    (".func a (); .func b () { ret; } .alias a, b;", {})])
def test_several_symbols(symbols, text, found):
    assert symbols(text) == found


# Text that ends too early.

@pytest.mark.parametrize("text, what", [
    ("/* x", "a comment"), ('.file 1 "x', "a string"), (".section .debug_str { .b8 1", "a section"),
    (".visible .func f () { ret;", "the body of a function"),
    (".visible .func f ()", "the declaration of a function"),
    (".visible .func (.param .b32 r", "a list"), (".visible .func f (.param .b32", "a list"),
    (".visible .global .u32 v", "the declaration of a variable"),
    (".visible .global .u32 v[3] = {1, 2", "the value of a variable"),
    (".visible .global .u32 v[", "a list"),
])
def test_what_is_cut_off_is_named(read, text, what):
    entry = read(HEADER + text)
    assert entry.wrong.startswith(f"ends inside {what} that begins at 0x")
    assert entry.headers is None
    # Where it begins is a place in the text.
    at = int(entry.wrong.rpartition("0x")[2], 16)
    assert len(HEADER) <= at < len(HEADER + text)
    assert entry.symbols == {}
