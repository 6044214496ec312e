# SPDX-License-Identifier: MIT
"""Same input, same bytes; all files or none; fast."""
import os
import pathlib
import re
import resource
import shutil
import subprocess

import pytest

import lists

HERE = pathlib.Path(__file__).parent
THING = (HERE / "thing.txt").read_text()


def contents(folder):
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def test_an_unchanged_file_keeps_its_time(gen, out):
    gen(THING, out)
    for file in out.iterdir():
        os.utime(file, (1, 1))
    assert gen(THING.replace("error missing 11", "error missing 16"), out).returncode == 0
    changed = {file.name for file in out.iterdir() if file.stat().st_mtime != 1}
    assert changed == {"libthing_stub.c"}


def test_a_later_layout_does_not_take_the_name_of_the_first(gen, out):
    """Written code calls the first by the plain name, whatever comes before it in the list."""
    text = THING.replace("struct small\n    size 8 1.0- layout A", "struct small\n"
                         "    size 8 1.0-2.1 layout A\n    size 12 3.0- layout B\n    .c i32 8 3.0-")
    done = gen(text.replace("\nfunctions\n", "\nfunctions\n    a_new_one 3.0- (small)\n"), out)
    assert done.returncode == 0, done.stderr
    header = (out / "libthing_stub.h").read_text()
    sizes = dict(re.findall(r"sizeof\(struct (lc_small\w*)\) == (\d+)", header))
    assert sizes == {"lc_small": "8", "lc_small_B": "12"}


def test_a_full_disk(optimized, tmp_path, out):
    """A limit on the size of files is a disk that is full in the middle of one."""
    assert subprocess.run([optimized, "-o", out, HERE / "thing.txt"]).returncode == 0
    before = contents(out)
    (tmp_path / "list.txt").write_text(THING.replace("error missing 11", "error missing 16"))

    def limit():
        import signal
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))

    done = subprocess.run([optimized, "-o", out, tmp_path / "list.txt"], preexec_fn=limit,
                          capture_output=True, text=True)
    assert done.returncode == 2 and "cannot write" in done.stderr
    assert contents(out) == before


@pytest.mark.parametrize("arguments, message", [
    ([], "gen: it takes one LIST\nusage: "), (["-x", "a"], "gen: unknown option -x\nusage: "),
    (["--abi"], "gen: a value is missing after --abi\nusage: "),
    (["--abi", "0", "a"], "gen: --abi 0: it is not a major of CUDA\nusage: "),
    (["none.txt"], "cannot read none.txt"),
])
def test_wrong_usage(optimized, tmp_path, arguments, message):
    done = subprocess.run([optimized, *arguments], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2 and message in done.stderr and not list(tmp_path.iterdir())


# ---- work ----

def instructions(program, path, out):
    """What valgrind's callgrind counts, on every machine and at every load the same."""
    counts = out.with_suffix(".callgrind")
    subprocess.run(["valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={counts}",
                    program, "-o", out, path], check=True, capture_output=True)
    return int(re.search(r"^(?:totals|summary): (\d+)", counts.read_text(), re.M)[1])


@pytest.mark.skipif(not shutil.which("valgrind"), reason="there is no valgrind")
def test_the_names_of_one_family_cost_no_more_as_it_grows(optimized, tmp_path):
    head = THING.split("\nfunctions\n")[0]
    counted = {}
    for count in (1000, 4000):
        rows = "".join(f"    f_3_{i} 3.0- (i32) family f\n" for i in range(count))
        path, out = tmp_path / f"{count}.txt", tmp_path / str(count)
        path.write_text(f"{head}\nfunctions\n{rows}")
        out.mkdir()
        counted[count] = instructions(optimized, path, out)
    # Not the square: that would be 16 times as much.
    assert counted[4000] < 6 * counted[1000], counted


@pytest.mark.skipif(not shutil.which("valgrind"), reason="there is no valgrind")
def test_no_read_of_memory_that_was_not_written(optimized, tmp_path):
    done = subprocess.run(["valgrind", "-q", "--error-exitcode=9", optimized, "-o", tmp_path,
                           HERE / "thing.txt"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


# ---- `gen --words`: what the Makefile makes of a list, and for which CUDA ----

CUDAS = lists.OTHER.replace("libother.so.1", "libother.so.7")
OWN = CUDAS.replace("    error driver 4\n    error incoherent 5\n", "").replace(
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
def test_a_line_for_each_cuda_that_one_is_of(gen, out, text, lines):
    done = gen(text, out, "--words")
    assert (done.returncode, sorted(done.stdout.decode().splitlines())) == (0, lines), done.stderr
    assert not list(out.iterdir())


def test_what_cannot_be_written_is_an_error(optimized, tmp_path):
    (tmp_path / "list.txt").write_text(CUDAS)
    with open("/dev/full", "w") as full:
        done = subprocess.run([optimized, "--words", tmp_path / "list.txt"], stdout=full,
                              stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2 and "cannot write the words" in done.stderr
