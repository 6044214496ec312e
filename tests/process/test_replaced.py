# SPDX-License-Identifier: MIT
"""What dlopen() has loaded is judged, whatever happens to the file between look and load."""
import shutil

import pytest

import build
from fakes import answer, fake

CALL = "cudaDeviceSynchronize"
OTHER = "is not what dlopen() loaded for it"


@pytest.fixture
def other(world):
    """A file of another major under the name of this one."""
    path = world.folder("other") / "libcudart.so.12"
    shutil.copy(fake("cudart", "11.8"), path)
    return path


def status(world, what, file, **settings):
    said = world.probe("stub:cudart", f"call:{CALL}", "status:cudart", f"call:{CALL}",
                       LD_PRELOAD=build.shared(build.TESTS / "process" / "dlopen.c"), DLOPEN=what,
                       DLOPEN_FILE=file, **settings)
    assert said[1]["value"] == said[3]["value"]
    return said[1]["value"], said[2]


@pytest.mark.parametrize("what, reason", [
    ("replaced", OTHER), ("other", OTHER),
    ("fails", "cannot be loaded: dlopen() does not say why")])
def test_the_next_one_is_used(world, other, what, reason):
    first = world.loader(fake("cudart", "12.9"), folder="first") / "libcudart.so.12"
    second = world.loader(fake("cudart", "12.8"), folder="second") / "libcudart.so.12"
    value, said = status(world, what, other)
    assert value == answer("cudart", CALL, "12.8")
    assert said["path"] == str(second)
    assert [(c["path"], c["reason"]) for c in said["candidates"] if not c["taken"]] == [
        (str(first), reason)]


@pytest.mark.parametrize("what", ["replaced", "other", "fails"])
def test_without_another_one_it_is_a_typed_error(world, other, what):
    world.loader(fake("cudart", "12.9"))
    value, said = status(world, what, other)
    assert (value, said["state"], said["path"]) == (303, "broken", None)


def test_a_file_that_is_named(world, other):
    file = world.put("named", fake("cudart", "12.9")) / "libcudart.so.12"
    value, said = status(world, "other", other, LAZYCUDA_CUDART=file)
    assert (value, said["state"]) == (303, "broken")
    assert OTHER in said["reason"]


@pytest.mark.parametrize("what, version", [("replaced", "12.8"), ("written", "12.9")])
def test_an_upgrade_meanwhile(world, what, version):
    """Of the same major: what was loaded is as good as what was looked at."""
    file = world.loader(fake("cudart", "12.9")) / "libcudart.so.12"
    newer = world.put("newer", fake("cudart", "12.8")) / "libcudart.so.12"
    value, said = status(world, what, newer)
    assert (value, said["path"], said["version"]) == (answer("cudart", CALL, version), str(file),
                                                      version)


def test_a_major_that_another_stub_agrees_on_meanwhile(world):
    # cudart has chosen 13 and begins to load it; by then nvrtc's stub comes, and
    # has but 12.
    world.loader(fake("cudart", "13.5"), fake("cudart", "12.9"), fake("nvrtc", "12.9"))
    value, said = status(world, "overtaken", build.stub("nvrtc"))
    assert (value, said["version"]) == (answer("cudart", CALL, "12.9"), "12.9")
