# SPDX-License-Identifier: MIT
"""A search looks at nothing twice, for however many stubs and under whatever names."""
import collections
import os
import re

import pytest

import build
from fakes import fake, truncated
from syscalls import between, system_calls

STUBS = [build.import_library(library, 12) for library in build.LIBRARIES]


@pytest.fixture
def crowded(world):
    """A machine on which everything is in several places, and nothing can be used."""
    site = world.folder("venv/site-packages")
    for folder in (f"{site}/nvidia/cuda_runtime/lib", "loader", "conda/lib", "toolkit/lib64"):
        truncated(world.folder(folder) / "libcudart.so.12", fake("cudart", "12.9"))
    truncated(world.root / "loader/libnvrtc.so.12", fake("nvrtc", "12.9"))
    world.folder("conda/conda-meta")
    (world.root / "link").symlink_to("toolkit")
    (world.root / "toolkit/lib").symlink_to("lib64")
    (world.root / "loader/libcudart.so.13").symlink_to("../toolkit/lib/libcudart.so.12")
    world.system("/usr/local/cuda-12.9/lib64")
    world.symlink("cuda-12.9", "/usr/local/cuda")
    world.search(build.STUBS)
    world.search(world.root / "loader")
    world.search(f"{world.root}/loader/../loader")
    world.search(f"{world.root}/link/lib")
    world.env.update(CUDA_PATH=world.root / "link", CUDA_HOME=world.root / "toolkit",
                     CONDA_PREFIX=world.root / "conda")
    return world


def looked_at(calls):
    """How often each path was examined, opened, followed."""
    counts = collections.Counter()
    for line in calls.splitlines():
        found = re.search(r'\b(newfstatat|l?stat|fstatat64|statx|open|openat|access|faccessat2?'
                          r'|readlink|readlinkat)\((?:AT_FDCWD, )?"(.+?)"', line)
        if found:
            kind = {"open": "open", "read": "follow"}.get(found[1][:4], "examine")
            link = "AT_SYMLINK_NOFOLLOW" in line or found[1] == "lstat"
            counts[kind if kind != "examine" or not link else "examine itself", found[2]] += 1
    return counts


def test_nothing_is_looked_at_twice(crowded):
    site = crowded.root / "venv/site-packages"
    program = build.program(build.TESTS / "missing" / "twice.c", "-Wl,--no-as-needed", *STUBS,
                            f"-Wl,-rpath,{site}/nvidia/cuda_runtime/lib", name="three")
    crowded.put(site / "pkg", program)
    calls = between(system_calls(crowded, site / "pkg" / "three"), "first", "second")
    counts = looked_at(calls)
    assert counts["examine itself", f"{site}/nvidia"] == 1
    assert {what: count for what, count in counts.items() if count > 1} == {}
    # What is no link is known when it has been examined itself.
    both = {path for kind, path in counts if kind == "examine"}
    assert all(os.path.islink(path) or path.startswith("/proc/") for path in both
               if path.startswith(str(crowded.root)))
    # A file is opened once, whatever leads to it.
    opened = [os.path.realpath(path) for kind, path in counts if kind == "open"]
    cudarts = sorted(path for path in opened if "/libcudart.so." in path)
    assert len(cudarts) == len(set(cudarts)) == 4
    assert opened.count("/etc/ld.so.cache") <= 1 and opened.count("/usr/local") == 1


def test_it_is_all_found_nevertheless(crowded):
    status = crowded.status()
    folders = [re.sub(rf"^{crowded.root}/", "", c["path"]) for c in status["candidates"]]
    assert folders == ["loader/libcudart.so.13", "loader/libcudart.so.12",
                       "conda/lib/libcudart.so.12"]
