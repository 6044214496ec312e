# SPDX-License-Identifier: MIT
import json
import os
import sys

import pytest

import build

import handles

PACKAGE = build.PYTHON

# Another one, a free-threaded say: python3.14t.
INTERPRETER = os.environ.get("TEST_PYTHON", sys.executable)
HEAD = """\
import json, sys
from lazycuda.link import *
import lazycuda.link as link
def say(**what):
    print(json.dumps(what))
def raised(kind, make, *words):
    try:
        make(*words)
    except kind as error:
        return error
def refusal(linker):
    return raised(LinkError, linker.link)
"""


@pytest.fixture
def python(world):
    """python(CODE, WORD...) runs it with lazycuda.link in the world; what it says, as a list
    of dicts.  refusal(LINKER) is the error of a link that fails, and raised(KIND, FUNCTION, WORD...) what
    that raises; or None."""
    def run(code, *words, **options):
        script = world.root / "script.py"
        script.write_text(HEAD + code)
        settings = {"PYTHONPATH": str(PACKAGE), "LAZYCUDA_LINK_LIBRARY": str(
            build.STUBS / "liblazycuda_link.so"), "PYTHONDONTWRITEBYTECODE": "1", **options}
        done = world.run(INTERPRETER, script, *words, **settings)
        return [json.loads(line) for line in done.lines]
    return run


@pytest.fixture
def installed(world, real):
    """A world with the nvrtc and nvJitLink of a version, which is what this is."""
    toolkit = real("13.5")
    handles.install(world, toolkit)
    return toolkit
