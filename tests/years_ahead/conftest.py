# SPDX-License-Identifier: MIT
import hashlib
import importlib.util
import json
import shutil

import pytest

import build
import source_copy
import steps

LIBCLANG = build.BUILD / "libclang" / "clang" / "native" / "libclang.so"
MADE = build.BUILD / "tests" / "cuda14"


@pytest.fixture(scope="session")
def libclang():
    if not LIBCLANG.exists():
        pytest.skip("there is no build/libclang: run make symbols once")
    return LIBCLANG


def key():
    """Changes with anything that the copy is made of."""
    digest = hashlib.sha256(str(build.CC).encode())
    for path in sorted(map(str, source_copy.sources())):
        if not path.startswith("docs/") or path == "docs/reference/new-release.md":
            digest.update(path.encode() + (build.ROOT / path).read_bytes())
    return digest.hexdigest()


@pytest.fixture(scope="session")
def cuda14(libclang):
    """A copy of the sources that supports CUDA 14, made by the steps of docs/reference/new-release.md.
    It is made once, for all processes that run tests, and kept until a source changes."""
    if build.ARCH != "x86_64":
        pytest.skip("make symbols wants the libraries for x86-64, which cannot be made here")
    if not any(map(importlib.util.find_spec, ("pip", "ensurepip"))):
        pytest.skip("this Python has no pip, which fetches toolkits")
    with build.locked(MADE.with_suffix(".lock")):
        stamp, now = MADE / "made.json", key()
        if not stamp.exists() or json.loads(stamp.read_text())["key"] != now:
            shutil.rmtree(MADE, ignore_errors=True)
            MADE.mkdir()
            said, edited = steps.follow(MADE)
            stamp.write_text(json.dumps({"key": now, "said": said, "edited": edited}))
        made = json.loads(stamp.read_text())
        return steps.Made(MADE, made["said"], made["edited"])
