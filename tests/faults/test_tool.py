# SPDX-License-Identifier: MIT
"""Every call that the tool makes of libc while it reads files fails in turn: it
says so and ends with status 2, or says what it always says."""
import errno
import json
import os
import re

import pytest

import build
import injected
from fakes import fake
from importer import importer, real

# What reading a file takes; without a library or an answer of ld.so there is less to say.
READING = ("malloc", "calloc", "realloc", "strdup", "asprintf", "vasprintf", "open", "read",
           "pread", "mmap", "fstat", "__fxstat")
NO_SUCH_CALL = 99


def faults():
    """[(number, function, errno)] as inject.c has them."""
    table = re.search(r"faults\[\] = \{(.*?)\n\};", injected.SOURCE.read_text(), re.S)[1]
    return [(number, *row) for number, row in
            enumerate(re.findall(r'\{ "(\w+)", (\w+), \w+ \}', table))]


def sweep(world, *command):
    """How many calls failed."""
    program = injected.tool()
    usual = world.run(program, *command, check=False)
    assert usual.status in (0, 1), usual.err
    calls = 0
    for number, function, name in faults():
        # An end of file that comes early is one more way to be damaged.
        if function not in READING or name == "0":
            continue
        for call in range(1, 1000):
            said = world.run(program, *command, check=False, FAULT=f"{number} {call}")
            if said.status == NO_SUCH_CALL:
                break
            calls += 1
            where = f"{function} {call} fails ({name}): "
            if (said.status, said.out) == (usual.status, usual.out):
                continue
            # What the file's error is taken for, if the file can be read after all.
            told = said.status == 1 and any(
                why in said.out for why in (os.strerror(getattr(errno, name)), "is not readable"))
            assert said.status == 2 or told, f"{where}{said.status} {said.out} {said.err}"
            assert told or said.err or "error" in said.out, where
            if said.out and "--json" in command:
                json.loads(said.out)
    return calls


@pytest.mark.parametrize("how", [(), ("--json",)], ids=["text", "json"])
def test_audit(world, tmp_path, how):
    file = importer(tmp_path, "cudaMalloc", "cudaFree", major=12)
    assert sweep(world, "audit", *how, file) > 8


def test_an_audit_without_memory_lets_nothing_run(world, tmp_path):
    # The last of the names needs a larger array.
    names = [f"cudaGone{i}" for i in range(1025)]
    soname = "libcudart.so.12"
    file = importer(tmp_path, *names, link=[real(tmp_path, soname, *names, node=soname)])
    ways = set()
    for number in [number for number, function, _ in faults() if function in ("malloc", "calloc")]:
        for call in range(1, 1000):
            said = world.run(injected.tool(), "audit", file, check=False, FAULT=f"{number} {call}")
            if said.status == NO_SUCH_CALL:
                break
            ways.add(said.status)
            assert "runs on 1" not in said.out, call
    assert 2 in ways


@pytest.mark.parametrize("how", [(), ("--json",)], ids=["text", "json"])
def test_inspect(world, tmp_path, how):
    file = tmp_path / "k.ptx"
    file.write_text(".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n")
    assert sweep(world, "inspect", *how, file) > 5
    assert sweep(world, "inspect", *how, fake("cudart", "13.5")) > 5
