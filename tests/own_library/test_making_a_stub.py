# SPDX-License-Identifier: MIT
"""`lazycuda stub` itself: the folder it makes, the list it keeps, and what it refuses."""
import os
import shutil
import signal
import subprocess
import time

import pytest

import build
import own_stubs

SOURCE = "int bazA(void) { return 101; }\nint bazB(int n) { return 102; }\n"
HEADER = """\
typedef enum { BAZ_OK = 0, BAZ_BAD = 9 } bazStatus;
bazStatus bazA(void);
bazStatus bazB(int n);
"""


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    return own_stubs.library(tmp_path_factory.mktemp("real"), "libbaz.so.3", SOURCE)


@pytest.fixture
def header(tmp_path):
    """A header of this text."""
    def write(text, name="baz.h"):
        (tmp_path / name).write_text(text)
        return tmp_path / name
    return write


def made(folder, *arguments):
    done = own_stubs.run(*arguments, "-o", folder)
    assert (done.returncode, done.stderr) == (0, "")
    return own_stubs.files(folder)


def refusal(folder, *arguments):
    """What it says where it makes nothing."""
    done = own_stubs.run(*arguments, "-o", folder)
    assert done.returncode == 2, done.stdout
    left = {path.name for path in folder.parent.glob(f"{folder.name}.??????")}
    assert not left, left
    return done.stderr


# ---- the folder ----

def test_the_folder_needs_nothing_else(real, world, tmp_path):
    """Moved, and built without lazycuda's sources or programs anywhere near."""
    made(tmp_path / "first", "--from", real, "--missing", "9")
    shutil.move(tmp_path / "first", tmp_path / "second")
    own_stubs.make(tmp_path / "second", "CFLAGS=-O0")
    stub = tmp_path / "second" / "build" / "lib" / "libbaz_stub.so"
    said = world.probe(f"open:{stub}", "call:bazA@libbaz.so.3")
    assert said[1]["value"] == 9
    for path in (tmp_path / "second").rglob("*"):
        if path.is_file() and "build" not in path.parts[-4:]:
            assert str(tmp_path).encode() not in path.read_bytes(), path


def test_something_else_replaces_it_and_leaves_what_make_made(real, tmp_path):
    before = made(tmp_path / "baz", "--from", real, "--missing", "9", "--name", "qux")
    (tmp_path / "baz" / "build").mkdir()
    (tmp_path / "baz" / "build" / "kept").write_text("")
    (tmp_path / "baz").chmod(0o2770)
    after = made(tmp_path / "baz", "--from", real, "--missing", "8")
    assert set(before) - set(after) >= {"qux.txt"} and "baz.txt" in after
    assert (tmp_path / "baz" / "build" / "kept").exists()
    assert (tmp_path / "baz").stat().st_mode & 0o7777 == 0o2770
    assert sorted(path.name for path in tmp_path.iterdir()) == ["baz"]


@pytest.mark.parametrize("name, own, why", [
    ("precious.c", False, "holds precious.c, which this command did not make"),
    ("Makefile", False, "holds Makefile, which this command did not make"),
    ("notes.txt", True, "holds notes.txt, which this command did not make"),
    ("include/mine.h", True, "holds include/mine.h, which this command did not make"),
    ("baz.txt", True, "/baz.txt was changed since this command made it")])
def test_files_of_the_users_are_left_alone(real, tmp_path, name, own, why):
    theirs = tmp_path / "theirs"
    if own:
        made(theirs, "--from", real, "--missing", "9")
    theirs.mkdir(exist_ok=True)
    (theirs / name).write_text("all:\n")
    before = own_stubs.files(theirs)
    assert f"{why}: nothing was written" in refusal(theirs, "--from", real, "--missing", "8")
    assert own_stubs.files(theirs) == before


def test_a_signal_leaves_nothing(real, tmp_path):
    """Whenever it comes."""
    said = set()
    for delay in range(0, 60, 6):
        command = [build.TOOL, "stub", "--from", real, "--missing", "9", "-o", tmp_path / "new" / "baz"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                   env=build.environment(build.TOOL, os.environ))
        time.sleep(delay / 1000)
        process.terminate()
        said.add((process.communicate()[1], process.returncode))
        assert [path.name for path in tmp_path.glob("new/*")] in ([], ["baz"])
        shutil.rmtree(tmp_path / "new", ignore_errors=True)
    assert (b"", -signal.SIGTERM) in said and said <= {(b"", -signal.SIGTERM), (b"", 0)}


