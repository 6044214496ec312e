# SPDX-License-Identifier: MIT
import pathlib
import sys

import pytest

# The modules beside this file.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))


@pytest.fixture(scope="session")
def libclang():
    """Arguments that name it."""
    import own_stubs

    if not own_stubs.LIBCLANG.exists():
        pytest.skip("there is no build/libclang: run make symbols once")
    return "--libclang", own_stubs.LIBCLANG
