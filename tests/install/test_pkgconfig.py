# SPDX-License-Identifier: MIT
"""pkg-config, on the command line, in Meson and in CMake; tests/examples has a Makefile."""
import os
import shlex
import shutil

import pytest

import build
import elf
import installed
from projects import CALLS_CUBLAS, PROJECT, linker, run, tool


def pkg_config(tree, *arguments, check=True):
    status, said = run(tool("pkg-config"), *arguments, check=check,
                       PKG_CONFIG_LIBDIR=tree.pkgconfig)
    return shlex.split(said) if check else (status, said)


def flags(tree, *packages):
    return pkg_config(tree, "--cflags", "--libs", *packages)


def compile(folder, *arguments, source="app.c"):
    run(*build.CC, PROJECT / source, "-o", folder / "app", *arguments)
    return folder / "app"


@pytest.mark.parametrize("abi", build.MAJORS)
def test_a_plain_compile_command(tree, tmp_path, check, abi):
    check(compile(tmp_path, *flags(tree, f"cudart-stub-{abi}")), abi, tree.libdir)


def test_the_stub_inside_the_program(plain, tmp_path, check):
    check.alone(compile(tmp_path, *flags(plain, "cudart_static-stub-12")), 12)


def test_all_three(plain, tmp_path, check):
    packages = [f"{name}-stub-12" for name in ("cudart", "nvrtc", "nvjitlink")]
    program = compile(tmp_path, "-DWITH_NVRTC", "-DWITH_NVJITLINK", *flags(plain, *packages))
    check(program, 12, plain.libdir, build.LIBRARIES)


def test_each_other_library(all_stubs, tmp_path):
    program = compile(tmp_path, *flags(all_stubs, "cublas-stub-11", "cudart-stub-11"), source=CALLS_CUBLAS)
    assert ("cublasCreate_v2", "libcublas.so.11") in [(one.name, one.node) for one in elf.imports(program)]
    pkg_config(all_stubs, "--validate", *(f"{name}-stub-12" for name in (
        "cudnn", "cusolver", "nccl", "nppial", "nvToolsExt")))


def test_the_drivers_have_no_major(tree, tmp_path, check):
    found = flags(tree, "cuda-stub", "nvml-stub")
    check.driver(compile(tmp_path, *found, source="driver.c"), tree.libdir)
    assert pkg_config(tree, "--exists", "cuda-stub-12", check=False)[0] != 0


@pytest.mark.parametrize("name", ["bfd", "gold", "lld", "mold"])
def test_every_linker(plain, tmp_path, check, name):
    # With --as-needed, as some distributions have it by default, a library in front of
    # what needs it counts for nothing: then the second of the two would say the major.
    option = linker(name)
    program = compile(tmp_path, option, "-Wl,--as-needed", *flags(plain, "cudart-stub-12"))
    check(program, 12, plain.libdir)


def test_the_package_without_a_major_guesses_nothing(tree):
    status, said = pkg_config(tree, "--libs", "cudart-stub", check=False)
    assert status != 0 and "cudart-stub-NOT_SAID" in said


def test_the_major_as_a_variable(tree, tmp_path, check):
    found = pkg_config(tree, "--define-variable=cuda_major=13", "--cflags", "--libs", "cudart-stub")
    check(compile(tmp_path, *found), 13, tree.libdir)


def test_the_builder_of_lazycuda_may_have_chosen_one(tmp_path, check):
    tree = installed.install(tmp_path, "CUDA_ABI=11", own=f"{installed.OWN}-abi11")
    check(compile(tmp_path, *flags(tree, "cudart-stub")), 11, tree.libdir)


def test_where_the_import_libraries_are_can_be_asked(tree, tmp_path, check):
    # For linkers that do not know the flags: nvcc -cudart none -L$(...) -lcudart_stub
    where = " ".join(pkg_config(tree, "--variable=importdir", "cudart-stub-12"))
    check(compile(tmp_path, f"-L{where}", "-lcudart_stub", "-Wl,-z,now"), 12, tree.libdir)


def test_the_dispatch_library(tree, tmp_path):
    said = flags(tree, "lazycuda-link")
    assert said[-1] == "-llazycuda_link"
    source = tmp_path / "none.c"
    source.write_text("#include <lazycuda.h>\n#include <lazycuda_link.h>\nint main(void) { return 0; }\n")
    run(*build.CC, source, "-Wl,--no-as-needed", *said, "-o", tmp_path / "none")
    assert elf.is_bound_at_once(tmp_path / "none")


def test_the_packages_are_valid(tree):
    for file in sorted(tree.pkgconfig.glob("*.pc")):
        if file.stem[-2:].isdigit() or file.stem in ("lazycuda-link", "cuda-stub", "nvml-stub"):
            pkg_config(tree, "--validate", file.stem)
            assert pkg_config(tree, "--modversion", file.stem) == ["0.1.0"]


def meson(tree, folder, *options, **env):
    tool("ninja")
    run(tool("meson"), "setup", folder, PROJECT, *options, PKG_CONFIG_PATH=tree.pkgconfig, **env)
    run("meson", "compile", "-C", folder)
    return folder / "app"


def test_meson_by_pkg_config(plain, tmp_path, check):
    # Nothing says where the stubs are: Meson puts that into the run path.
    tool("pkg-config")
    check(meson(plain, tmp_path / "build", "-Dpackage=cudart-stub-13"), 13)


def test_meson_by_cmake(plain, tmp_path, check):
    # Meson itself looks for CMake packages in few folders; lib64 is not one of them.
    tool("cmake")
    program = meson(plain, tmp_path / "build", "-Dpackage=lazycuda", "-Dmethod=cmake",
                    "-Dmodules=lazycuda::cudart", f"-Dcmake_prefix_path={plain.prefix}",
                    "-Dcmake_args=-DLAZYCUDA_ABI=12")
    check(program, 12)


def test_cmake_by_pkg_config(plain, tmp_path, check):
    tool("pkg-config")
    project = tmp_path / "project"
    project.mkdir()
    shutil.copy(PROJECT / "app.c", project)
    (project / "CMakeLists.txt").write_text("""
        cmake_minimum_required(VERSION 3.13)
        project(app C)
        find_package(PkgConfig REQUIRED)
        pkg_check_modules(CUDART REQUIRED IMPORTED_TARGET cudart-stub-12)
        add_executable(app app.c)
        target_link_libraries(app PRIVATE PkgConfig::CUDART)
        """)
    run(tool("cmake"), "-S", project, "-B", tmp_path / "build", PKG_CONFIG_PATH=plain.pkgconfig)
    run("cmake", "--build", tmp_path / "build")
    check(tmp_path / "build" / "app", 12)


def test_a_folder_of_the_system_is_no_flag(tmp_path):
    # An installed tree in /usr adds no -L/usr/lib: pkg-config knows the system's folders.
    tree = installed.install(tmp_path, prefix="/usr", lib="lib/x86_64-linux-gnu")
    status, said = run(tool("pkg-config"), "--libs", "lazycuda-link",
                       PKG_CONFIG_LIBDIR=tree.pkgconfig,
                       PKG_CONFIG_SYSTEM_LIBRARY_PATH=os.path.realpath(tree.libdir))
    assert status == 0 and said.split()[-1] == "-llazycuda_link"
