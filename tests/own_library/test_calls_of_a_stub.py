# SPDX-License-Identifier: MIT
"""What becomes of calls through a stub of somebody's own library."""
import json

import pytest

import own_stubs
from fakes import answer, fake
from world import CALL

ONE = """\
typedef struct fooContext *fooHandle;
typedef enum { FOO_OK = 0, FOO_NOT_THERE = 40, FOO_OTHER = 41 } fooStatus;
struct fooSize { int a, b; };
fooStatus fooCreate(fooHandle *handle);
fooStatus fooSame(fooHandle handle, int n, float *device);
fooStatus fooChanged(fooHandle handle, int n);
fooStatus fooStruct(struct fooSize *size);
fooStatus fooGone(void);
const char *fooText(fooStatus status);
"""
TWO = (ONE.replace("int n);", "long long n);").replace("fooStatus fooGone(void);\n", "")
       .replace("int a, b;", "int a, b; double c;") + "fooStatus fooNew(int n);\n")
NAMES = {1: ("fooCreate", "fooSame", "fooChanged", "fooStruct", "fooGone", "fooSecret"),
         2: ("fooCreate", "fooSame", "fooChanged", "fooStruct", "fooNew", "fooSecret")}


def source(major):
    """Each function says in which library it is."""
    text = "".join(f"int {name}(void) {{ return {major * 100 + i}; }}\n"
                   for i, name in enumerate(NAMES[major]))
    return text + f'const char *fooText(int status) {{ return "of {major}"; }}\n'


