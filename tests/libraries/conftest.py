# SPDX-License-Identifier: MIT
import pytest

import library_lists


@pytest.fixture(scope="session", autouse=True)
def all_stubs():
    for name in library_lists.NAMES:
        assert library_lists.stub(name).exists(), f"no stub of {name}: make all-stubs"
