# SPDX-License-Identifier: MIT
"""dump.py, and what it says."""
import json
import pathlib

import pytest

import build
from asked import Asked, starving

HERE = pathlib.Path(__file__).resolve().parent
LIBRARY = build.STUBS / "liblazycuda_link.so"


class Seen:
    """What was seen of one file."""
    def __init__(self, said):
        vars(self).update(said)

    def column(self, name):
        return [entry[name] for entry in self.entries]


class Dump(Asked):
    def __init__(self, **env):
        super().__init__(HERE / "dump.py", LD_PRELOAD=str(starving()), **env)

    def __call__(self, *words):
        """What it says of each file."""
        return [Seen(one) for one in json.loads(self.ask(json.dumps(list(map(str, words)))))]


@pytest.fixture(scope="session")
def dump():
    made = Dump()
    yield made
    made.end()
