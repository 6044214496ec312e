# SPDX-License-Identifier: MIT
"""What it takes to look at a file grows as the file does, whatever is in it: counted
in instructions at once, twice and four times a size, never timed."""
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile

import pytest

import build

import shapes

HERE = pathlib.Path(__file__).resolve().parent

# Bytes of the smallest of the three, about.  A file of fewer is read at once, where a larger
# one is read in blocks.  Of Python's readers callgrind takes minutes, and the square of the first count
# hours.
SIZE, SIZE_IN_PYTHON = 64_000, 4_000
# The first is read once before: that fills what is kept for all files.
TIMES = (1, 1, 2, 4)
# Instructions a byte, which are about 2 when code is skipped, and 200 for a name of
# five bytes that is read, kept and looked for.
MOST_INSTRUCTIONS = 400
# Where memory is measured: one file of so many bytes, and how many times that is needed.
# A name of four bytes in PTX needs a record of 16, its copy, and its share of a table
# that is half empty; what is unpacked needs what the limit allows.
MEMORY_SIZE, MOST_MEMORY = 4 << 20, {"PTX, short names": 32, "fatbins": 8, "fatbin of cubins, names in names": 5,
                                     "fatbin of ZSTD bombs": 5}
# What is said of the files that were made to harm; of the others nothing.
SAID = {
    "archive, one name for all entries": "has parts that are the same bytes",
    "archive, names in names": "has parts that are the same bytes",
    "object, sections over the same bytes": "has sections that overlap",
    "cubin, names in names": "has damaged names of symbols: they overlap",
    "cubin, relocations over the same bytes": "has parts that are the same bytes",
    "cubin, attributes over the same bytes": "has parts that are the same bytes",
    "offload binary, images over the same bytes": "has parts that are the same bytes",
    "offload binary, strings over the same bytes": "has parts that are the same bytes",
    "PTX, blocks that stay open": "ends inside the body of a function",
}


def program():
    library = build.STUBS / "liblazycuda_link.so"
    return build.program(HERE / "growth.c", "-O1", library, f"-Wl,-rpath,{library.parent}")


def write(folder, kinds, size):
    """{shape: files of these times the size}"""
    files = {}
    for index, (name, make) in enumerate(kinds.items()):
        files[name] = [folder / f"{index}-{times}" for times in TIMES]
        for times, file in zip(TIMES, files[name]):
            file.write_bytes(shapes.sized(make, size, times))
    return files


def count(folder, when, command, files):
    """Instructions for each of the files: callgrind writes its counts as the options `when` say, at last
    when the last file is done."""
    out = folder / "counts"
    done = build.run("valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={out}", *when, *command,
                     *files, env={**os.environ, "PYTHONPATH": str(build.PYTHON), "PYTHONHASHSEED": "0"})
    assert done.returncode in (0, 2), done.stderr
    written = len(list(folder.glob("counts.*")))
    return [int(re.search(r"^(?:totals|summary): (\d+)", pathlib.Path(f"{out}.{i + 1}").read_text(),
                          re.M)[1]) for i in range(written - len(files), written)]


def counts(folder, kinds, size, when, *command):
    """{shape: [(bytes, instructions), ...]}"""
    if not shutil.which("valgrind"):
        pytest.skip("valgrind is not installed")
    if build.SANITIZER:
        pytest.skip("instructions are not counted under a sanitizer")
    files = write(folder, kinds, size)
    made = iter(count(folder, when, command, [file for all_sizes in files.values()
                                              for file in all_sizes]))
    return {name: [(file.stat().st_size, next(made)) for file in all_sizes]
            for name, all_sizes in files.items()}


def within(function):
    return [f"--toggle-collect={function}", f"--dump-after={function}"]


@pytest.fixture(scope="module")
def counted(tmp_path_factory):
    def folder(name):
        return tmp_path_factory.mktemp(name)
    return {
        **counts(folder("shapes"), shapes.SHAPES, SIZE, within("measured"), program()),
        **counts(folder("audited"), shapes.AUDITED, SIZE, within("findings_read"), build.TOOL, "audit"),
        **counts(folder("python"), shapes.READ_IN_PYTHON, SIZE_IN_PYTHON, ["--dump-before=getppid"], sys.executable, "-B",
                 HERE / "growth_of_python.py")}


@pytest.mark.parametrize("name", [*shapes.SHAPES, *shapes.AUDITED, *shapes.READ_IN_PYTHON])
def test_twice_the_file_is_twice_the_work(counted, name):
    _, one, two, four = [made / size for size, made in counted[name]]
    said = json.dumps(counted[name])
    # Were it the square of the size, four times the file would take four times as much of
    # each byte; where a file is refused depends on how its parts fall.
    assert four < 1.5 * max(one, two), said
    assert four < MOST_INSTRUCTIONS or name in shapes.READ_IN_PYTHON or not build.optimised(), said


