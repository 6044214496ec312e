# SPDX-License-Identifier: MIT
import pytest

import questions


@pytest.fixture(scope="session", autouse=True)
def asked():
    yield
    questions.running().end()
