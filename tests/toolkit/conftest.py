# SPDX-License-Identifier: MIT
import pytest

import toolkits
from folders_of_cuda import FETCHED, make, packages
from projects import Checker


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """site(12): the packages of a CUDA."""
    made = {}

    def of(major):
        found = toolkits.Toolkit(FETCHED[major])
        if found.why_absent():
            pytest.skip(found.why_absent())
        if major not in made:
            made[major] = packages(tmp_path_factory.mktemp(f"site{major}"), FETCHED[major])
        return made[major]
    return of


@pytest.fixture(scope="session")
def toolkit_of(site, tmp_path_factory):
    """toolkit_of(12): the folder of a CUDA, with its headers, and moved since."""
    made = {}

    def of(major):
        if major not in made:
            folder = tmp_path_factory.mktemp(f"toolkit{major}")
            make("--cuda", major, "--headers", site(major), folder / "made")
            made[major] = (folder / "made").rename(folder / "moved")
        return made[major]
    return of


@pytest.fixture
def check(world):
    return Checker(world)