def test_a_limit_on_the_size_of_files_leaves_nothing(real, tmp_path):
    done = build.run("sh", "-c", 'ulimit -f 20; exec "$@"', "-", build.TOOL, "stub", "--from", real,
                     "--missing", "9", "-o", tmp_path / "baz", env=build.environment(build.TOOL, os.environ))
    assert done.returncode == 2 and done.stderr.endswith(": File too large\n"), done
    assert not list(tmp_path.glob("baz*"))


def test_folders_may_lie_in_one_another(real, tmp_path):
    before = made(tmp_path / "baz", "--from", real, "--missing", "9")
    deep = tmp_path / "baz" / "/".join("d" * 1900)
    subprocess.run(["mkdir", "-p", deep], check=True)
    said = own_stubs.run("--from", real, "--missing", "9", "-o", tmp_path / "baz")
    there = deep.is_dir()
    subprocess.run(["rm", "-rf", tmp_path / "baz" / "d"], check=True)
    assert (said.returncode, there, own_stubs.files(tmp_path / "baz")) == (0, True, before), said


def test_a_run_that_fails_leaves_what_was_there(real, tmp_path):
    before = made(tmp_path / "baz", "--from", real, "--missing", "9")
    (tmp_path / "damaged.so").write_bytes(real.read_bytes()[:3000])
    refusal(tmp_path / "baz", "--from", tmp_path / "damaged.so", "--missing", "9")
    (tmp_path / "bad.txt").write_text((tmp_path / "baz" / "baz.txt").read_text() + "    bazA\n")
    said = refusal(tmp_path / "baz", "--list", tmp_path / "bad.txt")
    assert said.startswith(f"{tmp_path}/bad.txt:") and "the line ends where" in said
    assert own_stubs.files(tmp_path / "baz") == before


# ---- the list ----

def test_the_list_makes_the_same_stub(real, tmp_path, header, libclang):
    first = made(tmp_path / "first", "--from", real, "--missing", "BAZ_BAD", "--header",
                 header(HEADER), *libclang)
    kept = tmp_path / "baz.txt"
    shutil.copy(tmp_path / "first" / "baz.txt", kept)
    again = made(tmp_path / "again", "--list", kept)
    assert {name: data for name, (data, _) in first.items()} == {
        name: data for name, (data, _) in again.items()}
    assert made(tmp_path / "again", "--list", tmp_path / "again" / "baz.txt") == again


def test_an_edited_list_counts(real, world, tmp_path, header, libclang):
    made(tmp_path / "baz", "--from", real, "--missing", "BAZ_BAD", "--header",
         header(HEADER.replace("int n", "int *n")), *libclang)
    text = (tmp_path / "baz" / "baz.txt").read_text()
    assert "(inout i32)" in text and "    error missing 9\n" in text
    kept = tmp_path / "baz.txt"
    kept.write_text(text.replace("inout i32", "out i32").replace("missing 9", "missing 77"))
    stub = own_stubs.stub(tmp_path / "baz", "--list", kept)
    said = world.probe(f"open:{stub.file}", "out:bazB@libbaz.so.3:4:0")[1]
    assert (said["value"], said["bytes"]) == (77, ["00000000"])


@pytest.mark.parametrize("change, why", [
    (("    advice ", "    # advice "), "has one library, with a row `advice`; in this one 0 have"),
    (("majors own", "majors own\n    opens libfoo.so.1 lib"), "a major of CUDA"),
    (("majors own", "majors own\n    opens any libfoo.so.1 .\n    opens any libfoo.so.1 ."),
     "libfoo.so.1 of any CUDA is on line"),
    (("majors own", "majors own\n    cuda libbaz.so.3"), "a major of CUDA"),
    (("majors own", "majors own\n    cuda libbaz.so.4 12"), "libbaz.so.4 is not a SONAME of library"),
    (("majors own", "majors own\n    cuda libbaz.so.3 12\n    cuda libbaz.so.3 13"),
     "libbaz.so.3 is on line"),
    (("majors own", "error driver 9\n    error incoherent 9\n    cuda libbaz.so.3 12"), "only a library with `majors own` has this"),
    # what no compiler or linker would take
    (("    bazA  ", "    int   "), "`int` is a keyword of C, not a name"),
    (("majors own", "majors own\n    data v 1 3.0- 00\n    data v 1 3.0- 00"), "v is on line"),
    (("majors own", "majors own\n    data bazA 1 3.0- 00"), "bazA is a function on line"),
    (("library baz\n", "library other\n    stub libbaz_stub.so\n    soname libother.so.3 3.0-\n    majors own\n"
      "    variable LAZYCUDA_OTHER\n    advice A.\n    error missing 9\n    error absent 9\n    error refused 9\n\n"
      "functions\n    other 3.0- (?) undeclared\n\nlibrary baz\n"), "libbaz_stub.so is the stub of library other"),
    (("majors own", "majors own\n    node BAZ 3\n    node BAZ 3"), "node BAZ is on line"),
])
def test_what_a_list_may_not_say(real, tmp_path, change, why):
    made(tmp_path / "baz", "--from", real, "--missing", "9")
    text = (tmp_path / "baz" / "baz.txt").read_text()
    assert change[0] in text
    (tmp_path / "edited.txt").write_text(text.replace(*change))
    assert why in refusal(tmp_path / "other", "--list", tmp_path / "edited.txt")


