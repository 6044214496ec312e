# SPDX-License-Identifier: MIT
"""include/lazycuda.h: any stub speaks for all of them."""
import shutil
import subprocess

import pytest

import build
from fakes import fake


@pytest.mark.parametrize("spoken_to", build.LIBRARIES)
def test_any_stub_speaks_for_all(installed, spoken_to):
    others = [library for library in build.LIBRARIES if library != spoken_to]
    said = installed.probe(*[f"stub:{library}" for library in (*others, spoken_to)], "load",
                           *[f"status:{library}" for library in build.LIBRARIES])
    assert said[3]["load"] == 0
    assert [line["library"] for line in said[4:]] == list(build.LIBRARIES)
    assert {line["state"] for line in said[4:]} == {"usable"}


def test_stubs_that_are_not_there(installed):
    said = installed.probe("stub:cudart", "status:nvrtc", "error:nvrtc", "load:nvrtc",
                           "load:cudart", "status:nonsense", "load:nonsense")
    assert said[1:3] == [None, None]
    assert [said[3]["load"], said[4]["load"], said[6]["load"]] == [-1, 0, -1]
    assert said[5] is None


def test_every_field(installed):
    status = installed.status("cudart")
    folder = installed.root / "loader"
    assert status["size"] > 0
    assert status["candidates"][0] | {"reason": ""} == {
        "path": str(folder / "libcudart.so.13"), "version": "13.5", "found_by": "loader",
        "reason": "", "taken": True}
    assert {key: status[key] for key in ("library", "state", "cause", "major", "minor", "version",
                                         "path", "found_by")} == {
        "library": "cudart", "state": "usable", "cause": 0, "major": 13, "minor": 5,
        "version": "13.5", "path": str(folder / "libcudart.so.13"), "found_by": "loader"}


def test_strings_stay_valid(world):
    program = build.program(build.TESTS / "status" / "stays.c", build.import_library("cudart", 12))
    world.search(build.STUBS)
    assert world.run(program, fake("cudart", "12.9")).out == "same\n"


@pytest.mark.parametrize("header", ["lazycuda.h", "lazycuda_link.h"])
@pytest.mark.parametrize("platform", [["-U__linux__"], ["-U__LP64__"]])
def test_another_platform_is_an_error(header, platform):
    """That of the headers, and not of a program that lacks libraries at its link."""
    def compiled(*words):
        return build.run(*build.CC, "-fsyntax-only", *words, "-x", "c", build.ROOT / "include" / header)
    assert compiled().returncode == 0
    said = compiled(*platform)
    assert said.returncode and "lazycuda is for 64-bit Linux" in said.stderr


@pytest.mark.parametrize("standard", ["c++11", "c++17"])
@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_options_in_a_header_of_cpp_warn_of_nothing(compiler, standard):
    if not shutil.which(compiler):
        pytest.skip(f"there is no C++ compiler {compiler} (Debian: apt install {compiler.strip('+')})")
    made = 'LAZYCUDA_LINK_OPTIONS(lazycuda_request, {}, .arch = "sm_90", .lto = 1);'
    header = build.text('#include <lazycuda.h>\n#include <lazycuda_link.h>\nextern "C" {\n'
                        f'static const {made.format("one")}\nstatic inline int lto(void)\n'
                        f'{{ {made.format("two")} return one.lto + two.lto; }}\n}}\n', "h")
    source = build.text(f'#include "{header}"\nint main(void) {{ return lto(); }}\n', "cpp")
    subprocess.run([compiler, f"-std={standard}", "-Wall", "-Wpedantic", "-Werror", "-fsyntax-only",
                    "-I", build.ROOT / "include", source], check=True)
