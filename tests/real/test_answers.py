# SPDX-License-Identifier: MIT
"""Through the stub every function answers as the real one does when it is called
directly: the same code, the same outputs, for all that can be called without a
GPU."""

import pytest

import build
import symbols


def lines(listed, version):
    """Two lines of input for each function: all zeros, and with every pointer
    that is written through an address."""
    for function in listed.functions:
        if version not in function.range:
            continue
        kind = {"i32": "i", "void": "v", "ptr": "p"}.get(function.result, "i")
        if function.name in ("cudaGetErrorString", "cudaGetErrorName", "nvrtcGetErrorString"):
            kind = "s"
        yield f"{function.name} 0 {kind}"
        pattern = "".join("p" if p.startswith(("out ", "inout ", "buf ", "in ")) else "0"
                          for p in function.parameters)
        by_value = any(p in listed.structs for p in function.parameters)
        if "p" in pattern and not by_value:
            yield f"{function.name} {pattern[:12]} {kind}"


def answers(world, library, node, text):
    (world.root / "names").write_text(text)
    return world.versioned("answers", library, node, world.root / "names", timeout=600)


@pytest.mark.parametrize("library", build.LIBRARIES)
def test_every_function_answers_as_the_real_one(world, toolkit, library):
    listed = symbols.read().libraries[library]
    version = (toolkit.major, toolkit.minor)
    real = toolkit.file(library)
    if real is None:
        pytest.skip(f"CUDA {toolkit.version} has no {library}")
    text = "\n".join(lines(listed, version))
    node = listed.soname(version)
    for name in build.LIBRARIES:
        if toolkit.file(name):
            world.search(toolkit.file(name).parent)
    directly = answers(world, real, node, text)
    through = answers(world, build.stub(library), node, text)
    assert len(directly) == len(text.splitlines())
    assert through == directly
    # Most must really have been called and have answered.
    alive = [line for line in directly if not line.endswith(" dies")]
    assert len(alive) > len(directly) * 0.6, f"{len(alive)} of {len(directly)}"


CODES = [*range(0, 1020), 10000, -1]
UNKNOWN = "unrecognized error code"


def differing_names(real, stub):
    """[(code, real name, stub's name)], but for what the list knows better: names
    of newer versions, and values that were renamed."""
    listed = {}
    for name, value, _ in symbols.read().libraries["cudart"].enumerators:
        listed.setdefault(value, set()).add(name)
    return [(code, one, other) for code, one, other in zip(CODES, real, stub) if one != other
            and not (one in listed.get(code, {UNKNOWN}) | {UNKNOWN} and other in listed.get(code, ()))]


def texts(world, library, function, *first):
    said = world.probe(library, *first, *[f"text:{function}:{code}" for code in CODES])
    return [line["text"] for line in said[-len(CODES):]]


@pytest.mark.parametrize("there", [True, False])
def test_error_names_are_the_real_ones(world, toolkit, there):
    if there:
        world.loader(toolkit.file("cudart"))
    real = texts(world, f"open:{toolkit.file('cudart')}", "cudaGetErrorName")
    stub = texts(world, "stub:cudart", "cudaGetErrorName", "call:cudaFree")
    assert len([name for name in real if name != UNKNOWN]) > 100
    assert differing_names(real, stub) == []


def test_error_strings_are_the_real_ones(world, toolkit):
    world.loader(toolkit.file("cudart"))
    real = texts(world, f"open:{toolkit.file('cudart')}", "cudaGetErrorString")
    stub = texts(world, "stub:cudart", "cudaGetErrorString", "call:cudaFree")
    assert [(code, one, other) for code, one, other in zip(CODES, real, stub)
            if one != other and one != UNKNOWN] == []
