# SPDX-License-Identifier: MIT
import os
import pathlib
import shutil
import socket
import subprocess
import sys

import pytest

import build

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE))

from index_server import Index  # noqa: E402

# A Python with neither pip nor ensurepip, on a machine without wheels of them.
BARE = """
import importlib.util, sys
sys.path.insert(0, sys.argv.pop(1))
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: (
    None if name in ("pip", "ensurepip") else found(name, *rest))
import run_pip
run_pip.SYSTEM_WHEELS = ()
run_pip.lacks_distutils = lambda: False
run_pip.DEBIAN_BUNDLE = "/nowhere/ca-certificates.crt"
sys.exit(run_pip.main())
"""


@pytest.fixture
def index(tmp_path):
    made = Index(tmp_path / "index")
    yield made
    made.close()


@pytest.fixture
def refused():
    """The address of an index that takes no connection."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{one.getsockname()[1]}/simple"


@pytest.fixture
def settings(tmp_path):
    """An environment in which nothing is said to pip."""
    home = tmp_path / "home"
    home.mkdir()
    kept = {name: value for name, value in os.environ.items()
            if not name.upper().startswith(("PIP_", "HTTP", "XDG_", "ALL_PROXY"))
            and not name.endswith(("CA_BUNDLE", "CERT_FILE"))}
    return {**kept, "HOME": str(home), "PIP_RETRIES": "0", "no_proxy": "127.0.0.1,localhost"}


class Bare:
    """A tree whose Python has no pip; run_pip.py in it."""

    def __init__(self, folder, settings):
        self.root = folder
        self.settings = {**settings, "PATH": str(folder / "bin")}
        shutil.copytree(build.ROOT / "tools", folder / "tools",
                        ignore=shutil.ignore_patterns("*.c", "*.h", "__pycache__"))
        (folder / "bin").mkdir()
        self.pip = folder / "build" / "pip"

    def start(self, *words, **settings):
        return subprocess.Popen(
            [sys.executable, "-S", "-c", BARE, self.root / "tools" / "upkeep", *words],
            env={**self.settings, **settings}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)

    def run(self, *words, **settings):
        started = self.start(*words, **settings)
        started.out, started.err = started.communicate(timeout=120)
        return started


@pytest.fixture
def bare(tmp_path, settings):
    (tmp_path / "tree").mkdir()
    return Bare(tmp_path / "tree", settings)
