# SPDX-License-Identifier: MIT
"""find_package(lazycuda): its targets, and its place in a project made for CUDA."""
import json
import os
import re
import shutil

import pytest

import build
import elf
import projects
from projects import CALLS_CUBLAS, NODES, PROJECT, run, tool


class Project:
    """A CMake project in a folder of its own, configured and built."""

    def __init__(self, tree, folder, text, sub=None):
        self.tree, self.source, self.binary = tree, folder / "project", folder / "build"
        self.source.mkdir()
        for source in PROJECT.glob("*.c"):
            shutil.copy(source, self.source)
        (self.source / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.13)\n" + text)
        if sub:
            (self.source / "sub").mkdir()
            (self.source / "sub" / "CMakeLists.txt").write_text(sub)

    def configure(self, *arguments, check=True, **env):
        # Where the system has no lib64, CMake does not look into one.
        find = (f"-Dlazycuda_DIR={self.tree.cmake}" if self.tree.libdir.name == "lib64" else
                f"-DCMAKE_PREFIX_PATH={self.tree.prefix}")
        return run(tool("cmake"), "-S", self.source, "-B", self.binary, find,
                   # This machine may have a CUDA of its own, where nobody asked for it.
                   *([] if any("CUDAToolkit_ROOT" in str(word) for word in arguments)
                     else ["-DCMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit=ON"]),
                   *arguments, check=check, **env)

    def build(self, *arguments, **env):
        self.configure(*arguments, **env)
        run("cmake", "--build", self.binary)
        return self.binary / "app"


TARGET = """
add_executable(app {source})
target_compile_definitions(app PRIVATE {definitions})
target_link_libraries(app PRIVATE {libraries})
set_target_properties(app PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${{CMAKE_BINARY_DIR}})
"""


def target(*libraries, source="app.c", definitions=""):
    return TARGET.format(libraries=" ".join(libraries), source=source, definitions=definitions)


FIND = "find_package(lazycuda REQUIRED)\n"
APP = FIND + target("lazycuda::cudart")
OF_C = "project(app C)\n"


@pytest.fixture
def project(plain, tmp_path):
    return lambda text, sub=None: Project(plain, tmp_path, OF_C + text, sub)


def test_a_c_project(tree, tmp_path, check):
    check(Project(tree, tmp_path, OF_C + APP).build("-DLAZYCUDA_ABI=12"), 12)


def test_all_three(project, check):
    text = "find_package(lazycuda 0.1 REQUIRED COMPONENTS cuda12 cudart nvrtc nvJitLink)\n" + target(
        *(f"lazycuda::{name}" for name in build.LIBRARIES), definitions="WITH_NVRTC WITH_NVJITLINK")
    check(project(text).build(), 12, libraries=build.LIBRARIES)


def test_the_stub_inside_the_program(project, check):
    text = "find_package(lazycuda REQUIRED COMPONENTS cuda12 cudart_static)\n" + target("lazycuda::cudart_static")
    check.alone(project(text).build(), 12)


def test_embedded_stubs_are_compiled_small(project):
    made = project("""
        find_package(lazycuda REQUIRED COMPONENTS cuda12)
        add_library(op MODULE app.c)
        lazycuda_embed(TARGET op CUDA 12 LIBRARIES nvrtc)
        """)
    made.configure("-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON")
    flags = {os.path.basename(one["file"]): re.findall(r" (-O\w)", one["command"])[-1]
             for one in json.loads((made.binary / "compile_commands.json").read_text())}
    assert flags == {"app.c": "-O3", "op_stubs.c": "-Os"}


def test_embedded_stubs_are_compiled_without_the_headers_of_others(project):
    """Which are of C++ in most targets that have some."""
    made = project("""
        find_package(lazycuda REQUIRED COMPONENTS cuda12)
        add_library(op MODULE app.c)
        target_precompile_headers(op PRIVATE <stdio.h>)
        lazycuda_embed(TARGET op CUDA 12 LIBRARIES nvrtc)
        """)
    made.configure("-DCMAKE_EXPORT_COMPILE_COMMANDS=ON")
    of = {os.path.basename(one["file"]): one["command"]
          for one in json.loads((made.binary / "compile_commands.json").read_text())}
    assert ["cmake_pch.h" in of[name] for name in ("app.c", "op_stubs.c")] == [True, False]


EMBED = "lazycuda_embed(TARGET part CUDA 12 LIBRARIES {})\n"


