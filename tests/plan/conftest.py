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
        **os.environ, "PYTHONPATH": build.PYTHON,
        "LAZYCUDA_LINK_LIBRARY": library, **more})


@pytest.fixture(scope="session")
def planner():
    running = []

    def plan(words):
        if not running or running[-1].poll() is not None:   # it failed a test, and only that
            running.append(subprocess.Popen(
                [sys.executable, build.TESTS / "plan" / "scene.py"], text=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment()))
        print(json.dumps(words), file=running[-1].stdin, flush=True)
        said = running[-1].stdout.readline()
        assert said, f"scene.py ended with {running[-1].wait()}"
        return json.loads(said)
    yield plan
    for one in running:
        one.communicate()


@pytest.fixture
def ask(planner):
    def run(words, *inputs, more=()):
        return types.SimpleNamespace(
            **planner([*words.split(), *more, *(f"in={text}" for text in inputs)]))
    return run
