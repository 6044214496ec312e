# SPDX-License-Identifier: MIT
"""Same input, same bytes; all files or none; fast."""
import os
import pathlib
import re
import resource
import shutil
import subprocess

import pytest


HERE = pathlib.Path(__file__).parent
THING = (HERE / "thing.txt").read_text()


def contents(folder):
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def test_same_input_same_bytes(gen, tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        assert gen(THING, tmp_path / name, name=f"{name}.txt").returncode == 0
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    assert set(contents(tmp_path / "one")) >= set(
        f"libthing_stub.{end}" for end in ("c", "h", "map", "import.c", "import1.map",
                                           "import2.map", "import3.map"))


def test_an_unchanged_file_keeps_its_time(gen, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    gen(THING, out)
    for file in out.iterdir():
        os.utime(file, (1, 1))
    assert gen(THING.replace("error missing 11", "error missing 16"), out).returncode == 0
    changed = {file.name for file in out.iterdir() if file.stat().st_mtime != 1}
    assert changed == {"libthing_stub.c"}


def test_a_later_layout_does_not_take_the_name_of_the_first(gen, tmp_path):
    """Written code calls the first by the plain name, whatever comes before it in the list."""
    out = tmp_path / "out"
    out.mkdir()
    text = THING.replace("struct small\n    size 8 1.0- layout A", "struct small\n"
                         "    size 8 1.0-2.1 layout A\n    size 12 3.0- layout B\n    .c i32 8 3.0-")
    done = gen(text.replace("\nfunctions\n", "\nfunctions\n    a_new_one 3.0- (small)\n"), out)
    assert done.returncode == 0, done.stderr
    header = (out / "libthing_stub.h").read_text()
    sizes = dict(re.findall(r"sizeof\(struct (lc_small\w*)\) == (\d+)", header))
    assert sizes == {"lc_small": "8", "lc_small_B": "12"}


def test_a_full_disk(optimized, tmp_path):
    """A limit on the size of files is a disk that is full in the middle of one."""
    out = tmp_path / "out"
    out.mkdir()
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
    ([], "usage:"), (["-x", "a"], "usage:"), (["--abi", "0", "a"], "usage:"),
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
