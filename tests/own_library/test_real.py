# SPDX-License-Identifier: MIT
"""The seven libraries of examples/stubs.sh: made, built and loaded by its commands, and
called as far as that goes without a GPU.

`make test` has cuRAND; with CUDA_VERSIONS=all it has all of them.
"""
import re
import sys

import pytest

import build
import elf
import own_stubs
import real_libraries

SEVEN = ("cublas", "cufft", "cusolver", "cusparse", "curand", "cudnn", "nccl")
SCRIPT = (build.ROOT / "examples/stubs.sh").read_text()
CALLS = (sys.executable, build.TESTS / "own_library" / "calls.py")
MISSING = {"cublas": 1, "cufft": 7, "cusolver": 1, "cusparse": 1, "curand": 101, "cudnn": 1001,
           "nccl": 2}

# What they say of a status, before the words that tell which library is missing.
TEXTS = {
    "cublas": {"cublasGetStatusString": "cublasGetCudartVersion: ",
               "cublasGetStatusName": "CUBLAS_STATUS_NOT_SUPPORTED"},
    "cusparse": {"cusparseGetErrorString": "cusparseGetProperty: ",
                 "cusparseGetErrorName": "CUSPARSE_STATUS_INVALID_VALUE"},
    "cudnn": {"cudnnGetErrorString": "cudnnGetCudartVersion: "},
    "nccl": {"ncclGetErrorString": "ncclGetVersion: ", "ncclGetLastError": "ncclGetVersion: "},
}


def script():
    """({library: its command}, what comes before all of them) of examples/stubs.sh."""
    stubs = re.findall(r"^lazycuda stub (?:.*\\\n)*.*$", SCRIPT, re.M)
    return {line.split()[-1]: line for line in stubs}, "\n".join(re.findall(r"^\w+=.*$", SCRIPT, re.M))


@pytest.fixture(scope="module", params=SEVEN)
def made(request, libclang, tmp_path_factory):
    """One of them, by its command there."""
    why = real_libraries.why_absent(request.param)
    if why:
        pytest.skip(why)
    folder = tmp_path_factory.mktemp(request.param)
    commands, before = script()
    work = folder / "libraries"
    work.mkdir()
    for name in ("cu12", "cu13"):
        (work / name).symlink_to(real_libraries.FOLDER / name)
    (folder / "libclang").symlink_to(build.BUILD / "libclang")
    done = build.run("bash", "-ec", f"{before}\n{commands[request.param]}", cwd=work,
                     env=build.environment(build.TOOL, {"PATH": f"{build.TOOL.parent}:/usr/bin:/bin"}))
    assert (done.returncode, done.stderr) == (0, "")
    own_stubs.make(work / request.param, "CFLAGS=-O1")
    return request.param, own_stubs.Stub(work / request.param, done.stdout)


def test_what_it_says_is_in_the_script(made):
    said = [line for line in made[1].said.splitlines() if " functions, " in line]
    assert said and {f"# {line}" for line in said} <= {*SCRIPT.splitlines()}


def test_every_function_of_the_library_is_there(made):
    name, stub = made
    exported = {}
    for symbol in elf.exports(stub.file):
        exported.setdefault(symbol.node, set()).add(symbol.name)
    for file in real_libraries.files(name):
        real = {s.name for s in elf.exports(file)} - {"_end", "_edata", "__bss_start", file.name}
        node = None if name == "nccl" else file.name
        assert real - exported[node] == set()


def test_without_the_library(made, world):
    name, stub = made
    said = dict(line.split(": ", 1) for line in world.run(*CALLS, stub.file, name).lines)
    assert {function: said.pop(function).partition(f"no usable lib{name}.so.")[0]
            for function in TEXTS.get(name, ())} == TEXTS.get(name, {})
    numbers = {line.split(",")[0].split()[0] for line in said.values()}
    assert numbers <= {str(MISSING[name]), "0"}
    status = world.probe(f"open:{stub.file}", "load", f"status:{name}")[-1]
    assert status["state"] == "missing" and status["cause"] == 1


def test_with_the_library_it_answers_as_it_does_itself(made, world):
    name, stub = made
    file = real_libraries.files(name)[-1]
    for folder in real_libraries.folders(file):
        world.search(folder)
    direct = world.run(*CALLS, file, name)
    through = world.run(*CALLS, stub.file, name)
    assert direct.lines == through.lines and len(through.lines) > 1
    status = world.probe(f"open:{stub.file}", "load", f"status:{name}")[-1]
    assert (status["state"], status["path"]) == ("usable", str(file))
