# SPDX-License-Identifier: MIT
import pytest

import installed
from projects import Checker


@pytest.fixture(scope="module", params=[
    ("lib", "tree"), ("lib64", "tree"), ("lib/x86_64-linux-gnu", "tree"), ("lib", "t_-+=@~.x")],
    ids=lambda given: given[0] if given[1] == "tree" else "named")
def tree(request, tmp_path_factory):
    """Installed the usual way, Fedora's way, Debian's, and where a name has all that it may have;
    and moved since."""
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
