# SPDX-License-Identifier: MIT
"""The readers of device code as a program, and real code from real toolkits."""
import json
import pathlib
import subprocess
import sys
from types import SimpleNamespace

import pytest

import build

HERE = pathlib.Path(__file__).resolve().parent
# The modules beside this file.
sys.path.insert(0, str(HERE))
from code_corpus import real_code  # noqa: E402

LINKER = HERE / "code_linker.py"
SOURCES = build.room("stubs/base", "link/tables", "link/formats")


def reader(*flags):
    program = build.program(HERE / "code.c", "-O1", "-D_GNU_SOURCE", "-Wl,--wrap=malloc",
                            "-I", build.ROOT / "stubs", *flags, *SOURCES, "-ldl")
    return lambda *words: build.output(program, *words)


@pytest.fixture(scope="session")
def code():
    """code("read", file) is what tests/device_code/code.c prints."""
    return reader()


@pytest.fixture(scope="session")
def sanitized():
    """The same, built with sanitizers where the compiler has them."""
    return reader(*build.sanitizing())


@pytest.fixture
def read(code, tmp_path):
    """What the readers find in a file, or in bytes."""
    def run(what):
        if not isinstance(what, pathlib.Path):
            file = tmp_path / "code"
            file.write_bytes(what if isinstance(what, bytes) else what.encode())
            what = file
        return parse(code("read", what))
    return run


def parse(text):
    lines = [line.split(" ", 1) for line in text.splitlines()]
    fields = {name: None if value == "-" else value for name, value in lines if name != "symbol"}
    # From memory, from the file and from headers alone it is the same.
    assert "from the file:" not in text and "headers alone" not in text, text
    entry = SimpleNamespace(
        wrong=fields["wrong"], error=fields["error"], kind=fields["kind"], arch=fields["arch"],
        headers=fields["headers"], flags=int(fields["flags"], 16),
        **{name: int(fields[name]) for name in (
            "toolkit", "isa", "level", "container", "ir", "debug", "llvm", "abi")})
    entry.symbols = {name: how for how, name in (
        value.split(" ", 1) for name, value in lines if name == "symbol")}
    return entry


@pytest.fixture
def produced(toolkit):
    """Of each real version asked for: a folder of its code."""
    return real_code(toolkit.version)


@pytest.fixture
def link(tmp_path):
    """link(toolkit, jobs) has its nvJitLink do them; what came of each, or "crash"."""
    def run(toolkit, jobs):
        library = toolkit.file("nvJitLink")
        if library is None:
            pytest.skip(f"CUDA {toolkit.version} has no nvJitLink")
        for number, job in enumerate(jobs):
            job.setdefault("get", "Cubin")
            job["inputs"] = [[kind, str(path)] for kind, path in job["inputs"]]
            job["out"] = str(tmp_path / f"image{number}")
        done = subprocess.run([sys.executable, LINKER, library], text=True, capture_output=True,
                              input="".join(json.dumps(job) + "\n" for job in jobs))
        results = done.stdout.splitlines()
        return results + ["crash"] * (len(jobs) - len(results))
    return run
