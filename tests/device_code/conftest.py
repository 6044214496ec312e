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
# The modules beside this file, and what shows an inspection.
sys.path[:0] = [str(HERE), str(HERE.parent / "inspection")]
from code_corpus import real_code  # noqa: E402
from dumps import Seen, compile_dump  # noqa: E402

LINKER = HERE / "code_linker.py"
# What an entry is of a file that is none.
NONE = dict.fromkeys("arch toolkit isa level container ir debug llvm abi".split(), "0")


@pytest.fixture
def read(tmp_path):
    """What `inspect` finds in a file, or in bytes, that is code without a container."""
    dump = compile_dump()

    def run(what):
        if not isinstance(what, pathlib.Path):
            file = tmp_path / "code"
            file.write_bytes(what if isinstance(what, bytes) else what.encode())
            what = file
        seen = Seen(build.output(dump, "--payloads", "--symbols", what))
        found, = seen.entries or [{**NONE, "flags": "0", "error": None, "names": {}}]
        return SimpleNamespace(
            wrong=seen.error, headers=Seen(build.output(dump, what)).error, kind=seen.kind,
            error=found["error"], arch=found["arch"], flags=int(found["flags"], 16),
            symbols={name: how.replace(" variable", "").replace(" ", "-")
                     for name, how in found["names"].items()},
            **{name: int(found[name]) for name in NONE if name != "arch"})
    return run


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