# ---- what it is given ----

@pytest.mark.parametrize("content, why", [
    (b"", "is empty"), (b"INPUT(libbaz.so.3)\n", "is not an ELF file"),
    (b"\x7fELF\x02\x01" + bytes(10) + b"\x03\x00\x2b\x00" + bytes(50), "is for another CPU"),
])
def test_what_is_no_library(tmp_path, content, why):
    (tmp_path / "libbaz.so.3").write_bytes(content)
    said = refusal(tmp_path / "baz", "--from", tmp_path / "libbaz.so.3", "--missing", "9")
    assert said.startswith(f"lazycuda stub: {tmp_path}/libbaz.so.3: ") and why in said


def test_what_cannot_be_stood_in_for(tmp_path):
    def of(name, *arguments, **how):
        file = own_stubs.library(tmp_path / name, *arguments, **how)
        return refusal(tmp_path / "baz", "--from", file, "--missing", "9")

    assert refusal(tmp_path / "baz", "--from", "/nowhere", "--missing", "9") == \
        "lazycuda stub: /nowhere: does not exist\n"
    assert "is a directory" in refusal(tmp_path / "baz", "--from", tmp_path, "--missing", "9")
    named = own_stubs.library(tmp_path / "named", "libbaz.so.3", SOURCE, named=False)
    assert "has no SONAME" in refusal(tmp_path / "baz", "--from", named, "--missing", "9")
    assert "exports no function" in of("data", "libbaz.so.3", "int baz = 1;")
    assert "is a lazycuda stub itself" in refusal(tmp_path / "baz", "--from", build.stub("nvrtc"),
                                                  "--missing", "9")


def test_files_that_do_not_go_together(real, tmp_path):
    other = own_stubs.library(tmp_path / "other", "libqux.so.3", SOURCE)
    minor = own_stubs.library(tmp_path / "minor", "libbaz.so.3.1", SOURCE)
    four = own_stubs.library(tmp_path / "four", "libbaz.so.4", SOURCE)

    def of(*words):
        return refusal(tmp_path / "baz", *words, "--missing", "9")

    assert "a stub stands in for one library" in of("--from", real, "--from", other)
    assert "both would be major 3" in of("--from", real, "--from", minor)
    assert "both would be major 12" in of("--from", f"{real}=12", "--from", f"{four}=12")
    assert "name no major of CUDA" in of("--from", f"{real}=12", "--from", f"{real}=13")
    assert "say of each --from" in of("--from", f"{real}=12", "--from", four)
    assert "`x` is neither a major of CUDA, 12, nor" in of("--from", f"{real}=x")


@pytest.mark.parametrize("words, why", [
    ((), "no library is given: use --from FILE"),
    (("--from", "REAL"), "use --missing NUMBER"),
    (("--from", "REAL", "--missing", "0"), "a number of 32 bits, and not 0"),
    (("--from", "REAL", "--missing", "9", "--advice", 'say "x"'), "without quotes"),
    (("--from", "REAL", "--missing", "9", "--text", "bazGone"),
     "--text bazGone: no library that was given has this function"),
    (("--from", "REAL", "--missing", "BAZ_BAD"), "it is not a number"),
    (("--from", "REAL", "--missing", "9", "--status", "x"), "no header that was given"),
    (("--from", "REAL", "--missing", "9", "--negative", "bazGone"),
     "--negative bazGone: no library that was given has this function"),
    (("--from", "REAL", "--missing", "9", "--negative", "bazA"),
     "--negative bazA: no header that was given declares this function"),
    (("--from", "REAL", "--missing", "9", "--text", "bazA", "--negative", "bazA"),
     "--negative bazA: it describes a status, and returns a string"),
    (("--from", "REAL", "--missing", "9", "--int-status", "baz*"),
     "--int-status baz*: no header that was given declares such a function of the library"),
    (("--from", "REAL", "--missing", "9", "--apart", "bar*"), "this apart applies to nothing: bar*"),
    (("--from", "REAL", "--missing", "9", "--handle", "bar=baz*"),
     "this --handle applies to nothing: bar"),
    (("--from", "REAL", "--missing", "9", "--package", "a b"), "--package a b: a name has"),
    (("--list", "l.txt", "--missing", "9"), "it cannot be used with --list"),
    (("--list", "list"), "ends in .txt"),
])
def test_arguments_that_make_no_sense(real, tmp_path, words, why):
    words = [real if word == "REAL" else word for word in words]
    assert why in refusal(tmp_path / "baz", *words)
    assert not (tmp_path / "baz").exists()


