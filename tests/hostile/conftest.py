# SPDX-License-Identifier: MIT
import pytest

from visitors import CODE, LIBRARIES


@pytest.fixture
def libraries(world):
    """The libraries of the build, and the code, where everybody can read them."""
    folder = world.put("doors", *LIBRARIES, *CODE)
    folder.chmod(0o755)
    world.bind(folder, "/opt/doors")
    return folder