def test_stubs_embedded_by_two_calls_into_what_others_link(project, check):
    made = project(f"""
        find_package(lazycuda REQUIRED COMPONENTS cuda12)
        file(WRITE ${{CMAKE_CURRENT_BINARY_DIR}}/empty.c "int nothing;")
        add_library(part STATIC app.c)
        {EMBED.format("cudart")} {EMBED.format("nvrtc")}
        target_compile_definitions(part PRIVATE WITH_NVRTC)
        add_executable(app ${{CMAKE_CURRENT_BINARY_DIR}}/empty.c)
        target_link_libraries(app PRIVATE part)
        """)
    made.build("-GUnix Makefiles")
    assert projects.of_cuda(made.binary / "app") == []
    # Which glibc needed before 2.34.
    assert " -ldl -lpthread" in (made.binary / "CMakeFiles/app.dir/link.txt").read_text()


@pytest.mark.parametrize("text, said", [
    ("project(app C)\n" + FIND + "add_library(part INTERFACE)\n" + EMBED, "an INTERFACE library compiles nothing"),
    ("project(app NONE)\n" + FIND + "function(extend)\nadd_library(part MODULE app.c)\n" + EMBED +
     "endfunction()\nextend()\n", "say project(... LANGUAGES C CXX)"),
    ("project(app C)\n" + FIND + "add_library(part MODULE app.c)\nset(LAZYCUDA_EXECUTABLE ${CMAKE_SOURCE_DIR})\n" + EMBED,
     "/project cannot be run: ")])
def test_why_nothing_is_embedded(plain, tmp_path, text, said):
    failed, output = Project(plain, tmp_path, text.replace("{}", "cudart")).configure("-DLAZYCUDA_ABI=12", check=False)
    assert failed and said in " ".join(output.split())


@pytest.mark.parametrize("before, of", [("", "lazycuda"), ("set(LAZYCUDA_REPLACE_CUDA ON)\n", "CUDA")])
def test_the_drivers_need_no_major(project, check, before, of):
    text = before + "find_package(lazycuda REQUIRED COMPONENTS cuda_driver nvml)\n" + \
        target(f"{of}::cuda_driver", f"{of}::nvml", source="driver.c")
    check.driver(project(text).build())


def test_through_a_static_library(project, check):
    made = project("""
        find_package(lazycuda REQUIRED)
        file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/empty.c "int nothing;")
        add_library(part STATIC app.c)
        target_link_libraries(part PRIVATE lazycuda::cudart)
        add_executable(app ${CMAKE_CURRENT_BINARY_DIR}/empty.c)
        target_link_libraries(app PRIVATE part)
        """)
    check(made.build("-DLAZYCUDA_ABI=11"), 11)


def test_an_installed_program_has_no_run_path_to_us(project, tmp_path):
    made = project(APP + "install(TARGETS app)\ninclude(GNUInstallDirs)\n")
    made.build("-DLAZYCUDA_ABI=12")
    run("cmake", "--install", made.binary, "--prefix", tmp_path / "there")
    assert "RUNPATH" not in elf.dynamic(tmp_path / "there" / "bin" / "app")
    # Variables of CUDA's are set on request alone.
    assert "CUDA_CUDART_LIBRARY" not in (made.binary / "CMakeCache.txt").read_text()


def test_the_dispatch_library(project):
    program = project("""
        find_package(lazycuda REQUIRED COMPONENTS link)
        file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/none.c
          "#include <lazycuda_link.h>\\nint main(void) { return 0; }")
        add_executable(app ${CMAKE_CURRENT_BINARY_DIR}/none.c)
        target_link_libraries(app PRIVATE -Wl,--no-as-needed lazycuda::link)
        """).build("-DLAZYCUDA_ABI=13")
    assert "liblazycuda_link.so" in elf.dynamic(program)["NEEDED"]
    assert elf.is_bound_at_once(program)


def test_a_library_folder_that_is_a_link(plain, project, tmp_path, check):
    # As on merged systems, where /lib is /usr/lib: found through the link, it is one tree.
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "lib").symlink_to(plain.libdir)
    program = project(APP).build(
        "-DLAZYCUDA_ABI=12", f"-Dlazycuda_DIR={tmp_path}/root/lib/cmake/lazycuda")
    check(program, 12)


