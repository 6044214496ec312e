# SPDX-License-Identifier: MIT
"""What the names of a real library lead to is what dlvsym() says."""
import pytest

import build

SOURCE = build.TESTS / "process" / "lookups.c"


@pytest.fixture
def library(tmp_path):
    """A library that has an IFUNC, and lets another one define some of its names."""
    script = tmp_path / "map"
    script.write_text("libcudart.so.12 { global: *; };\n")
    made = {}
    for soname, flags in (("libinner.so.12", ["-DINNER"]), ("libcudart.so.12", [])):
        try:
            made[soname] = build.compile(
                soname, "-shared", "-fPIC", *flags, f"-Wl,-soname,{soname}", SOURCE,
                "-Wl,--no-as-needed,--hash-style=gnu", *made.values(),
                link=[f"-Wl,--version-script={script}"])
        except build.CompileError as error:
            pytest.skip(f"no IFUNC here: {str(error).splitlines()[-1]}")
    return made


def test_an_ifunc_and_a_name_of_a_library_that_it_needs(world, library):
    world.loader(*library.values())
    called = {"cudaMalloc": 12, "cudaDeviceSynchronize": 13, "cudaFree": 11, "cudaMemset": 302}
    said = world.probe("stub:cudart", *[f"call:{name}@libcudart.so.12" for name in called])
    assert {line["call"]: line["value"] for line in said[1:]} == called
