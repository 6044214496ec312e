# SPDX-License-Identifier: MIT
"""How `lazycuda stub` reads headers: as C and as C++, with the system's where they need those,
for one CPU where they are of one; and what it says of what no header declares."""
import subprocess

import pytest

import build
import own_stubs

SOURCE = "".join(f"int baz{letter}(int n) {{ return {100 + number}; }}\n"
                 for number, letter in enumerate("ABCD"))
STATUS = "typedef enum { BAZ_OK = 0, BAZ_BAD = 9 } bazStatus;\n"
GUARDED = STATUS + """\
#ifdef __cplusplus
extern "C" {
#endif
bazStatus bazA(int n);
#ifdef __cplusplus
bazStatus bazB(const struct bazHalf *value, bool flag);
}
#endif
"""


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    return own_stubs.library(tmp_path_factory.mktemp("real"), "libbaz.so.3", SOURCE)


@pytest.fixture
def read(real, tmp_path, libclang):
    """What it says, and the rows of its list: {name: types}."""
    def of(text, *more, name="baz.h"):
        (tmp_path / name).write_text(text)
        done = own_stubs.run("--from", real, "--missing", "9", "--header", tmp_path / name, *more,
                             *libclang, "-o", tmp_path / "baz")
        assert (done.returncode, done.stderr) == (0, "")
        lines = (tmp_path / "baz" / "baz.txt").read_text().splitlines()
        rows = [line.split(None, 2) for line in lines[lines.index("functions") + 1:]]
        return done.stdout, {row[0]: row[2] for row in rows}
    return of


# ---- C and C++ ----

def test_what_stands_under_cplusplus_is_declared(read):
    said, rows = read("struct bazHalf;\n" + GUARDED)
    assert rows["bazA"] == "(i32)" and rows["bazB"] == "(ptr, u8)"
    assert "libbaz.so.3: 4 functions, 2 with a prototype\n" in said and "alone" not in said


def test_a_header_of_cplusplus_alone(read):
    """Whose errors as C do not matter; and a function of C++ is none of C's."""
    said, rows = read("template <class T> struct box { T value; };\nbox<long> one;\n" + STATUS +
                      'namespace baz {\nstruct plain { long value; };\nint bazB(int n);\n'
                      'extern "C" {\nbazStatus bazA(plain *p);\nbazStatus bazC(box<long> *box);\n'
                      "bazStatus bazD(const wchar_t *text);\n}\n}\n")
    assert rows["bazA"] == "(inout plain)" and rows["bazD"] == "(in i32)"
    assert rows["bazB"] == rows["bazC"] == "(?) undeclared"
    assert "bazC is forwarded within its major alone: a class of C++ is passed or" in said
    assert "baz.h is read as C++ alone: " in said


def test_what_two_headers_declare_in_two_ways_is_not_known(read, tmp_path):
    (tmp_path / "other.h").write_text("int bazC(double n);\n")
    said, rows = read(STATUS + "bazStatus bazA(int n);\nint bazC(int n);\n",
                      "--header", tmp_path / "other.h")
    assert rows["bazA"] == "(i32)" and rows["bazC"] == "(?) undeclared"
    assert "bazC is forwarded within its major alone: bazC is declared in two ways" in said
    assert "4 functions, 1 with a prototype" in said


