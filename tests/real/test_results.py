# SPDX-License-Identifier: MIT
"""13.0 added result codes: callers compiled for 12 get those that 12 has."""
import build

SOURCE = build.TESTS / "real" / "results.c"


def said(world, real, version, compiled_for):
    world.loader(real(version).file("nvJitLink"), folder=f"{version}-{compiled_for}")
    world.search(build.STUBS)
    program = build.program(SOURCE, build.import_library("nvJitLink", compiled_for),
                            name=f"results-{compiled_for}")
    return [int(word) for word in world.run(program).out.split()]


def test_a_caller_of_13_on_13_gets_its_own_codes(world, real):
    # INCOMPATIBLE_OPTIONS, UNRECOGNIZED_ARCH, success, INCORRECT_INPUT_TYPE.
    assert said(world, real, "13.5", 13) == [11, 16, 0, 12]


def test_a_caller_of_12_on_13_gets_the_codes_that_12_has(world, real):
    assert said(world, real, "13.5", 12) == [3, 1, 0, 3]