@pytest.mark.parametrize("name", shapes.SHAPES)
def test_memory_is_a_multiple_of_the_file(tmp_path, name):
    if build.SANITIZER:
        pytest.skip("a sanitizer needs memory of its own")
    file = tmp_path / "file"
    file.write_bytes(shapes.sized(shapes.SHAPES[name], MEMORY_SIZE))
    _, _, memory, error = build.output(program(), file).split(maxsplit=3)
    assert error.startswith(SAID.get(name, "-")), error
    # KiB, of which half a MiB is of no matter.
    most = MOST_MEMORY.get(name, 4)
    assert int(memory) - 512 <= most * file.stat().st_size >> 10, (memory, file.stat().st_size)


# ---- the search ----

def test_twice_the_folders_are_twice_the_work(tmp_path):
    if not shutil.which("valgrind") or build.SANITIZER:
        pytest.skip("instructions are not counted: valgrind is not installed, or a sanitizer counts, too")
    program = build.program(build.TESTS / "direct" / "asks.c", build.import_library("cudart", 12),
                            f"-Wl,-rpath,{build.STUBS}", name="asks_stub")
    made = []
    for count in (500, 1000, 2000):
        out = tmp_path / f"counts{count}"
        with tempfile.TemporaryDirectory() as short:        # a variable has 128 KiB at most
            folders = [pathlib.Path(short, str(number)) for number in range(count)]
            for folder in folders:
                folder.mkdir()
            subprocess.run(["valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={out}", program], check=True,
                           capture_output=True, env={"LAZYCUDA_PATH": ":".join(map(str, folders))})
        made.append(int(re.search(r"^(?:totals|summary): (\d+)", out.read_text(), re.M)[1]))
    one, two, four = made
    assert four - two < 2.5 * (two - one), made


# ---- retarget, in Python ----

@pytest.mark.parametrize("name", shapes.READ_IN_PYTHON)
def test_what_retarget_reads_is_read_within_its_bounds(tmp_path, name):
    file = tmp_path / "file"
    file.write_bytes(shapes.sized(shapes.READ_IN_PYTHON[name], 1 << 20))
    done = build.run(sys.executable, "-B", HERE / "growth_of_python.py", file,
                     env={"PYTHONPATH": str(build.PYTHON)},
                     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (5, 5)))
    assert done.returncode == 0 and int(done.stdout) < 300 << 10, done


# ---- the limit on what is unpacked ----

LIMIT = 256 << 20
BOMBS = shapes.bombs(3)     # a MiB each


def inspect(tmp_path, *words, data=BOMBS):
    (tmp_path / "bombs.fatbin").write_bytes(data)
    said = build.run(build.TOOL, *words, "bombs.fatbin", cwd=tmp_path)
    return said.returncode, said.stdout, said.stderr


def errors(tmp_path, *words, data=BOMBS):
    status, said, _ = inspect(tmp_path, "inspect", "--json", *words, data=data)
    return [entry["error"] for entry in json.loads(said)["files"][0]["entries"]]


def is_refused(error, of, limit):
    return error is not None and f"that is {of}," in error and \
        f"at most {limit} are unpacked" in error and "raise --unpack-limit" in error


def test_the_sum_is_limited(tmp_path):
    """Of three entries of a MiB two may be unpacked: they are seen to be no code."""
    errors_ = errors(tmp_path, "--unpack-limit", "2M")
    assert [is_refused(error, 3 << 20, 2 << 20) for error in errors_] == [False, False, True]
    assert not any("limit" in error for error in errors(tmp_path, "--unpack-limit=3M"))


def test_the_limit_without_the_option(tmp_path):
    data = shapes.c.fatbin(*[shapes.bomb(2047)] * 4)
    assert all(is_refused(error, 2047 << 20, LIMIT) for error in errors(tmp_path, data=data))


def test_a_plan_refuses_with_a_code_and_names_what(tmp_path):
    words = "--arch sm_80 --driver 13.0 --nvjitlink 13.0 --nvrtc 13.0".split()
    status, said, _ = inspect(tmp_path, "plan", "--json", *words, "--unpack-limit", "1K")
    plan = json.loads(said)
    assert (status, plan["code"], plan["input"]) == (1, "UNPACK_LIMIT", 0)
    for word in ("bombs.fatbin", "at 0x", "1024", "--unpack-limit"):
        assert word in plan["message"]


@pytest.mark.parametrize("size", ["", "0", "-1", "99999999999999999999"])
def test_a_limit_that_is_none(tmp_path, size):
    for command in (["inspect"], ["plan", "--arch", "sm_80"]):
        status, said, why = inspect(tmp_path, *command, f"--unpack-limit={size}")
        assert status == 2 and "--unpack-limit" in why and not said
