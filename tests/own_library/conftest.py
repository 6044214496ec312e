# SPDX-License-Identifier: MIT
import pytest

import own_stubs


@pytest.fixture(scope="session")
def libclang():
    """Arguments that name it."""
    if not own_stubs.LIBCLANG.exists():
        pytest.skip("there is no build/libclang: run make symbols once")
    return "--libclang", own_stubs.LIBCLANG
