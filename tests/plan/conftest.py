# SPDX-License-Identifier: MIT
"""ask("driver=12.4 nvjitlink=12.9 arch=sm_90", "k.ptx:ptx 8.0 sm_80") is the
plan, as in scene.py: words of the request, then the inputs."""
import json
import types

import pytest

import build
from asked import Asked


@pytest.fixture(scope="session")
def planner():
    made = Asked(build.TESTS / "plan" / "scene.py")
    yield made
    made.end()


@pytest.fixture
def ask(planner):
    def run(words, *inputs, more=()):
        asked = [*words.split(), *more, *(f"in={text}" for text in inputs)]
        return types.SimpleNamespace(**json.loads(planner.ask(json.dumps(asked))))
    return run
