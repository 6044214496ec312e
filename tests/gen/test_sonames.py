# SPDX-License-Identifier: MIT
"""`gen --sonames`: of which CUDA each real SONAME of a list is, for the Makefile."""
import subprocess

import pytest

import lists

CUDAS = """\
toolkits 1.0 1.1 2.0

library other
    stub libother_stub.so
    soname libother.so.7 1.0-1.1
    soname libother.so.2 2.0-
    variable OTHER
    error missing 11
    error absent 12
    error refused 13
    error driver 14
    error incoherent 15
    status status

enum status
    ok 0 1.0-

functions
    other 1.0- ()
"""
OWN = CUDAS.replace("    error driver 14\n    error incoherent 15\n", "").replace(
    "    variable", "    majors own\n    variable")
ROWS = "    cuda libother.so.2 12 13\n    cuda libother.so.7 11 31\n    variable"


@pytest.mark.parametrize("text, lines", [
    (CUDAS, ["1/other/1/libother.so.7", "2/other/2/libother.so.2"]),
    (OWN, ["any/other/1/libother.so.7", "any/other/2/libother.so.2"]),
    (OWN.replace("    variable", ROWS),
     ["11/other/1/libother.so.7", "31/other/1/libother.so.7", "12/other/2/libother.so.2",
      "13/other/2/libother.so.2"]),
    (CUDAS + "\n" + lists.WITHOUT_MAJORS, ["1/other/1/libother.so.7", "2/other/2/libother.so.2"])],
    ids=["cuda", "any", "rows", "driver"])
def test_a_line_for_each_cuda_that_one_is_of(gen, tmp_path, text, lines):
    (tmp_path / "out").mkdir()
    done = gen(text, tmp_path / "out", "--sonames")
    assert (done.returncode, done.stdout.decode().splitlines()) == (0, lines), done.stderr
    assert not list((tmp_path / "out").iterdir())


def test_what_cannot_be_written_is_an_error(optimized, tmp_path):
    (tmp_path / "list.txt").write_text(CUDAS)
    with open("/dev/full", "w") as full:
        done = subprocess.run([optimized, "--sonames", tmp_path / "list.txt"], stdout=full,
                              stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2 and "cannot write the SONAMEs" in done.stderr