@pytest.mark.parametrize("find, library", [
    ("find_package(lazycuda REQUIRED COMPONENTS cublas)\n", "lazycuda::cublas"),
    ("set(LAZYCUDA_REPLACE_CUDA ON)\n" + FIND, "CUDA::cublas_static")])
def test_each_other_library(all_stubs, tmp_path, find, library):
    uses = target(library, f"{library.partition(':')[0]}::cudart", source=CALLS_CUBLAS)
    project = Project(all_stubs, tmp_path, OF_C + find + uses +
                      "if(NOT TARGET lazycuda::cudnn_ops OR NOT TARGET lazycuda::npps)\n"
                      "message(FATAL_ERROR \"not all\")\nendif()\n")
    assert ("cublasCreate_v2", "libcublas.so.12") in [
        (one.name, one.node) for one in elf.imports(project.build("-DLAZYCUDA_ABI=12"))]


# ---- whose headers? ----

@pytest.mark.parametrize("text, arguments, message", [
    (APP, (), "with which CUDA's headers does this project compile"),
    (APP, ("-DLAZYCUDA_ABI=10",), "CUDA 10 is not one that lazycuda knows"),
    (APP.replace("REQUIRED", "REQUIRED COMPONENTS cuda13"), ("-DLAZYCUDA_ABI=12",),
     "the headers of CUDA 12 and 13"),
    (APP.replace("REQUIRED", "REQUIRED COMPONENTS nvJitLink"), ("-DLAZYCUDA_ABI=11",),
     "there is no nvJitLink for CUDA 11"),
    (APP.replace("lazycuda REQUIRED", "lazycuda 0.2 REQUIRED"), ("-DLAZYCUDA_ABI=12",), "0.1.0"),
    (APP + "set(LAZYCUDA_ABI 13)\n" + FIND, ("-DLAZYCUDA_ABI=12",),
     "lazycuda::cudart is of CUDA 12 already, not of 13"),
])
def test_nothing_is_guessed(project, text, arguments, message):
    status, said = project(text).configure(*arguments, check=False)
    assert status != 0 and message in " ".join(said.split())


def test_it_can_be_done_without(project):
    project("""
        find_package(lazycuda QUIET)
        if(lazycuda_FOUND)
          message(FATAL_ERROR "found")
        endif()
        """).configure()


# ---- a project made for CUDA ----

NVCC = """#!/bin/sh
case "$*" in
*--version*) echo "Cuda compilation tools, release {major}.9, V{major}.9.86" ;;
*) echo "#\\$ TOP={root}" >&2; echo "#\\$ TOP={root}" ;;
esac
"""


@pytest.fixture
def toolkit_of(tmp_path):
    """A folder that FindCUDAToolkit takes for a CUDA; its libraries cannot be linked."""
    def make(major):
        root = tmp_path / f"cuda-{major}.9"
        for name in ("cudart", "nvrtc", "nvJitLink", "cudart_static", "nvrtc_static",
                     "nvJitLink_static", "cuda", "nvidia-ml"):
            library = root / "lib64" / f"lib{name}{'.a' if name.endswith('static') else '.so'}"
            library.parent.mkdir(parents=True, exist_ok=True)
            library.write_text("this must not be linked\n")
        (root / "include").mkdir()
        (root / "include" / "cuda_runtime.h").write_text("#define CUDART_VERSION 1\n")
        (root / "include" / "cuda.h").write_text(f"#define CUDA_VERSION {major}090\n")
        (root / "bin").mkdir()
        nvcc = root / "bin" / "nvcc"
        nvcc.write_text(NVCC.format(major=major, root=root))
        nvcc.chmod(0o755)
        return root
    return make


FIND_CUDA = "find_package(CUDAToolkit REQUIRED)\n"
FIND_OURS = "set(LAZYCUDA_REPLACE_CUDA ON)\n" + FIND
CALL_OURS = FIND + "lazycuda_replace_cuda()\n"
USES_CUDA = target("CUDA::cudart", definitions="WITH_HEADER")


@pytest.mark.parametrize("text", [FIND_OURS + FIND_OURS + FIND_CUDA, FIND_CUDA + CALL_OURS],
                         ids=["twice before", "called"])
@pytest.mark.parametrize("library", ["CUDA::cudart", "CUDA::cudart_static"])
def test_cudas_targets_are_replaced(project, toolkit_of, check, text, library):
    # The ABI is that of the toolkit; its headers are still found.
    text += target(library, definitions="WITH_HEADER")
    checked = check.alone if library.endswith("_static") else check
    checked(project(text).build(f"-DCUDAToolkit_ROOT={toolkit_of(12)}"), 12)


