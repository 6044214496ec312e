# SPDX-License-Identifier: MIT
import pytest

import installed
from projects import Checker


@pytest.fixture(scope="module", params=["lib", "lib64", "lib/x86_64-linux-gnu"])
def tree(request, tmp_path_factory):
    """Installed the usual way, Fedora's way and Debian's, and moved since."""
    return installed.install(tmp_path_factory.mktemp("tree"), lib=request.param)


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    return installed.install(tmp_path_factory.mktemp("plain"))


@pytest.fixture
def check(world):
    return Checker(world)