@pytest.fixture(scope="module")
def reals(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reals")
    return {major: own_stubs.library(folder / f"{major}", f"libfoo.so.{major}", source(major))
            for major in (1, 2)}


@pytest.fixture(scope="module")
def plain(reals, tmp_path_factory):
    """Without headers."""
    return own_stubs.stub(tmp_path_factory.mktemp("plain") / "foo", "--folder", "vendor/foo/lib",
                          "--from", reals[1], "--from", reals[2], "--missing", "40", "--absent",
                          "42", "--refused", "43", "--advice", "Ask whoever made libfoo.")


@pytest.fixture(scope="module")
def known(reals, libclang, tmp_path_factory):
    """With headers."""
    folder = tmp_path_factory.mktemp("known")
    words = []
    for major, text in ((1, ONE), (2, TWO)):
        (folder / f"{major}").mkdir()
        (folder / f"{major}" / "foo.h").write_text(text)
        words += ["--from", reals[major], "--header", folder / f"{major}" / "foo.h"]
    return own_stubs.stub(folder / "foo", *words, "--missing", "FOO_NOT_THERE", "--absent", "0x2a",
                          "--refused", "43", *libclang)


def value(world, stub, call, **env):
    said = world.probe(f"open:{stub.file}", f"call:{call}", "error:foo", **env)
    return said[1]["value"], said[2]["message"]


def test_a_missing_library(world, plain):
    number, message = value(world, plain, "fooSame@libfoo.so.1")
    assert number == 40
    assert "no usable libfoo.so.2 or libfoo.so.1 was found" in message
    assert "Ask whoever made libfoo." in message and "LAZYCUDA_FOO=/path/to/libfoo.so.2" in message


@pytest.mark.parametrize("which, there, call, wanted, words", [
    # without headers a caller of that major alone
    ("plain", 1, "fooSame@libfoo.so.1", 101, ""), ("plain", 2, "fooSame@libfoo.so.2", 201, ""),
    ("plain", 2, "fooSame@libfoo.so.1", 43, "another one in foo"),
    ("plain", 1, "fooSame@libfoo.so.2", 43, "compiled for another major,"),
    # with headers those with an equal interface
    ("known", 2, "fooSame@libfoo.so.1", 201, ""), ("known", 2, "fooChanged@libfoo.so.2", 202, ""),
    # other are a parameter, a struct that is pointed to, no prototype at all
    *[("known", 2, f"{name}@libfoo.so.1", 43, "") for name in ("fooChanged", "fooStruct", "fooSecret")],
    ("known", 2, "fooGone@libfoo.so.1", 42, "does not have this function; major 1 and earlier do"),
])
def test_who_is_served_by_which_library(request, world, reals, which, there, call, wanted, words):
    stub = request.getfixturevalue(which)
    world.loader(reals[there])
    number, message = value(world, stub, call)
    assert number == wanted and words in message and " CUDA" not in message


def test_with_headers_of_one_major_nothing_is_guessed_of_the_other(world, reals, libclang, tmp_path):
    (tmp_path / "foo.h").write_text(ONE)
    stub = own_stubs.stub(tmp_path / "foo", "--from", reals[1], "--header", tmp_path / "foo.h",
                          "--from", reals[2], "--missing", "40", "--refused", "43", *libclang)
    world.loader(reals[2])
    assert value(world, stub, "fooSame@libfoo.so.1")[0] == 43
    assert value(world, stub, "fooSame@libfoo.so.2")[0] == 201


def test_handles_are_nulled_and_addresses_of_the_device_left_alone(world, known):
    said = world.probe(f"open:{known.file}", "out:fooCreate@libfoo.so.1:8:0",
                       "out:fooSame@libfoo.so.1:8:2")
    assert (said[1]["value"], said[1]["bytes"]) == (40, ["00" * 8])
    assert (said[2]["value"], said[2]["bytes"]) == (40, ["a5" * 8])


# ---- functions that say what a status means ----

@pytest.fixture(scope="module")
def told(reals, tmp_path_factory):
    """Without headers, and told which function it is."""
    return own_stubs.stub(tmp_path_factory.mktemp("told") / "foo", "--from", reals[1], "--from",
                          reals[2], "--missing", "40", "--text", "fooText")


def text(world, stub, *calls):
    said = world.probe(f"open:{stub.file}", *calls)[1:]
    return [line["text"] if "text" in line else line for line in said]


@pytest.mark.parametrize("which", ["known", "told"])
def test_without_a_library_it_says_which_one_is_missing(request, world, which):
    stub = request.getfixturevalue(which)
    for major in (1, 2):
        before, after, error = text(world, stub, f"text:fooText@libfoo.so.{major}:40",
                                    f"text:fooText@libfoo.so.{major}:40", "error:foo")
        assert before.startswith("no usable libfoo.so.2 or libfoo.so.1 was found. ")
        # It is no call that failed.
        assert after == before and error["message"] == "no call was refused"
    _, said, error = text(world, stub, "call:fooSame@libfoo.so.1", "text:fooText@libfoo.so.1:40",
                          "error:foo")
    assert said == error["message"] and said.startswith("fooSame: no usable libfoo.so.2 or ")


def test_without_a_library_other_values_have_their_names(world, known, told):
    assert text(world, known, "text:fooText@libfoo.so.1:41", "text:fooText@libfoo.so.2:0",
                ) == ["FOO_OTHER", "FOO_OK"]
    said = text(world, known, "text:fooText@libfoo.so.1:777") + \
        text(world, told, "text:fooText@libfoo.so.1:0")
    assert all(one.startswith("no usable libfoo.so.2 ") for one in said)


@pytest.mark.parametrize("which, there", [("known", 1), ("told", 2)])
def test_with_one_it_is_the_librarys_own_text(request, world, reals, which, there):
    stub = request.getfixturevalue(which)
    world.loader(reals[there])
    assert text(world, stub, *[f"text:fooText@libfoo.so.{major}:{value}" for major in (1, 2)
                               for value in (0, 40)]) == [f"of {there}"] * 4


def test_one_that_takes_something_else_says_why_the_last_call_was_refused(world, libclang,
                                                                          tmp_path):
    real = own_stubs.library(tmp_path / "real", "libfoo.so.1", source(1) + (
        "const char *fooLast(void *handle) { return \"of the real one\"; }\n"
        "const char *fooName(int device) { return 0; }\n"))
    (tmp_path / "foo.h").write_text(ONE + "const char *fooLast(fooHandle handle);\n"
                                    "const char *fooName(int device);\n")
    stub = own_stubs.stub(tmp_path / "foo", "--from", real, "--missing", "40", "--header",
                          tmp_path / "foo.h", "--text", "fooLast", *libclang)
    calls = ["text:fooLast@libfoo.so.1:0", "call:fooGone@libfoo.so.1", "text:fooLast@libfoo.so.1:0"]
    said = text(world, stub, *calls, "text:fooName@libfoo.so.1:0")
    assert said[0] == "no call was refused"
    assert said[2].startswith("fooGone: no usable libfoo.so.1 ")
    assert said[3] is None      # A name that is not there is not a status.
    world.loader(real)
    assert text(world, stub, calls[0]) == ["of the real one"]


# ---- results that are negative where a call fails ----

def test_a_number_that_is_negative_where_a_call_fails(world, libclang, tmp_path):
    """Of a status below 0 and of one above; of functions of which nothing is said it is 0."""
    real = own_stubs.library(tmp_path / "real", "libfoo.so.1", "int fooLevel(void) { return 7; }\n"
                             "long fooRead(void) { return 1l << 40 | 3; }\n"
                             "int fooCount(void) { return 9; }\n")
    (tmp_path / "foo.h").write_text("int fooLevel(void);\nlong fooRead(void);\nint fooCount(void);\n")
    for missing in ("40", "-40"):
        stub = own_stubs.stub(tmp_path / f"foo{missing}", "--from", real, "--missing", missing,
                              "--header", tmp_path / "foo.h", "--negative", "fooLevel",
                              "--negative", "fooRead", *libclang)
        rows = stub.list.read_text()
        assert "() -> i32 negative\n" in rows and "() -> i64 negative\n" in rows
        names = ("fooLevel", "fooRead", "fooCount")
        assert [value(world, stub, name)[0] for name in names] == [-40, -40, 0]
    world.loader(real)
    assert [value(world, stub, name)[0] for name in names] == [7, 3, 9]


def test_what_the_library_lays_out(world, libclang, tmp_path):
    """Callers of major 1 on major 2, which has another struct."""
    names = ("fooMake", "fooUse", "fooOwn", "fooGet", "fooNext", "fooLook")
    reals = {}
    for major, field in ((1, "int"), (2, "long")):
        header = tmp_path / str(major) / "foo.h"
        header.parent.mkdir()
        header.write_text(f"typedef struct {{ {field} a[2]; }} fooThing;\n"
                          f"typedef struct {{ {field} b; }} fooRecord;\n"
                          "int fooMake(fooThing **thing);\nint fooUse(fooThing *thing);\n"
                          "int fooOwn(fooThing *mine);\nint fooGet(fooRecord **record);\n"
                          "int fooNext(void **record);\nint fooLook(const fooThing *const *all);\n")
        reals[major] = own_stubs.library(
            tmp_path / f"real{major}", f"libfoo.so.{major}", "".join(
                f"int {name}(void *p) {{ return {major}; }}\n" for name in names))
    stub = own_stubs.stub(
        tmp_path / "foo", "--missing", "40", "--refused", "41", "--header", "foo.h", "--apart",
        "fooNext", "--handle", "fooThing=fooOwn", "--int-status", "foo*",
        *(word for major in (1, 2) for word in (
            "--from", reals[major], "--include", tmp_path / str(major))), *libclang)
    world.loader(reals[2])
    for major, said in ((1, [2, 2, 41, 41, 41, 2]), (2, [2] * 6)):
        assert [value(world, stub, f"{name}@libfoo.so.{major}")[0] for name in names] == said


# ---- which library is taken ----


def test_majors_of_its_own_have_nothing_to_do_with_cudas(world, plain, reals):
    world.loader(*reals.values())
    assert value(world, plain, "fooSame@libfoo.so.2", LAZYCUDA_MAJOR="12")[0] == 201
    said = world.probe("stub:cudart", f"open:{plain.file}", "load", "status:foo", "status:cudart")
    status = said[-2]
    assert (status["state"], status["version"], status["major"]) == ("usable", "2", 2)
    assert {c["reason"] for c in status["candidates"] if not c["taken"]} == {"major 2 was chosen"}
    assert said[-1]["state"] == "missing"
    # Nor has what the stub uses for them.
    world.loader(fake("cudart", "12.9"))
    said = world.probe("stub:cudart", f"open:{plain.file}", "load:foo", "load:cudart",
                       "status:foo", "status:cudart")
    assert (said[-2]["state"], said[-1]["state"]) == ("usable", "usable")
    assert said[-1]["reason"] == "the highest CUDA major that serves all stubs here"


def test_it_is_found_where_pip_puts_it(world, plain, reals):
    world.put("site-packages/vendor/foo/lib", reals[1])
    (world.folder("site-packages") / "nvidia").mkdir()
    copied = world.put("site-packages/app", plain.file) / plain.file.name
    said = world.probe(f"open:{copied}", "call:fooSame@libfoo.so.1", "status:foo")
    assert said[1]["value"] == 101 and said[2]["found_by"] == "site-packages"


def test_a_library_of_an_unknown_major_is_told_of(world, plain, tmp_path):
    world.loader(own_stubs.library(tmp_path / "five", "libfoo.so.5", source(1)))
    number, message = value(world, plain, "fooSame@libfoo.so.2")
    assert number == 40 and "is of major 5, for which this stub was not made" in message


# ---- lazycuda status ----

def test_the_command_tells_the_status_of_any_stub(world, plain, reals):
    world.loader(reals[2])
    said = world.cli("status", "--json", plain.file)
    library, = json.loads(said.out)["libraries"]
    assert (library["name"], library["state"], library["version"]) == ("foo", "usable", "2")
    assert "foo         2  " in world.cli("status", plain.file).out
    world.env.pop("LD_LIBRARY_PATH")
    assert world.cli("status", plain.file, check=False).status == 1


def test_the_command_tells_what_is_no_stub(world, reals):
    said = world.cli("status", reals[1], check=False)
    assert said.status == 2 and "is not a stub of lazycuda" in said.err
    assert world.cli("status", "/nowhere/lib.so", check=False).status == 2


@pytest.fixture(scope="module")
def other(tmp_path_factory):
    """(a library, its stub as a commit has it that changed a struct which stubs of one build share)"""
    folder = tmp_path_factory.mktemp("other")
    real = own_stubs.bar(folder, 10)
    assert own_stubs.run("--from", real, "--missing", "7", "-o", folder / "bar").returncode == 0
    changed = folder / "bar/stubs/base/folders.c"
    changed.write_text(changed.read_text().replace("struct lc_way {\n", "struct lc_way {\n\tlong more[8];\n"))
    own_stubs.make(folder / "bar", "CFLAGS=-O0 -g")
    return real, own_stubs.Stub(folder / "bar", "")


@pytest.mark.parametrize("order", [("barA@libbar.so.10", CALL["cudart"]),
                                   (CALL["cudart"], "barA@libbar.so.10")])
def test_beside_stubs_of_other_sources(world, other, order):
    real, stub = other
    world.loader(real, fake("cudart", "12.9"))
    said = world.probe(f"open:{stub.file}", "stub:cudart", "shell:sleep 0.1",
                       *[f"call:{call}" for call in order])
    assert {call["value"] for call in said[-2:]} == {101, answer("cudart", CALL["cudart"], "12.9")}
