# SPDX-License-Identifier: MIT
import shutil

import pytest

import build
import installed


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """What `make install` puts down, moved since."""
    return installed.install(tmp_path_factory.mktemp("tree"))


@pytest.fixture
def example(tmp_path):
    """example("make") is a copy of examples/make: nothing beside it is there."""
    return lambda name: shutil.copytree(build.ROOT / "examples" / name, tmp_path / name)


@pytest.fixture(params=["none", "11.8", "12.9", "13.5"])
def cuda(request, world, real):
    """The same world without CUDA, and with each major's real libraries; which it is."""
    if request.param != "none":
        world.loader(*real(request.param).files())
    return request.param
