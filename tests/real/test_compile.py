# SPDX-License-Identifier: MIT
"""nvrtc compiles and nvJitLink links, through the stubs, on every real version."""
import pytest

import build
import elf

SOURCE = build.TESTS / "real" / "compile.c"


def suffix(toolkit):
    """What the headers of this version append to nvJitLink's names."""
    return f"-DSUFFIX=_{toolkit.major}_{toolkit.minor}" if toolkit.file("nvJitLink") else None


def program(toolkit, major=None):
    """Compiled as for this toolkit and linked with import libraries."""
    flag = suffix(toolkit)
    names = ("nvrtc", "nvJitLink") if flag else ("nvrtc",)
    return build.program(SOURCE, *([flag] if flag else []), *[
        build.import_library(name, major or toolkit.major) for name in names])


def install(world, toolkit):
    """As pip lays it out, found from the program's place and nothing else."""
    site = world.folder("site-packages")
    (site / "nvidia").symlink_to(toolkit.site / "nvidia")
    return site


def run(world, site, executable, kind):
    world.put(f"{site}/pkg/bin", executable)
    world.search(build.STUBS)
    return world.run(site / "pkg" / "bin" / executable.name, kind, check=False)


KINDS = {"ptx": "PTX", "lto": "LTO-IR"}


@pytest.mark.parametrize("kind", KINDS)
def test_compile_and_link(world, toolkit, kind):
    if toolkit.file("nvJitLink") is None:
        pytest.skip(f"CUDA {toolkit.version} has no nvJitLink")
    said = run(world, install(world, toolkit), program(toolkit), kind)
    assert said.lines == [f"nvrtc: 0 {toolkit.version}", f"{KINDS[kind]}: ok", "linked: ok",
                          "destroyed: 0", "program: 0"], said.err


def test_compile_to_a_cubin(world, toolkit):
    # Also the test of the builtins, which wheels of 13 have no RUNPATH to find.
    said = run(world, install(world, toolkit), program(toolkit), "cubin")
    assert said.lines == [f"nvrtc: 0 {toolkit.version}", "cubin: ok", "program: 0"], said.err


@pytest.mark.parametrize("kind, built_for", [("ptx", "12.9"), ("lto", "13.5")])
def test_a_program_of_one_major_on_the_other(world, real, built_for, kind):
    # nvrtc and nvJitLink have no interface difference between majors, but for
    # the suffixes of nvJitLink's names.
    there = real({"12.9": "13.5", "13.5": "12.9"}[built_for])
    said = run(world, install(world, there), program(real(built_for)), kind)
    assert said.lines == [f"nvrtc: 0 {there.version}", f"{KINDS[kind]}: ok", "linked: ok",
                          "destroyed: 0", "program: 0"], said.out + said.err


def test_without_cuda(world, real):
    said = run(world, world.folder("site-packages"), program(real("12.9")), "ptx")
    assert said.status == 1
    assert said.lines[0] == "nvrtc: 11 0.0"
    assert "nvidia-cuda-nvrtc" in said.out
    assert said.err == ""


def test_an_object_of_12_4_on_12_3(world, real):
    # Its suffixed names are not there; the plain ones are (cuSPARSE 12.6 on
    # nvJitLink 12.4 is the same case).
    old, new = real("12.3"), real("12.4")
    assert "__nvJitLinkCreate_12_4" not in {s.name for s in elf.exports(old.file("nvJitLink"))}
    said = run(world, install(world, old), program(new), "lto")
    assert "linked: ok" in said.lines, said.out
