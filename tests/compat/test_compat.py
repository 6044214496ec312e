# SPDX-License-Identifier: MIT
"""Stubs under the real SONAMEs (`make install COMPAT=12`): binaries that nobody may
change start where there is no CUDA, and use the real libraries where there are any."""
import sys

import pytest

import build
import elf
import installed
import symbols
import toolkits
from fakes import answer, driver, fake
from world import CALL, MISSING

VERSIONS = {11: "11.8", 12: "12.9", 13: "13.5"}
PAIRS = [(library, major) for library in build.LIBRARIES for major in sorted(build.MAJORS)
         if (library, major) != ("nvJitLink", 11)]
pairs = pytest.mark.parametrize("library, major", PAIRS)
PROGRAM = build.TESTS / "linking" / "caller.c"
PRIVATE = "LAZYCUDA_1"


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    return installed.install(tmp_path_factory.mktemp("compat"), "COMPAT=11,12,13")


def soname(library, major):
    return symbols.read().libraries[library].soname(symbols.version(VERSIONS[major]))


def program(library, major, name=None):
    """A program that knows nothing of lazycuda: it needs libcudart.so.12."""
    made = build.program(PROGRAM, f"-DNAME={name or CALL[library]}",
                         fake(library, VERSIONS[major]))
    assert soname(library, major) in elf.dynamic(made)["NEEDED"]
    return made


# ---- what they export ----

def test_none_unless_asked_for(tmp_path):
    assert not installed.install(tmp_path).compat(12).exists()


def test_where_there_is_none_it_says_how_to_make_it(tmp_path):
    tree = installed.install(tmp_path)
    done = build.run(sys.executable, "-B", tree.prefix / "share/lazycuda/python/lazycuda", "--compatdir", "12")
    assert done.returncode == 2 and "`make install` makes it, and with COMPAT=MAJOR" in done.stderr


@pytest.mark.parametrize("switch", ["COMPAT=14", "TOOLKITS=12,14"])
def test_a_major_that_there_is_not(tmp_path, switch):
    with pytest.raises(AssertionError, match=f"{switch}: there is no CUDA 14 here"):
        installed.install(tmp_path, switch)


@pairs
def test_the_same_names_as_the_real_library(tree, real, library, major):
    # Names are only added within a major: the newest version has them all.
    exported = {s[:3] for s in elf.exports(real(VERSIONS[major]).file(library))}
    assert exported == {s[:3] for s in elf.exports(tree.compat(major) / soname(library, major))
                        if s.node != PRIVATE}


# ---- a program that cannot be changed ----

@pairs
def test_with_them_it_starts_and_gets_a_typed_error(world, tree, library, major):
    world.search(tree.compat(major))
    said = world.run(program(library, major), timeout=20)
    assert (int(said.out), said.err) == (MISSING[library], "")


@pairs
def test_a_real_library_on_the_same_path_is_used(world, tree, library, major):
    world.search(tree.compat(major))
    world.loader(fake(library, VERSIONS[major]))
    assert int(world.run(program(library, major)).out) == answer(
        library, CALL[library], VERSIONS[major])


def test_a_real_library_in_the_site_packages_of_the_program(world, tree):
    site = world.site_packages(fake("cudart", "12.9"))
    extension = world.put(site / "package", program("cudart", 12))
    world.search(tree.compat(12))
    said = world.run(extension / program("cudart", 12).name)
    assert int(said.out) == answer("cudart", CALL["cudart"], "12.9")


@pytest.mark.parametrize("version", ["11.8", "12.0", "13.5"])
def test_another_major_serves_where_only_that_is_there(world, tree, version):
    world.search(tree.compat(12))
    world.loader(fake("cudart", version))
    said = world.run(program("cudart", 12))
    assert int(said.out) == answer("cudart", CALL["cudart"], version)


def test_an_interface_that_changed_is_not_forwarded_by_name(world, tree):
    # 13's cudaGraphAddDependencies has another prototype than 12's; a link from one
    # library to the other would call it all the same.
    world.record()
    world.search(tree.compat(12))
    world.loader(fake("cudart", "13.5"))
    world.run(program("cudart", 12, "cudaGraphAddDependencies"))
    (_, _, name, arguments, _), = [call for call in world.log() if "Dependencies" in call[2]]
    assert (name, arguments[3]) == ("cudaGraphAddDependencies", 0)    # no edge data


# ---- a stub never takes itself, or another, for the real library ----

def candidates(status):
    return {c["path"]: c["reason"] for c in status["candidates"]}


