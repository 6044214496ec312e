# SPDX-License-Identifier: MIT
"""Ten further libraries of 5,000 names each: the generator copes, its stubs work, and what is
more than a stub can count is refused.
"""
import re
import shutil
import subprocess

import pytest

import big_list
import build
import inside
from fakes import fake

SOURCES = build.room("gen", "gen/model")
LIBRARIES, NAMES = 10, 5000
SPECIFICS = """\
#include "loader/specifics.h"
const struct lc_specifics lc_specifics = {{
	.unknown = LC_UNKNOWN("{name}"), .advice = "Wait for it."
}};
"""


@pytest.fixture(scope="module")
def gen():
    program = build.compile("gen", "-std=gnu11", "-O2", "-g", *SOURCES)

    def run(text, folder, *before):
        (folder / "list.txt").write_text(text)
        (folder / "made").mkdir(exist_ok=True)
        return subprocess.run([*before, program, "-o", folder / "made", folder / "list.txt"],
                              capture_output=True, text=True, timeout=300)
    return run


def compiled(folder, name):
    """A stub of a generated source and what every stub has in it."""
    own = folder / f"{name}.c"
    own.write_text(SPECIFICS.format(name=name))
    common = [path for path in inside.objects("nvrtc")[1:] if path.name != "nvrtc.o"]
    made = folder / f"lib{name}_stub.so"
    generated = folder / "made" / f"lib{name}_stub"
    command = [*build.CC, "-std=gnu11", "-D_GNU_SOURCE", "-O0", "-fPIC", "-shared",
               "-fvisibility=hidden", "-fomit-frame-pointer", "-Wall", "-Wextra", "-Werror",
               "-I", build.ROOT / "stubs", "-I", folder / "made", f"{generated}.c", own, *common,
               "-Wl,-z,relro,-z,now,-z,nodelete,-z,defs", f"-Wl,-soname,{made.name}",
               f"-Wl,--version-script={generated}.map", "-o", made, "-ldl"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return made


def names_of(folder, name):
    """How many entries a generated stub has."""
    source = (folder / "made" / f"lib{name}_stub.c").read_text()
    return len(re.findall(r"^LC_(?:FORWARD|FORWARD_STRUCT|FORWARD_STATUS|ANSWER|UNDECLARED)\(", source, re.M))


@pytest.fixture(scope="module")
def ten(gen, tmp_path_factory):
    """The folder that ten large libraries are generated into."""
    folder = tmp_path_factory.mktemp("ten")
    done = gen(big_list.text(*[big_list.library(f"big{i}", NAMES) for i in range(LIBRARIES)]),
               folder)
    assert (done.returncode, done.stderr) == (0, "")
    return folder


def test_ten_libraries_of_five_thousand_names(ten):
    # Of five names three have two interfaces, and one has one of those as well.  Those three have
    # one more entry each, for callers without a version.
    for i in range(LIBRARIES):
        assert names_of(ten, f"big{i}") == NAMES // 5 * (1 + 2 + 2 + 2 + 3)


def test_calls_through_two_of_them(world, ten, tmp_path):
    stubs, lines = [], []
    for number, name in enumerate(("big0", f"big{LIBRARIES - 1}")):
        stubs.append(compiled(ten, name))
        world.loader(fake(name, big_list.VERSION, names=big_list.exports(NAMES),
                          own=f"lib{name}.so.31"))
        lines += [f"{number} {function} lib{name}.so.{major} {value}\n"
                  for function, major, value in big_list.calls(name, NAMES)]
    (tmp_path / "calls").write_text("".join(lines))
    program = build.program(build.TESTS / "years_ahead" / "call_all.c")
    assert world.run(program, tmp_path / "calls", *stubs).out == f"{len(lines)} calls, 0 wrong\n"
    # And without them.
    world.env.pop("LD_LIBRARY_PATH")
    text = re.sub(r"\d+$", str(big_list.MISSING), "".join(lines), flags=re.M)
    (tmp_path / "calls").write_text(text)
    assert world.run(program, tmp_path / "calls", *stubs).out == f"{len(lines)} calls, 0 wrong\n"


def test_more_stubs_in_a_process_than_anybody_thought_of(world, gen, tmp_path):
    count = 20
    names = [f"small{i}" for i in range(count)]
    done = gen(big_list.text(*[big_list.library(name, 10) for name in names]), tmp_path)
    assert done.returncode == 0, done.stderr
    stubs, lines = [], []
    for number, name in enumerate(names):
        stubs.append(compiled(tmp_path, name))
        world.loader(fake(name, big_list.VERSION, names=big_list.exports(10),
                          own=f"lib{name}.so.31"))
        lines += [f"{number} {function} lib{name}.so.{major} {value}\n"
                  for function, major, value in big_list.calls(name, 10)]
    (tmp_path / "calls").write_text("".join(lines))
    program = build.program(build.TESTS / "years_ahead" / "call_all.c")
    assert world.run(program, tmp_path / "calls", *stubs).out == f"{len(lines)} calls, 0 wrong\n"


# ---- the generator's work ----

def instructions(gen, folder, text):
    done = gen(text, folder, "valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out")
    assert done.returncode == 0, done.stderr
    return int(re.search(r"Collected : (\d+)", done.stderr)[1])


@pytest.mark.skipif(not shutil.which("valgrind"), reason="there is no valgrind")
def test_work_grows_as_the_list_does(gen, tmp_path):
    """In instructions: five times the names, and five times the libraries."""
    def of(label, *sections):
        (tmp_path / label).mkdir()
        return instructions(gen, tmp_path / label, big_list.text(*sections))

    one = of("one", big_list.library("big0", 400))
    assert of("names", big_list.library("big0", 2000)) < 6 * one
    assert of("libraries", *[big_list.library(f"big{i}", 400) for i in range(5)]) < 6 * one


# ---- too much ----

def plain(count, row="    f{i} 30.0- (ptr)\n"):
    head = big_list.HEAD.format(name="big", upper="BIG")
    return big_list.text(head, "\nfunctions\n", *[row.format(i=i) for i in range(count)])


def test_as_many_interfaces_as_a_stub_can_count(gen, tmp_path):
    done = gen(plain(65535), tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert names_of(tmp_path, "big") == 65535


def test_one_interface_too_many_is_refused(gen, tmp_path):
    done = gen(plain(65536), tmp_path)
    assert done.returncode == 2
    assert done.stderr == (f"{tmp_path}/list.txt:3:9: library big has 65536 interfaces, and a stub "
                           "has room for 65535\n")
    assert not list((tmp_path / "made").iterdir())


def test_one_candidate_too_many_is_refused(gen, tmp_path):
    # A hole in a range makes two of one name.
    row = "    f{i} 30.0,31.0- (ptr)\n"
    assert gen(plain(32767, row), tmp_path).returncode == 0
    done = gen(plain(32768, row), tmp_path)
    assert done.returncode == 2
    assert "library big has 65536 candidates for its interfaces, and a stub has room for 65535" in (
        done.stderr)


@pytest.mark.parametrize("text, why", [
    ("toolkits " + " ".join(f"{n}.0" for n in range(1, 65)) + "\n", "more than 63 toolkits"),
    ("toolkits 655.0\n", "a version is from 1.0 to 654.99"),
    ("toolkits 30.100\n", "a version is from 1.0 to 654.99"),
])
def test_what_the_loader_cannot_hold_is_refused(gen, tmp_path, text, why):
    done = gen(text, tmp_path)
    assert done.returncode == 2 and why in done.stderr


def test_a_struct_larger_than_any_there_has_been(gen, tmp_path):
    struct = ("\nstruct large\n    size 16 30.0-31.1 layout A\n    size 70008 32.0- layout B\n"
              "    .count u32 0 30.0-31.1\n    .count u32 70000 32.0-\n"
              "    .bytes u8[8] 8 30.0-31.1\n    .bytes u8[70000] 0 32.0-\n")
    head = big_list.HEAD.format(name="big", upper="BIG")
    done = gen(big_list.text(head, struct, "\nfunctions\n    f 30.0- (in large)\n"), tmp_path)
    assert done.returncode == 0, done.stderr
    program = build.compile("layouts", "-std=gnu11", "-g", "-O1", "-Wall", "-Wextra", "-Werror",
                            "-fstack-protector-all", "-I", build.ROOT / "stubs", "-I",
                            tmp_path / "made", build.TESTS / "years_ahead" / "layouts.c",
                            build.ROOT / "stubs/cudart/adaptors/convert.c")
    done = subprocess.run([program], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")