def test_an_enumeration_that_means_something_else_keeps_its_functions_apart(tmp_path, libclang):
    """Not one that has grown."""
    header = ("typedef enum { BAZ_OK = 0, BAZ_BAD = %d } bazStatus;\n"
              "typedef enum { BAZ_ONE, %s BAZ_KIND_COUNT } bazKind;\n"
              "int bazA(bazKind kind);\nbazStatus bazB(int n);\nint bazC(bazStatus s);\n"
              "int bazD(bazStatus *s);\n")
    words = []
    for major, values in ((3, (9, "")), (4, (8, "BAZ_TWO,"))):
        folder = tmp_path / f"{major}"
        real = own_stubs.library(folder, f"libbaz.so.{major}", SOURCE)
        (folder / "baz.h").write_text(header % values)
        words += ["--from", real, "--header", folder / "baz.h"]
    done = own_stubs.run(*words, "--missing", "7", "--status", "bazStatus", *libclang, "-o",
                         tmp_path / "baz")
    assert (done.returncode, done.stderr) == (0, "")
    assert ("    1 enumerations that changed: what passes one stays in its major: bazStatus\n"
            in done.stdout)
    rows = [line.split(None, 2) for line in (tmp_path / "baz" / "baz.txt").read_text().splitlines()]
    assert {row[0]: row[2] for row in rows if row and row[0].startswith("baz")} == {
        "bazA": "(i32) -> i32", "bazB": "(i32) apart", "bazC": "(i32) -> i32 apart",
        "bazD": "(inout i32) -> i32"}


def test_an_error_has_the_value_that_its_callers_know(world, tmp_path, libclang):
    """As those of cuDNN 8 and 9: where there is no library, and where it is of another major."""
    words = []
    for major, bad, refused in ((3, 9, 5), (4, 1009, 1005)):
        folder = tmp_path / f"{major}"
        real = own_stubs.library(folder, f"libbaz.so.{major}", SOURCE)
        (folder / "baz.h").write_text(
            f"typedef enum {{ BAZ_OK = 0, BAZ_NO = {refused}, BAZ_BAD = {bad} }} bazStatus;\n"
            "bazStatus bazA(int n);\nbazStatus bazB(int n);\n")
        words += ["--from", real, "--header", folder / "baz.h"]
    stub = own_stubs.stub(tmp_path / "baz", *words, "--missing", "BAZ_BAD", "--refused", "BAZ_NO",
                          *libclang)
    calls = [f"call:bazB@libbaz.so.{major}" for major in (3, 4)]
    assert [one["value"] for one in world.probe(f"open:{stub.file}", *calls)[1:]] == [9, 1009]
    world.loader(tmp_path / "4" / "libbaz.so.4")
    said = world.probe(f"open:{stub.file}", *calls)[1:]
    assert said[0]["value"] == 5 and said[1]["value"] not in (5, 9, 1005, 1009)
    world.loader(tmp_path / "3" / "libbaz.so.3")
    (world.root / "loader" / "libbaz.so.4").unlink()
    assert world.probe(f"open:{stub.file}", *calls)[2]["value"] == 1005


# ---- the system's headers ----

def test_headers_of_the_system_are_found(read):
    said, rows = read("#include <arpa/inet.h>\n#include <sys/types.h>\n" + STATUS +
                      "bazStatus bazA(const struct sockaddr_in *to, loff_t at);\n")
    assert rows["bazA"].endswith("i64)") and rows["bazA"].startswith("(in "), rows
    assert "with a prototype" in said


def test_headers_of_cplusplus_are_found(read):
    has_them = subprocess.run([*build.CC, "-x", "c++", "-fsyntax-only", "-include", "cstddef",
                               "/dev/null"], capture_output=True)
    if has_them.returncode:
        pytest.skip("there is no C++ compiler")
    _, rows = read("#include <cstddef>\n#include <utility>\n" + STATUS +
                   'extern "C" bazStatus bazA(std::size_t n);\n')
    assert rows["bazA"] == "(u64)"


@pytest.mark.parametrize("name, advice", [
    ("crt/host_defines.h", "its folder: nvidia-cuda-crt of PyPI has it, before CUDA 13 nvidia-cuda-nvcc-cu12\n")])
def test_what_to_do_about_a_header_that_is_not_found(real, tmp_path, libclang, monkeypatch, name,
                                                     advice):
    monkeypatch.setenv("CC", "false")       # which has no folders of headers
    (tmp_path / "baz.h").write_text(f"#include <{name}>\n")
    done = own_stubs.run("--from", real, "--missing", "9", "--header", tmp_path / "baz.h",
                         *libclang, "-o", tmp_path / "baz")
    assert done.returncode == 2 and not (tmp_path / "baz").exists()
    assert done.stderr.endswith(f"'{name}' file not found; --include names {advice}")


