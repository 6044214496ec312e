# SPDX-License-Identifier: MIT
"""Stubs of several releases in one process, as two wheels bring them that were made at
different times.

before_looking/ and with_looking/ hold stubs as they were built for x86-64, stripped and
packed by xz, of commits b4b36d9 and c3abc5a: their records are the first two that there
have been (stubs/loader/peers.h).  A release whose record differs gets a folder of its own.
"""
import lzma
import pathlib

import pytest

import build
from fakes import fake
from world import CALL

HERE = pathlib.Path(__file__).resolve().parent
RELEASES = [folder.name for folder in sorted(HERE.iterdir()) if list(folder.glob("*.xz"))]
PAIR = ("nvrtc", "nvJitLink")

pytestmark = pytest.mark.skipif(build.ARCH != "x86_64", reason="the old stubs are for x86-64")


def old_stub(world, release, library):
    packed = HERE / release / f"{build.stub_name(library)}.xz"
    file = world.folder(release) / build.stub_name(library)
    file.write_bytes(lzma.decompress(packed.read_bytes()))
    return file


@pytest.fixture(params=RELEASES)
def stubs(request, world):
    """stubs(OLD) -> {library: file}: the stub of that library is of the older release."""
    def stubs(old):
        return {library: old_stub(world, request.param, library) if library == old
                else build.stub(library) for library in PAIR}
    return stubs


def install(world):
    # The highest of each would be nvrtc 13 with nvJitLink 12.
    for library, version in (("nvrtc", "13.5"), ("nvrtc", "12.9"), ("nvJitLink", "12.9")):
        world.loader(fake(library, version))


def test_there_are_old_ones():
    assert RELEASES == ["before_looking", "with_looking"]


@pytest.mark.parametrize("loaded_first", PAIR)
@pytest.mark.parametrize("called_first", PAIR)
@pytest.mark.parametrize("old", PAIR)
def test_they_agree_on_a_major(world, stubs, old, called_first, loaded_first):
    install(world)
    files = stubs(old)
    order = sorted(PAIR, key=lambda library: library != loaded_first)
    called = sorted(PAIR, key=lambda library: library != called_first)
    said = world.probe(*[f"open:{files[library]}" for library in order],
                       *[f"call:{CALL[library]}" for library in called],
                       *[f"status:{library}" for library in PAIR])
    assert [status["major"] for status in said[-2:]] == [12, 12]


@pytest.mark.parametrize("old", PAIR)
def test_each_speaks_for_the_other(world, stubs, old):
    files = stubs(old)
    for asked in PAIR:
        # lazycuda_get_status() of the stub that was opened last answers.
        order = sorted(PAIR, key=lambda library: library == asked)
        said = world.probe(*[f"open:{files[library]}" for library in order],
                           *[f"call:{CALL[library]}" for library in PAIR],
                           *[f"status:{library}" for library in PAIR],
                           *[f"error:{library}" for library in PAIR])
        assert [status["state"] for status in said[4:6]] == ["missing", "missing"]
        assert [error["library"] for error in said[6:8]] == list(PAIR)


def test_what_they_read_of_each_other_stays_where_it_is():
    build.compile("layout.o", "-c", "-std=gnu11", "-D_GNU_SOURCE", "-I", build.ROOT / "stubs",
                  HERE / "layout.c")
