# SPDX-License-Identifier: MIT
"""Debian's real libcuda1 and libnvidia-ml1 (535) through the stubs, without a GPU.

.ci/run unpacks the packages into build/libcuda1.
"""
import pytest

import build
import elf
import symbols

driver_libraries = pytest.mark.parametrize("library", build.DRIVER)
SONAMES = {"cuda": "libcuda.so.1", "nvml": "libnvidia-ml.so.1"}


@pytest.fixture
def installed(world, debian):
    def install(library):
        folder = world.loader(folder="driver")
        (folder / SONAMES[library]).symlink_to(debian(library))
        return folder / SONAMES[library]
    return install


def functions(path):
    """What a library exports, without data."""
    kinds = {fields[7].partition("@")[0]: fields[3] for fields in
             (line.split() for line in elf.readelf("--dyn-syms", path).splitlines())
             if len(fields) == 8}
    return {s.name for s in elf.exports(path) if kinds[s.name] == "FUNC"}


@driver_libraries
def test_every_function_of_the_real_one_is_in_the_stub(debian, library):
    real = functions(debian(library))
    assert len(real) > 300
    assert real - functions(build.stub(library)) == set()
    # And none has a version, as in the stub.
    assert {s.node for s in elf.exports(debian(library))} == {None}


# Of 12.2 and older in the headers, and not in a driver for a PC.
NEVER = {"cuda": {"cuEventCreateFromEGLSync"}, "nvml": set()}


@driver_libraries
def test_what_the_stub_has_beside_is_newer(debian, library):
    # So the list has no name that nobody ever exported, and the stub none that is not listed.
    newer = {f.name for f in symbols.read().libraries[library].functions if (12, 2) not in f.range}
    beside = functions(build.stub(library)) - functions(debian(library))
    mine = {name for name in beside if name.startswith("lazycuda_")}
    assert beside - mine - newer == NEVER[library]
    assert len(beside - mine) > 80


def test_data_symbols_of_debuggers_are_left_out(debian):
    left = {s.name for s in elf.exports(debian("cuda"))} - {
        s.name for s in elf.exports(build.stub("cuda"))}
    assert len(left) == 20 and all(name.startswith("cudbg") for name in left)


def test_the_driver_answers_through_the_stub(world, installed):
    installed("cuda")
    said = world.probe("stub:cuda", "out:cuDriverGetVersion:4:0", "call:cuInit",
                       "out:cuGetErrorName:8:1", "status:cuda")
    version = int.from_bytes(bytes.fromhex(said[1]["bytes"][0]), "little")
    assert (said[1]["value"], said[2]["value"]) == (0, 100)     # no device
    assert said[4]["version"] == f"{version // 1000}.{version % 1000 // 10}"


@driver_libraries
def test_every_function_answers_as_it_does_directly(world, installed, library):
    real = installed(library)
    hooks = {f.name for f in symbols.read().libraries[library].functions if f.hook}
    names = sorted((functions(real) & functions(build.stub(library))) - hooks)
    (world.root / "names").write_text("".join(f"{name} {arguments} i\n" for name in names
                                              for arguments in ("0", "pppppppp")))
    direct, stub = [world.versioned("answers", file, "-", world.root / "names", timeout=600)
                    for file in (real, build.stub(library))]
    assert len(direct) == 2 * len(names) and stub == direct
    # It is not all one answer.
    assert len({line.split()[2] for line in direct}) > 2