# ---- CPUs ----

@pytest.mark.parametrize("cpu", ["x86_64", "aarch64"])
def test_headers_of_one_cpu_will_do(read, cpu):
    _, rows = read(f"#ifndef __{cpu}__\n#error it is for another CPU\n#endif\n" + STATUS +
                   "bazStatus bazA(int n);\n")
    assert rows["bazA"] == "(i32)"


# ---- texts ----

@pytest.mark.parametrize("declaration, row", [
    ("const char *bazA(bazStatus status);", "(i32) -> ptr text"),
    ("bazStatus bazA(bazStatus status, const char **text);", "(i32, out ptr) text"),
    ("const char *bazA(int n);", "(i32) -> ptr"),
    ("int bazA(bazStatus status, const char **text);", "(i32, inout ptr) -> i32")])
def test_what_says_what_a_status_means(read, declaration, row):
    _, rows = read(STATUS + "bazStatus bazB(bazStatus *status);\n" + declaration + "\n")
    assert rows["bazA"] == row


# ---- what no header declares ----

def test_names_that_sound_like_texts_are_pointed_out(tmp_path):
    real = own_stubs.library(tmp_path / "real", "libbaz.so.3", (
        "const char *bazGetErrorString(int n) { return \"\"; }\n"
        "const char *bazGetErrorName(int n) { return \"\"; }\nint bazErrors(void) { return 0; }\n"))
    words = ("--from", real, "--missing", "9", "--text", "bazGetErrorName")
    said = own_stubs.run(*words, "-o", tmp_path / "baz").stdout
    assert ("    bazGetErrorString may return a text, and nothing declares it: a header does, or "
            "--text bazGetErrorString\n") in said
    assert "bazGetErrorName may" not in said and "bazErrors may" not in said
    said = own_stubs.run(*words, "--text", "bazGetErrorString", "-o", tmp_path / "baz").stdout
    assert "may return" not in said


def test_a_caller_without_versions_binds_to_what_is_undeclared(tmp_path):
    """As it does to the real library, whose names have a default version each."""
    folder = tmp_path / "plain"
    plain = own_stubs.library(folder, "libbaz_stub.so", SOURCE, script="")
    words = [word for n in (3, 4) for word in ("--from", own_stubs.library(
        tmp_path / f"{n}", f"libbaz.so.{n}", SOURCE))]
    stub = own_stubs.stub(tmp_path / "baz", *words, "--missing", "7")
    (tmp_path / "user.c").write_text("int bazA(int);\nint main(void) { return bazA(1); }\n")
    subprocess.run([*build.CC, tmp_path / "user.c", plain, "-o", tmp_path / "user"], check=True)
    env = {"LD_LIBRARY_PATH": f"{stub.file.parent}", "LD_BIND_NOW": "1"}
    assert subprocess.run([tmp_path / "user"], env=env).returncode == 7
    real = f"{stub.file.parent}:{tmp_path / '4'}"
    assert subprocess.run([tmp_path / "user"], env={"LD_LIBRARY_PATH": real}).returncode == 100


# ---- advice, folders ----

@pytest.mark.parametrize("words, wanted", [
    ((), "Install the package that has it, such as libbaz.so.3."),
    (("--package", "nvidia-baz"), "Install a package that has it, such as nvidia-baz of PyPI."),
    (("--package", "nvidia-baz", "--advice", "Ask."), "Ask."),
])
def test_the_advice(real, tmp_path, words, wanted):
    done = own_stubs.run("--from", real, "--missing", "9", *words, "-o", tmp_path / "baz")
    assert done.returncode == 0, done.stderr
    assert f"    advice {wanted}\n" in (tmp_path / "baz" / "baz.txt").read_text()
