# SPDX-License-Identifier: MIT
"""Linking with the import libraries, with the stub itself, and without versions."""
import pytest

import build
import elf
import symbols
from fakes import answer, fake
from world import CALL

SOURCE = build.TESTS / "linking" / "caller.c"
FAKES = {13: "13.5", 12: "12.9", 11: "11.8"}

PAIRS = [(library, major) for library in build.LIBRARIES for major in build.MAJORS
         if (library, major) != ("nvJitLink", 11)]


def caller(name, *libraries):
    return build.program(SOURCE, f"-DNAME={name}", *libraries)


@pytest.mark.parametrize("library, major", PAIRS)
def test_a_program_linked_for_one_major_runs_on_all(world, library, major):
    program = caller(CALL[library], build.import_library(library, major))
    assert f"lib{library}_stub.so" in elf.dynamic(program)["NEEDED"]
    node, = (s.node for s in elf.imports(program) if s.name == CALL[library])
    assert node == symbols.read().libraries[library].soname(symbols.version(FAKES[major]))
    world.search(build.STUBS)
    for installed, version in FAKES.items():
        if (library, installed) == ("nvJitLink", 11):
            continue
        folder = world.put(f"cuda{installed}", fake(library, version))
        said = world.run(program, LD_LIBRARY_PATH=f"{build.STUBS}:{folder}")
        assert int(said.out) == answer(library, CALL[library], version)


def test_the_stub_itself_can_be_linked_where_interfaces_never_differ(world):
    program = caller("cudaDeviceSynchronize", build.stub("cudart"))
    world.search(build.STUBS)
    world.loader(fake("cudart", "12.9"))
    assert int(world.run(program).out) == answer("cudart", "cudaDeviceSynchronize", "12.9")


def without_versions(name):
    """A program as old linkers made them: it asks for no version."""
    dummy = build.shared(build.text("int cudaMemAdvise(void) { return 1; }\n", "c"),
                         "-Wl,-soname,libcudart_stub.so", name="libcudart_stub.so")
    return caller(name, dummy)


@pytest.mark.parametrize("version", ["11.8", "13.5"])
def test_a_reference_without_version_gets_what_the_real_library_has(world, version):
    # As linked directly: no caller says which major it was compiled for.
    world.search(build.STUBS)
    world.loader(fake("cudart", version))
    said = world.run(without_versions("cudaMemAdvise"), LD_BIND_NOW="1")
    assert int(said.out) == answer("cudart", "cudaMemAdvise", version)


def test_the_builder_may_choose_an_abi(world):
    # make CUDA_ABI=12: then the stub itself links, with 12's interface.
    folder = build.BUILD / "tests" / "abi12"
    build.make(build.made_at(folder), "CUDA_ABI=12")
    program = caller("cudaMemAdvise", build.stub("cudart", folder / "lib"))
    assert [s.node for s in elf.imports(program) if s.name == "cudaMemAdvise"] == ["libcudart.so.12"]
    world.loader(fake("cudart", "12.9"))
    world.search(folder / "lib")
    assert int(world.run(program).out) == answer("cudart", "cudaMemAdvise", "12.9")
