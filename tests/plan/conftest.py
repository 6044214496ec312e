# SPDX-License-Identifier: MIT
"""ask("driver=12.4 nvjitlink=12.9 arch=sm_90", "k.ptx:ptx 8.0 sm_80") is the
plan, as in scene.py: words of the request, then the inputs."""
import json
import os
import subprocess
import sys
import types

import pytest

import build


def environment(library=build.STUBS / "liblazycuda_link.so", **more):
    return build.environment(sys.executable, {
        **os.environ, "PYTHONPATH": build.ROOT / "tools" / "retarget",
        "LAZYCUDA_LINK_LIBRARY": library, **more})


@pytest.fixture(scope="session")
def planner():
    with subprocess.Popen([sys.executable, build.TESTS / "plan" / "scene.py"], text=True,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment()) as process:
        yield process


@pytest.fixture
def ask(planner):
    def run(words, *inputs, more=()):
        print(json.dumps([*words.split(), *more, *(f"in={text}" for text in inputs)]),
              file=planner.stdin, flush=True)
        return types.SimpleNamespace(**json.loads(planner.stdout.readline()))
    return run
