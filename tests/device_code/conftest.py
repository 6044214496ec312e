# SPDX-License-Identifier: MIT
"""The readers of device code as a program, and real code from real toolkits."""
import pathlib
from types import SimpleNamespace

import pytest

import linkers
from code_corpus import real_code
from dumps import dump  # noqa: F401

# What an entry is of a file that is none.
NONE = dict.fromkeys("arch toolkit isa level container ir debug llvm abi".split(), "0")


@pytest.fixture
def read(dump, tmp_path):
    """What `inspect` finds in a file, or in bytes, that is code without a container."""
    def run(what):
        if not isinstance(what, pathlib.Path):
            file = tmp_path / "code"
            file.write_bytes(what if isinstance(what, bytes) else what.encode())
            what = file
        (seen,), (headers,) = dump("--payloads", "--symbols", what), dump(what)
        found, = seen.entries or [{**NONE, "flags": "0", "error": None, "names": {}}]
        return SimpleNamespace(
            wrong=seen.error, headers=headers.error, kind=seen.kind,
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
    """link(toolkit, [(options, inputs)]): the images that its nvJitLink calls a success, or what
    came of it instead, such as "crash 11"."""
    def run(toolkit, jobs):
        if toolkit.file("nvJitLink") is None:
            pytest.skip(f"CUDA {toolkit.version} has no nvJitLink")
        images = [tmp_path / f"image{number}" for number in range(len(jobs))]
        said = linkers.link(toolkit.version, [
            linkers.Job(toolkit.version, *job).line(image) for job, image in zip(jobs, images)])
        return [image if image.exists() else one for image, one in zip(images, said)]
    return run