# ---- headers ----

def test_a_header_that_does_not_parse_is_named_with_its_place(real, tmp_path, header, libclang):
    bad = header("int bazA(void);\nint bazB(unknown n);\n")
    said = refusal(tmp_path / "baz", "--from", real, "--missing", "9", "--header", bad, *libclang)
    assert f"{bad}:2:10: error: " in said


def test_a_header_below_an_include_folder(real, tmp_path, header, libclang):
    (tmp_path / "inc" / "sub").mkdir(parents=True)
    (tmp_path / "inc" / "sub" / "baz.h").write_text(
        f"#ifdef WANTED\n{HEADER}bazStatus bazGone(void);\n#else\n#error no\n#endif\n")
    done = own_stubs.run("--include", tmp_path / "inc", "--define", "WANTED", "--header",
                         "sub/baz.h", "--from", real, "--missing", "9", *libclang, "-o",
                         tmp_path / "baz")
    assert "libbaz.so.3: 2 functions, 2 with a prototype\n" in done.stdout, done.stderr
    assert "    1 declared, and exported by none of them: bazGone\n" in done.stdout


def test_a_header_that_is_not_there(real, tmp_path, header, libclang):
    def of(*words):
        return refusal(tmp_path / "baz", "--from", real, "--missing", "9", *words, *libclang)

    assert "there is no header baz.h here; --include names its folder" in of("--header", "baz.h")
    missing = header('#include "other.h"\n')
    assert "'other.h' file not found; --include names the folder" in of("--header", missing)


@pytest.mark.parametrize("text, why", [
    ("int bazA(int n, ...);\nint bazB(int n);\n", "bazA takes a variable number of arguments"),
    ("int bazA(long double n);\nint bazB(int n);\n", "the type long double is not one"),
    ("struct bits { int a : 3; };\nint bazA(struct bits *b);\nint bazB(int n);\n",
     "bits: the field a has no byte offset"),
])
def test_a_function_that_the_list_cannot_express(real, tmp_path, header, libclang, text, why):
    done = own_stubs.run("--from", real, "--missing", "9", "--header", header(text), *libclang,
                         "-o", tmp_path / "baz")
    assert done.returncode == 0, done.stderr
    assert f"    bazA is forwarded within its major alone: {why}" in done.stdout
    text = (tmp_path / "baz" / "baz.txt").read_text()
    assert "(?) undeclared" in text and "(i32) -> i32" in text


VARIABLE = "int bazA(int n, ...);\n"
TAKES_MANY = "bazA takes a variable number of arguments"


@pytest.mark.parametrize("text, words, why", [
    ("int bazA(int n);\n", "--text bazA", "baz.h:1:5: bazA returns no string, as --text says"),
    (VARIABLE, "--text bazA", f"--text bazA: {TAKES_MANY}"),
    (VARIABLE, "--negative bazA", f"--negative bazA: {TAKES_MANY}"),
    ("unsigned long bazA(int n);\n", "--negative bazA",
     "bazA returns no signed number of 32 or 64 bits, as --negative"),
    ("enum status { GOOD, BAD };\nenum status bazA(int n);\n", "--negative bazA",
     "bazA returns enum status, and no"),
    (VARIABLE, "--int-status baz*", f"--int-status baz*: {TAKES_MANY}"),
    ("int bazA(int n);\nlong bazB(int n);\n", "--int-status baz*",
     "baz.h:2:6: bazB returns no int, as --int-status baz* says"),
    ("int bazA(int n);\nint bazGone(int n);\n", "--int-status bazGone",
     "--int-status bazGone: no header that was given declares such a function of the library"),
    ("int bazA(int n);\n", "--int-status bazA --negative bazA", "--int-status bazA: bazA has --negative"),
])
def test_an_option_that_the_header_contradicts(real, tmp_path, header, libclang, text, words, why):
    assert why in refusal(tmp_path / "baz", "--from", real, "--missing", "9", "--header",
                          header(text), *words.split(), *libclang)


def test_libclang_is_asked_for_with_headers_alone(real, tmp_path, header):
    said = refusal(tmp_path / "baz", "--from", real, "--missing", "9", "--header", header(HEADER),
                   "--libclang", "/nowhere/libclang.so")
    assert "pip install libclang==18.1.1" in said and "without --header" in said
    assert said.count("/nowhere/libclang.so") == 1
    made(tmp_path / "baz", "--from", real, "--missing", "9", "--libclang", "/nowhere/libclang.so")
