# SPDX-License-Identifier: MIT
import functools
import json
import shutil

import pytest

import build


@pytest.fixture(scope="session")
def tool(tmp_path_factory):
    """The command beside all stubs: what it reads are these, and under a sanitizer there are five."""
    folder = tmp_path_factory.mktemp("tool")
    (folder / "bin").mkdir()
    (folder / "lib").symlink_to(build.BUILD / "lib")
    return shutil.copy(build.TOOL, folder / "bin")


@pytest.fixture
def audit(world, tool):
    return functools.partial(world.run, tool, "audit")


@pytest.fixture
def said(audit):
    """What it says of one file, as JSON."""
    def run(*arguments, **options):
        return json.loads(audit("--json", *arguments, **options).out)["files"][0]
    return run