def test_a_static_runtime_that_is_linked_all_the_same_is_told(project, toolkit_of):
    root = toolkit_of(12)
    linked = {"by_target": "CUDA::cudart_static", "by_file": root / "lib64/libcudart_static.a",
              "by_name": "cudart_static"}
    _, said = project(FIND_OURS * 2 + FIND_CUDA + "".join(
        f"add_executable({name} app.c)\ntarget_link_libraries({name} {library})\n"
        for name, library in linked.items())).configure(f"-DCUDAToolkit_ROOT={root}")
    said = " ".join(said.split())
    for name in ("by_file", "by_name"):
        assert f"{name} links NVIDIA's static runtime all the same: {linked[name]}." in said
    assert said.count("all the same") == 2


@pytest.mark.parametrize("text, arguments", [
    (FIND_CUDA + CALL_OURS, "-DCUDAToolkit_ROOT={}"), (CALL_OURS, "-DLAZYCUDA_ABI=12 -DCMAKE_BUILD_TYPE=Own")],
    ids=["found", "made"])
def test_where_a_project_finds_the_libraries(plain, project, toolkit_of, check, text, arguments):
    """As one does that makes its own shims of what is there; what is linked says the caller's CUDA all the same."""
    names = ("cudart", "cudart_static", "nvrtc", "nvrtc_static", "nvJitLink_static", "cuda_driver", "nvml")
    made = project(text + "file(WRITE ${CMAKE_BINARY_DIR}/empty.c \"int nothing;\")\n" + "".join(
        f"get_property(said TARGET CUDA::{name} PROPERTY IMPORTED_LOCATION)\n"
        f"file(APPEND ${{CMAKE_BINARY_DIR}}/said \"{name} ${{said}}\\n\")\n" for name in names) + """
        add_library(part STATIC app.c)
        target_link_libraries(part PRIVATE CUDA::cudart)
        add_executable(app ${CMAKE_BINARY_DIR}/empty.c)
        target_link_libraries(app PRIVATE part)
        """)
    check(made.build(*arguments.format(toolkit_of(12)).split()), 12)
    said = dict(line.split() for line in (made.binary / "said").read_text().splitlines())
    assert said == {name: str(plain.libdir / {
        "cudart_static": "lazycuda/cuda12/libcudart_stub.a", "cuda_driver": "libcuda_stub.so",
        "nvml": "libnvidia-ml_stub.so"}.get(name, f"lib{name.partition('_')[0]}_stub.so")) for name in names}


def test_the_drivers_targets(project, toolkit_of, check):
    text = FIND_CUDA + FIND_OURS + target("CUDA::cuda_driver", "CUDA::nvml", source="driver.c")
    check.driver(project(text).build(f"-DCUDAToolkit_ROOT={toolkit_of(12)}"))


@pytest.mark.parametrize("text, sub", [
    (FIND_CUDA + FIND_OURS, ""), (FIND_OURS, FIND_CUDA + FIND_OURS)])
def test_in_a_folder_below(project, toolkit_of, check, text, sub):
    made = project(text + "add_subdirectory(sub)\n",
                   sub + target("CUDA::cudart", source="../app.c", definitions="WITH_HEADER"))
    check(made.build(f"-DCUDAToolkit_ROOT={toolkit_of(12)}"), 12)


def test_targets_that_were_linked_before(project, toolkit_of, check):
    made = project(FIND_CUDA + USES_CUDA + FIND_OURS)
    check(made.build(f"-DCUDAToolkit_ROOT={toolkit_of(11)}"), 11)


def test_another_major_than_the_toolkits_is_an_error(project, toolkit_of):
    status, said = project(FIND_CUDA + FIND_OURS).configure(
        f"-DCUDAToolkit_ROOT={toolkit_of(13)}", "-DLAZYCUDA_ABI=12", check=False)
    assert status != 0 and "headers of CUDA 12 and 13" in " ".join(said.split())


