# SPDX-License-Identifier: MIT
import json
import os
import sys
from types import SimpleNamespace

import pytest

import build
from importer import importer, real

CODE = build.PYTHON / "lazycuda"


@pytest.fixture
def plain(tmp_path):
    """A module that needs libcudart.so.12."""
    library = real(tmp_path, "libcudart.so.12", "cudaMalloc", node="libcudart.so.12")
    return importer(tmp_path, "cudaMalloc", link=[library])


@pytest.fixture
def retarget(patchelf, tmp_path):
    """retarget(file, ...) runs it, into tmp_path/out unless told otherwise; what
    it says is there as JSON too."""
    def run(*arguments, status=0, env=None, json_wanted=True):
        words = [str(word) for word in arguments]
        if "-o" not in words and "--in-place" not in words:
            (tmp_path / "out").mkdir(exist_ok=True)
            words = ["-o", str(tmp_path / "out"), *words]
        done = build.run(sys.executable, "-B", CODE, "retarget", *(["--json"] if json_wanted else []), *words,
                         cwd=tmp_path, env={**os.environ, **(env or {})})
        assert done.returncode == status, done.stdout + done.stderr
        said = json.loads(done.stdout) if json_wanted and done.stdout else {}
        return SimpleNamespace(out=done.stdout, err=done.stderr, said=said,
                               files=said.get("files"), wheels=said.get("wheels"))
    run.out = tmp_path / "out"
    return run
