# SPDX-License-Identifier: MIT
"""nvrtc compiles and nvJitLink links, through the stubs, on every real version."""
import pytest

import build
import elf
import symbols


@pytest.fixture
def compiled(world):
    """compiled(kind, toolkit, ...) by a caller of one toolkit on another that is laid out as pip does,
    beside the stubs and nowhere else; every status and all else has to be right."""
    def run(kind, caller, toolkit):
        (world.folder("site-packages") / "nvidia").symlink_to(toolkit.site / "nvidia")
        words = []
        for name in ("nvrtc", "nvJitLink"):
            words += [world.put("site-packages/pkg", build.stub(name)) / build.stub_name(name),
                      symbols.read().libraries[name].soname((caller.major, caller.minor))]
        said = world.versioned("compiled", *words[:2], kind, *words[2:], f"_{caller.major}_{caller.minor}")
        # Of nvrtc, of what it made, of nvJitLink, of the image, and of nvJitLink and nvrtc.
        assert [line.split()[-1] for line in said] == ["0", "0", "True", *(
            ["0"] * 3 + ["b'\\x7fELF'", "0"]) * (kind != "CUBIN"), "0"], said
    return run


@pytest.mark.parametrize("kind", ["PTX", "LTOIR"])
def test_compile_and_link(compiled, toolkit, kind):
    if toolkit.file("nvJitLink") is None:
        pytest.skip(f"CUDA {toolkit.version} has no nvJitLink")
    compiled(kind, toolkit, toolkit)


def test_compile_to_a_cubin(compiled, toolkit):
    # Also the test of the builtins, which wheels of 13 have no RUNPATH to find.
    compiled("CUBIN", toolkit, toolkit)


@pytest.mark.parametrize("kind, built_for, there", [("PTX", "12.9", "13.5"), ("LTOIR", "13.5", "12.9")])
def test_a_caller_of_one_major_on_the_other(compiled, real, kind, built_for, there):
    # nvrtc and nvJitLink have no interface difference between majors, but for
    # the suffixes of nvJitLink's names.
    compiled(kind, real(built_for), real(there))


def test_an_object_of_12_4_on_12_3(compiled, real):
    # Its suffixed names are not there; the plain ones are (cuSPARSE 12.6 on
    # nvJitLink 12.4 is the same case).
    old, new = real("12.3"), real("12.4")
    assert "__nvJitLinkCreate_12_4" not in {s.name for s in elf.exports(old.file("nvJitLink"))}
    compiled("LTOIR", new, old)
