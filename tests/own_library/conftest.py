# SPDX-License-Identifier: MIT
import pytest

import own_stubs


@pytest.fixture(scope="session")
def libclang():
    """Arguments that name it."""
    if not own_stubs.LIBCLANG.exists():
        pytest.skip("there is no build/libclang: run make symbols once")
    return "--libclang", own_stubs.LIBCLANG


@pytest.fixture(scope="session")
def own(tmp_path_factory):
    """As cuRAND: its majors are its own."""
    folder = tmp_path_factory.mktemp("own")
    found = [own_stubs.bar(folder, number) for number in (10, 11)]
    return found, own_stubs.stub_of(folder, *found)


@pytest.fixture(scope="session")
def plain(tmp_path_factory):
    """As NCCL: no version nodes."""
    folder = tmp_path_factory.mktemp("plain")
    found = own_stubs.bar(folder, 2, script="")
    return found, own_stubs.stub_of(folder, found)