def test_variables_that_a_project_links(project, check):
    """As TVM's do, whose own search came first."""
    made = project("find_library(CUDA_CUDART_LIBRARY m)\n" + FIND + target(
        "${CUDA_CUDART_LIBRARY} ${CUDA_NVRTC_LIBRARY}", definitions="WITH_NVRTC"))
    check(made.build("-DLAZYCUDA_ABI=12", "-DLAZYCUDA_SET_CUDA_VARIABLES=ON"), 12,
          libraries=("cudart", "nvrtc"))
    cache = (made.binary / "CMakeCache.txt").read_text()
    for variable, name in (("CUDA_CUDART_LIBRARY", "cudart"), ("CUDA_NVRTC_LIBRARY", "nvrtc"),
                             ("CUDA_CUDA_LIBRARY", "cuda_driver")):
        assert f"{variable}:STRING=lazycuda::{name}\n" in cache


def test_without_the_wish_nothing_is_replaced(project, toolkit_of):
    made, root = project(FIND_CUDA + FIND + USES_CUDA), toolkit_of(12)
    made.configure(f"-DCUDAToolkit_ROOT={root}")
    status, said = run("cmake", "--build", made.binary, check=False)
    assert status != 0 and f"{root}/lib64/libcudart.so" in said


# ---- nvcc ----

KERNEL = """
__global__ void nothing() {}
int main() { nothing<<<1, 1>>>(); return cudaDeviceSynchronize() == cudaSuccess; }
"""


@pytest.fixture(scope="session")
def nvcc():
    return projects.nvcc()


CUDA_APP = "add_executable(app app.cu)\n"


@pytest.mark.parametrize("text", [
    "project(app LANGUAGES C CXX CUDA)\n" + FIND_OURS + CUDA_APP,
    "project(app LANGUAGES C CXX CUDA)\n" + CUDA_APP + FIND_OURS,
    "project(app LANGUAGES C CXX)\n" + FIND_OURS + "enable_language(CUDA)\n" + CUDA_APP,
    "project(app LANGUAGES C CXX CUDA)\n" + FIND_OURS + CUDA_APP
    + "set_property(TARGET app PROPERTY CUDA_RUNTIME_LIBRARY Shared)\n",
    "project(app LANGUAGES C CXX CUDA)\n" + FIND_CUDA + FIND_OURS + CUDA_APP
    + "target_link_libraries(app PRIVATE CUDA::cudart_static)\n",
], ids=["first", "last", "language later", "shared", "linked too"])
def test_the_runtime_that_nvcc_code_is_linked_with(plain, tmp_path, world, nvcc, text):
    path, major = nvcc
    project = Project(plain, tmp_path, text)
    (project.source / "app.cu").write_text(KERNEL)
    program = project.build(f"-DCMAKE_CUDA_COMPILER={path}", "-DCMAKE_CUDA_ARCHITECTURES=75", f"-DLAZYCUDA_ABI={major}",
                            f"-DCUDAToolkit_ROOT={os.path.dirname(os.path.dirname(path))}")
    assert b"cudart_static" not in program.read_bytes()
    if "Shared" in text:
        assert projects.of_cuda(program) == ["libcudart_stub.so"]
        imports = {s.name: s.node for s in elf.imports(program)}
        assert imports["__cudaRegisterFatBinary"] == imports["cudaDeviceSynchronize"] == NODES[major]
        assert elf.is_bound_at_once(program)
    else:
        assert projects.of_cuda(program) == []
    assert world.run(program).err == ""     # main() answers 0 where the call fails


def test_nvcc_of_another_major_is_an_error(plain, tmp_path, nvcc):
    path, major = nvcc
    text = "project(app LANGUAGES C CXX)\n" + FIND_OURS + "enable_language(CUDA)\n"
    status, said = Project(plain, tmp_path, text).configure(
        f"-DCMAKE_CUDA_COMPILER={path}", "-DCMAKE_CUDA_ARCHITECTURES=75",
        f"-DLAZYCUDA_ABI={12 if major == 11 else 11}", check=False)
    assert status != 0 and "compiles this project, and LAZYCUDA_ABI says" in " ".join(said.split())


def test_only_the_flag_can_find_an_import_library(plain):
    # No tool may take its folder for one to run from: auditwheel would ship it.
    for file in [*plain.cmake.glob("*.cmake"), *plain.pkgconfig.glob("*.pc")]:
        for line in file.read_text().splitlines():
            if "lazycuda/cuda" in line and not line.lstrip().startswith("#"):
                assert line.lstrip().startswith(("importdir=", "set(_lazycuda_imports ",
                                                      "elseif(NOT EXISTS"))
