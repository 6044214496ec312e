# SPDX-License-Identifier: MIT
"""What differs between libraries: nodes, numbers, kinds of symbols."""
import pytest

import build
import own_stubs

SOURCE = "int barA(void) { return 101; }\nint barB(void) { return 102; }\n"


def call(world, stub, *commands):
    return world.probe(f"open:{stub.file}", *commands)[1:]


def test_two_majors_without_nodes_cannot_be_told_apart(tmp_path):
    words = [word for n in (1, 2) for word in (
        "--from", own_stubs.library(tmp_path / f"{n}", f"libbar.so.{n}", SOURCE, script=""))]
    done = own_stubs.run(*words, "--missing", "7", "-o", tmp_path / "bar")
    assert done.returncode == 2 and "without version nodes nobody can tell" in done.stderr
    assert not (tmp_path / "bar").exists()


def test_what_is_no_c_function_is_left_out_and_said(world, tmp_path):
    real = own_stubs.library(tmp_path / "real", "libbar.so.1", SOURCE + (
        "int barTable[4] = { 1 };\n__thread int barThread = 1;\n"
        "__attribute__((weak)) int barWeak(void) { return 103; }\n"
        "int cplusplus(void) __asm__(\"_ZN3bar3fooEv\"); int cplusplus(void) { return 1; }\n"
        "int odd(void) __asm__(\"bar.part.0\"); int odd(void) { return 1; }\n"))
    stub = own_stubs.stub(tmp_path / "bar", "--from", real, "--missing", "7")
    assert "libbar.so.1: 3 functions, 0 with a prototype\n" in stub.said
    assert "    2 left out, no functions: " in stub.said and "barTable" in stub.said
    assert "    1 left out, mangled names of C++: _ZN3bar3fooEv\n" in stub.said
    assert "    1 left out, no names of C functions: bar.part.0\n" in stub.said
    world.loader(real)
    assert call(world, stub, "call:barWeak@libbar.so.1")[0]["value"] == 103


def test_a_function_of_cplusplus_that_is_asked_for(world, tmp_path):
    real = own_stubs.library(tmp_path / "real", "libbar.so.1", SOURCE + (
        "int cplusplus(void) __asm__(\"_ZN3bar3fooEv\"); int cplusplus(void) { return 104; }\n"))
    stub = own_stubs.stub(tmp_path / "bar", "--from", real, "--missing", "7", "--mangled",
                          "_ZN3bar3fooEv")
    assert "mangled" not in stub.said
    world.loader(real)
    assert call(world, stub, "call:_ZN3bar3fooEv@libbar.so.1")[0]["value"] == 104
    refused = own_stubs.run("--from", real, "--missing", "7", "--mangled", "_Z1fv", "-o",
                            tmp_path / "baz")
    assert refused.returncode == 2
    assert "--mangled _Z1fv: no file exports that function" in refused.stderr


VARIABLES = """
static struct { int kind; } first;
int barState, barLimit = 5;
void *const barKind = &first;
int barA(void) { return barState; }
int barB(void) { barState = 42; return barKind == &first; }
"""
USER = """
extern int barState, barLimit, barA(void), barB(void);
extern void *const barKind;
int state(void) { return barState; }
int limit(void) { return barLimit; }
int kind(void) { return barKind ? 1 : 0; }
int set(void) { barState = 77; return barA(); }
"""


@pytest.mark.parametrize("hardened", ["-Wl,-z,norelro", "-Wl,-z,relro,-z,now"])
def test_variables_that_are_asked_for(world, tmp_path, hardened):
    """They have their first bytes, and are the library's own once that is loaded."""
    real = own_stubs.library(tmp_path / "real", "libbar.so.1", VARIABLES)
    stub = own_stubs.stub(tmp_path / "bar", "--from", real, "--missing", "7", "--data", "barState",
                          "--data", "barLimit", "--data", "barKind")
    rows = [line.split()[1:] for line in stub.list.read_text().splitlines() if " data " in line]
    assert rows == [["barState", "4", "1.0-"], ["barLimit", "4", "1.0-", "05000000"],
                    ["barKind", "8", "1.0-"]]           # an address is none of its bytes
    assert "left out" not in stub.said
    (tmp_path / "user.c").write_text(USER)
    user = build.shared(tmp_path / "user.c", hardened, f"-Wl,-rpath,{stub.file.parent}", stub.abi(1))
    before = [f"call:{name}" for name in ("state", "limit", "kind")]

    def values(*commands):
        said = world.probe(f"open:{user}", *commands)
        assert said[0]["error"] is None
        return [one["value"] for one in said if "call" in one]
    assert values(*before, "call:set") == [0, 5, 0, 7]
    world.loader(real)
    assert values(*before, "call:barB", *before, "call:set") == [0, 5, 0, 1, 42, 5, 1, 77]
    assert "absent" not in world.cli("audit", "--stub", stub.file, user).out


def test_a_variable_that_no_file_has(tmp_path):
    real = own_stubs.library(tmp_path / "real", "libbar.so.1", VARIABLES)
    done = own_stubs.run("--from", real, "--missing", "7", "--data", "barA", "-o", tmp_path / "bar")
    assert done.returncode == 2 and "--data barA: no file exports that variable" in done.stderr


def test_two_files_of_one_soname_are_taken_together(world, tmp_path):
    one = own_stubs.library(tmp_path / "nvidia/bar/lib", "libbar.so.1", SOURCE)
    other = own_stubs.library(tmp_path / "nvidia/cu13/lib", "libbar.so.1",
                              SOURCE.replace("barB", "barC"))
    stub = own_stubs.stub(tmp_path / "bar", "--from", one, "--from", other, "--missing", "7")
    text = stub.list.read_text()
    assert "    folder nvidia/bar/lib 1.0-\n    folder nvidia/cu13/lib 1.0-\n" in text
    site = world.folder("site-packages")
    world.put("site-packages/nvidia/cu13/lib", other)
    copied = world.put("site-packages/app", stub.file) / stub.file.name
    said = world.probe(f"open:{copied}", "call:barC@libbar.so.1", "call:barB@libbar.so.1",
                       "status:bar")
    assert [one.get("value") for one in said[1:3]] == [102, 7]
    assert said[3]["path"] == f"{site}/nvidia/cu13/lib/libbar.so.1"


@pytest.mark.parametrize("variable", ["LAZYCUDA_BAR", "LAZYCUDA_MAJOR"])
def test_one_with_majors_of_its_own_is_hidden_like_any_other(world, tmp_path, variable):
    # Though CUDA's major says nothing of which is used.
    real = own_stubs.library(tmp_path / "real", "libbar.so.1", SOURCE)
    stub = own_stubs.stub(tmp_path / "bar", "--from", real, "--missing", "7")
    world.loader(real)
    shown = world.probe(f"open:{stub.file}", "load", "status:bar", LAZYCUDA_MAJOR="12")
    assert shown[-1]["state"] == "usable"
    said = world.probe(f"open:{stub.file}", "load", "call:barA", "status:bar", **{variable: "none"})
    assert said[-2]["value"] == 7
    assert (said[-1]["state"], said[-1]["candidates"]) == ("hidden", [])
