# SPDX-License-Identifier: MIT
"""`gen --words`: what the Makefile makes of a list, and for which CUDA."""
import subprocess

import pytest

import lists

CUDAS = lists.OTHER.replace("libother.so.1", "libother.so.7")
OWN = CUDAS.replace("    error driver 14\n    error incoherent 15\n", "").replace(
    "    variable", "    majors own\n    variable")
ROWS = "    cuda libother.so.2 12 13\n    cuda libother.so.7 11 31\n    variable"


@pytest.mark.parametrize("text, lines", [
    (CUDAS, ["compat/1/other/1/libother.so.7", "compat/2/other/2/libother.so.2",
             "import/1/other/1", "import/2/other/2"]),
    (OWN, ["compat/any/other/1/libother.so.7", "compat/any/other/2/libother.so.2",
           "import/any/other/2"]),
    (OWN.replace("    variable", ROWS),
     ["compat/11/other/1/libother.so.7", "compat/12/other/2/libother.so.2",
      "compat/13/other/2/libother.so.2", "compat/31/other/1/libother.so.7",
      "import/11/other/1", "import/12/other/2", "import/13/other/2", "import/31/other/1"]),
    (OWN.replace("    variable", ROWS.replace("11 31", "12")),
     ["compat/12/other/1/libother.so.7", "compat/12/other/2/libother.so.2",
      "compat/13/other/2/libother.so.2", "import/12/other/2", "import/13/other/2"]),
    (OWN.replace("    variable", "    compat none\n" + ROWS),
     ["import/11/other/1", "import/12/other/2", "import/13/other/2", "import/31/other/1"]),
    (CUDAS + "\n" + lists.WITHOUT_MAJORS,
     ["compat/1/other/1/libother.so.7", "compat/2/other/2/libother.so.2",
      "import/1/other/1", "import/1/thing/1", "import/2/other/2", "import/2/thing/2"])],
    ids=["cuda", "any", "rows", "two-of-one-cuda", "no-real-names", "driver"])
def test_a_line_for_each_cuda_that_one_is_of(gen, tmp_path, text, lines):
    (tmp_path / "out").mkdir()
    done = gen(text, tmp_path / "out", "--words")
    assert (done.returncode, sorted(done.stdout.decode().splitlines())) == (0, lines), done.stderr
    assert not list((tmp_path / "out").iterdir())


def test_what_cannot_be_written_is_an_error(optimized, tmp_path):
    (tmp_path / "list.txt").write_text(CUDAS)
    with open("/dev/full", "w") as full:
        done = subprocess.run([optimized, "--words", tmp_path / "list.txt"], stdout=full,
                              stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2 and "cannot write the words" in done.stderr
