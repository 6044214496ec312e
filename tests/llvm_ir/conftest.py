# SPDX-License-Identifier: MIT
import os
import pathlib
import platform
import shutil

import pytest

import toolkits

HERE = pathlib.Path(__file__).resolve().parent

TABLE = toolkits.ROOT / "tools" / "upkeep" / "nvvm.txt"
FOLDER = toolkits.ROOT / "build" / "nvvm"


def why_absent(version):
    """A reason to skip, or None; what can be fetched is."""
    if version not in toolkits.requested():
        return f"CUDA {version} was not asked for (CUDA_VERSIONS)"
    if not toolkits.fetch.wheels_of(FOLDER, [version], None, platform.machine(), TABLE):
        return f"tools/upkeep/nvvm.txt has no libnvvm for {platform.machine()}"
    return "; ".join(toolkits.fetch.fetch(FOLDER, [version], table=TABLE)) or None


def lay(source, target):
    """The files of a folder in another one.  No links: what goes with a library is looked for
    beside the file that a link leads to."""
    for path in source.rglob("*"):
        if path.is_dir() or ".fetched" in path.parts:
            continue
        place = target / path.relative_to(source)
        place.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(path, place)
        except OSError:
            shutil.copy(path, place)


@pytest.fixture
def site(world, real):
    """site("12.9"): nvJitLink, nvrtc and libnvvm of a version as pip lays them out, found by the
    loader's path; the folder."""
    def install(version, nvvm=True):
        toolkit = real(version)
        why = nvvm and why_absent(version)
        if why:
            pytest.skip(why)
        folder = world.root / f"site-{version}"
        for name in ("nvJitLink", "nvrtc"):
            own = toolkit.file(name).parent
            place = folder / own.relative_to(toolkit.site)
            if not place.exists():
                lay(own, place)
                world.search(place)
        if nvvm:
            lay(FOLDER / version / platform.machine(), folder)
        return folder
    return install


@pytest.fixture(params=["13.5"])
def version(request):
    return request.param


@pytest.fixture
def here(site, version):
    return site(version)


@pytest.fixture
def tiled(site, version):
    """site-packages of that version, with tileiras and what it needs."""
    folder, name = site(version), f"tileiras-{version}"
    if not toolkits.fetch.wheels_of(FOLDER, [name], None, platform.machine(), TABLE):
        pytest.skip(f"tools/upkeep/nvvm.txt has no tileiras for {platform.machine()}")
    why = toolkits.fetch.fetch(FOLDER, [name], table=TABLE)
    if why:
        pytest.skip("; ".join(why))
    lay(FOLDER / name / platform.machine(), folder)
    return folder / "nvidia" / "cu13"
