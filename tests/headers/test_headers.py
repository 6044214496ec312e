# SPDX-License-Identifier: MIT
"""One source, compiled with the real headers of each major, runs on all of them.

Without a GPU every call answers with an error; what is shown is that it is the
runtime's own answer, on every major and for every caller, and that no struct is
overrun.
"""
import pathlib

import pytest

import build

SOURCE = build.TESTS / "headers" / "program.c"
COMPILED = ("11.8", "12.0", "12.9", "13.0", "13.5")
# What the stub says where it does not forward.
OWN = {302, 303, 801}


def includes(toolkit):
    """The folders with this toolkit's headers; nvcc's private ones are in a
    package of their own."""

    if not list(toolkit.site.glob("nvidia/*/include/crt/host_defines.h")):
        pytest.skip(f"nvcc's headers of CUDA {toolkit.version} could not be fetched")
    return sorted({path.parent for path in toolkit.site.glob("nvidia/*/include/*.h")} |
                  {path.parents[1] for path in toolkit.site.glob("nvidia/*/include/crt/*.h")})


def compiled(real, version):
    toolkit = real(version)
    return build.compile(f"program-{version}", "-std=gnu11", "-g", SOURCE,
                         *[f"-I{folder}" for folder in includes(toolkit)],
                         build.import_library("cudart", toolkit.major))


def answers(text):
    return dict(line.split() for line in text.splitlines())


@pytest.mark.parametrize("version", COMPILED)
def test_it_runs_on_every_runtime(world, real, toolkit, version):
    world.search(build.STUBS)
    world.loader(toolkit.file("cudart"))
    said = answers(world.run(compiled(real, version)).out)
    assert len(said) == len(answers(native(world, real, version)))
    overrun = [name for name, status in said.items() if status == "overran"]
    assert overrun == []
    assert [name for name, status in said.items() if int(status) in OWN] == []


@pytest.mark.parametrize("version", COMPILED)
def test_on_its_own_runtime_it_answers_as_without_the_stub(world, real, version):
    world.search(build.STUBS)
    world.loader(real(version).file("cudart"))
    assert answers(world.run(compiled(real, version)).out) == answers(native(world, real, version))


def native(world, real, version):
    """What the program says when it is linked to the real library itself."""
    toolkit = real(version)
    program = build.compile(f"native-{version}", "-std=gnu11", "-g", SOURCE,
                            *[f"-I{folder}" for folder in includes(toolkit)],
                            toolkit.file("cudart"),
                            f"-Wl,-rpath,{pathlib.Path(toolkit.file('cudart')).parent}")
    return world.run(program).out
