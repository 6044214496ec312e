# SPDX-License-Identifier: MIT
import pathlib
import sys

import pytest

# The modules beside this file.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from visitors import CODE, LIBRARIES  # noqa: E402


@pytest.fixture
def libraries(world):
    """The libraries of the build, and the code, where everybody can read them."""
    folder = world.put("doors", *LIBRARIES, *CODE)
    folder.chmod(0o755)
    world.bind(folder, "/opt/doors")
    return folder
