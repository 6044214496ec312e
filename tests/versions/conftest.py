# SPDX-License-Identifier: MIT
import pathlib
import sys

import pytest

# The modules beside this file, and those that run real compilers and linkers.
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "agreement")]


@pytest.fixture(scope="session", autouse=True)
def asked():
    import questions

    yield
    questions.end()
