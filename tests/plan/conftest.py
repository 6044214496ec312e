# SPDX-License-Identifier: MIT
"""ask("driver=12.4 nvjitlink=12.9 arch=sm_90", "k.ptx:ptx 8.0 sm_80") is the
plan, as in scene.h: words of the request, then the inputs."""
import subprocess
import types

import pytest

import build

HERE = build.TESTS / "plan"
LISTS = {"option": "options", "jit": "jit", "compile": "compile", "ir": "ir", "step": "steps",
         "name": "names", "reason": "reasons", "note": "notes"}
SINGLE = ("decision", "code", "rule", "arch", "input", "have", "need", "message", "lto", "compile_to", "nvjitlink",
          "nvrtc", "nvvm", "choice")


@pytest.fixture(scope="session")
def planner():
    return build.program(HERE / "planner.c", HERE / "scene.c", build.STUBS / "liblazycuda_link.so",
                         f"-Wl,-rpath,{build.STUBS}")


@pytest.fixture
def ask(planner):
    def run(words, *inputs, more=()):
        command = [planner, *words.split(), *more, *(f"in={text}" for text in inputs)]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        plan = types.SimpleNamespace(**{key: None for key in SINGLE},
                                     **{key: [] for key in LISTS.values()})
        for line in done.stdout.splitlines():
            key, value = line.split("\t", 1)
            if key in LISTS:
                getattr(plan, LISTS[key]).append(value)
            else:
                setattr(plan, key, value)
        return plan
    return run