def test_it_does_not_find_itself(world, tree):
    stub = tree.compat(12) / "libcudart.so.12"
    world.search(tree.compat(12))
    opened, _, status, listed = world.probe("open:libcudart.so.12", "load", "status:cudart",
                                            "libraries", timeout=20)
    assert opened["error"] is None and status["state"] == "missing"
    assert candidates(status) == {str(stub): "is a lazycuda stub itself"}
    # Nor is it what an error message begins with.
    assert " search. Looked in" in status["reason"]
    assert len([path for path in listed["libraries"] if "cudart" in path]) == 1


def test_none_loads_the_stubs_of_other_majors(world, tree):
    for major in VERSIONS:
        world.search(tree.compat(major))
    _, _, status, listed = world.probe("open:libcudart.so.11.0", "load", "status:cudart",
                                       "libraries", timeout=20)
    assert status["state"] != "usable" and len(candidates(status)) == 3
    assert [path for path in listed["libraries"] if "cudart" in path] == [
        str(tree.compat(11) / "libcudart.so.11.0")]


# ---- other code in the process ----

@pytest.mark.parametrize("first", [12, 13])
@pytest.mark.parametrize("order", ["compat first", "stub first"])
def test_it_coheres_with_the_ordinary_stub(world, tree, order, first):
    """Whichever comes first, and is called first."""
    both = [f"open:{tree.compat(12) / 'libcudart.so.12'}", f"open:{build.stub('cudart')}"]
    world.loader(fake("cudart", "12.9"), fake("cudart", "13.5"))
    world.record()
    said = world.probe(*(both if order == "compat first" else both[::-1]),
                       *(f"call:{CALL['cudart']}@libcudart.so.{major}" for major in (first, 25 - first)), "libraries")
    # One of them is called for 12 and the other for 13; both lead to the same library.
    assert {call[0] for call in world.log() if call[2] == CALL["cudart"]} == {"libcudart.so.12"}
    assert [line["value"] for line in said[2:4]] == [
        answer("cudart", CALL["cudart"], "12.9")] * 2
    real = [path for path in said[4]["libraries"] if "cudart" in path and "/loader/" in path]
    assert len(real) == 1


# ---- real binaries ----

def client(toolkit):
    """A program that was linked to the real libraries of a toolkit."""
    files = [toolkit.file(library) for library in build.LIBRARIES if toolkit.file(library)]
    suffix = [f"-DSUFFIX=_{toolkit.major}_{toolkit.minor}"] if len(files) == 3 else []
    return build.program(build.TESTS / "compat" / "client.c", *suffix, *files, "-Wl,--no-as-needed",
                         "-Wl,--allow-shlib-undefined", name=f"client-{toolkit.version}")


@pytest.fixture
def ask(world, tree, real):
    """What a client of a version says of each thing that it does; the files lie behind the stubs."""
    def run(version, *files, **env):
        program = client(real(version))
        for folder in (tree.compat(int(version.partition(".")[0])), *(file.parent for file in files)):
            world.search(folder)
        said = world.run(program, timeout=30, **env)
        assert said.err == ""
        return dict(line.split(" ", 1) for line in said.lines)
    return run


@pytest.mark.parametrize("linked_with", toolkits.linked())
def test_a_real_client_starts_where_there_is_nothing(ask, linked_with):
    said = ask(linked_with)
    assert said["runtime"] == "303 0"
    assert said["devices"] == "35 cudaErrorInsufficientDriver"
    assert said["nvrtc"] == "11 0.0 ok"
    assert said["last"] == "303 303 0"
    assert said.get("link", "6 0") == "6 0"


@pytest.mark.parametrize("linked_with", toolkits.linked())
def test_a_real_client_on_every_real_version(ask, toolkit, linked_with):
    said = ask(linked_with, *toolkit.files(), LD_BIND_NOW="1")
    # Without a GPU the runtime of 11 does not tell its version.
    number = 1000 * toolkit.major + 10 * toolkit.minor
    assert said["runtime"] == (f"0 {number}" if toolkit.major > 11 else said["runtime"])
    assert said["runtime"].split()[0] in ("0", "35") and said["driver"] == "0 0"
    assert said["devices"] == "35 cudaErrorInsufficientDriver" and said["malloc"] == "35"
    assert said["nvrtc"] == f"0 {toolkit.version} ok" and said["program"] == "0 0"
    if "link" in said:
        assert said["link"] == ("0 0" if toolkit.file("nvJitLink") else "6 0")
