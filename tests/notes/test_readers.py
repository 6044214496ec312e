# SPDX-License-Identifier: MIT
"""The published readers of `.note.dlopen` read what is in the stubs: systemd's dlopen-notes,
and Debian's dh_dlopenlibdeps, which asks it."""
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys

import pytest

import build
import dlopen_notes as notes

# .ci/run unpacks them there, from Debian's dh-dlopenlibdeps.
UNPACKED = build.BUILD / "dh-dlopenlibdeps" / "usr" / "bin"
FILES = [*map(build.stub, build.STUBBED), build.STUBS / "liblazycuda_link.so"]

CONTROL = """Source: mine
Maintainer: Nobody <nobody@example.invalid>

Package: mine
Architecture: any
Description: holds the stubs
 And nothing else.
"""
# As if packages with these files were installed; it is asked for parts of their paths.
QUERY = """#!/bin/sh
for soname; do
	case $soname in
	libcudart.so.12) echo "libcudart12:amd64: /usr/lib/x86_64-linux-gnu/libcudart.so.12" ;;
	libcuda.so.1) echo "libcuda1:amd64: /usr/lib/x86_64-linux-gnu/libcuda.so.1" ;;
	esac
done
"""


def program(name):
    found = shutil.which(name, path=f"{os.environ['PATH']}:{UNPACKED}")
    if not found:
        pytest.skip(f"there is no {name} (Debian: dh-dlopenlibdeps, in backports of bookworm)")
    return found


@pytest.fixture
def reader():
    """dlopen-notes, run by a Python that has what it needs."""
    found = program("dlopen-notes")
    if not importlib.util.find_spec("elftools"):
        pytest.skip("there is no pyelftools, which dlopen-notes reads ELF files with")
    return lambda *words: build.output(sys.executable, found, *words)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_dlopen_notes_reads_every_entry(reader, file):
    # It prints a list for each note, or one for the whole file.
    text, found = reader("--raw", file).partition("\n")[2].strip(), []
    while text:
        part, end = json.JSONDecoder().raw_decode(text)
        found, text = found + part, text[end:].strip()
    assert found == notes.by_section(file) and found


def test_debhelper_suggests_the_packages_and_wants_none(reader, tmp_path):
    helper = program("dh_dlopenlibdeps")
    if not shutil.which("dh_testdir"):
        pytest.skip("there is no debhelper")
    (tmp_path / "debian" / "mine" / "usr" / "lib").mkdir(parents=True)
    (tmp_path / "debian" / "control").write_text(CONTROL)
    for file in FILES:
        shutil.copy(file, tmp_path / "debian" / "mine" / "usr" / "lib")
    (tmp_path / "bin").mkdir()
    script(tmp_path / "bin" / "dpkg-query", QUERY)
    script(tmp_path / "bin" / "dlopen-notes",
           f'#!/bin/sh\nexec {sys.executable} {program("dlopen-notes")} "$@"\n')
    subprocess.run(["perl", helper], cwd=tmp_path, check=True, capture_output=True,
                   env={**os.environ, "DH_COMPAT": "13",
                        "PATH": f"{tmp_path}/bin:{os.environ['PATH']}"})
    said = dict(line.split("=", 1) for line in
                (tmp_path / "debian" / "mine.substvars").read_text().splitlines())
    assert re.split(r"[,|]\s*|\s+\|\s+", said["dlopen:Suggests"]) == ["libcuda1", "libcudart12"]
    assert not said["dlopen:Depends"] and not said["dlopen:Recommends"]


def script(path, text):
    path.write_text(text)
    path.chmod(0o755)
