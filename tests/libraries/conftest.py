# SPDX-License-Identifier: MIT
import pathlib
import sys

import pytest

# The modules beside this file.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))


@pytest.fixture(scope="session", autouse=True)
def all_stubs():
    import library_lists
    for name in library_lists.NAMES:
        assert library_lists.stub(name).exists(), f"no stub of {name}: make all-stubs"
