# SPDX-License-Identifier: MIT
import pytest

import installed
from projects import Checker


@pytest.fixture(scope="module", params=[
    ("lib64", "tree"), ("lib/x86_64-linux-gnu", "t_-+=@~.x")], ids=lambda given: given[0])
def tree(request, tmp_path_factory):
    """Installed Fedora's way, and Debian's where a name has all that it may have; and moved since."""
    lib, name = request.param
    folder = tmp_path_factory.mktemp(name)
    return installed.install(folder, lib=lib, prefix="/opt/lazycuda" + name.removeprefix("tree"))


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    return installed.install(tmp_path_factory.mktemp("plain"))


@pytest.fixture(scope="module")
def all_stubs(tmp_path_factory):
    return installed.install(tmp_path_factory.mktemp("all"), "ALL_STUBS=yes")


@pytest.fixture
def check(world):
    return Checker(world)
