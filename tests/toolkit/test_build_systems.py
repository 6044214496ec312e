# SPDX-License-Identifier: MIT
"""Projects that were written for CUDA are built against the folder, unchanged."""
import os
import pathlib
import shlex
import shutil
import sys

import pytest

import build
import elf
import projects
from folders_of_cuda import FETCHED, make
from projects import NODES, pip, run, tool

APP = build.TESTS / "toolkit" / "app.c"
NOW = "-Wl,-z,now"


@pytest.fixture(params=[12, 13])
def cuda(request, toolkit_of):
    """(major, folder)"""
    return request.param, toolkit_of(request.param)


def fetched(tmp_path, *requirements):
    """A folder with what pip puts there."""
    pip(requirements[0], "install", "--no-deps", "--target", tmp_path / "tool", *requirements)
    return tmp_path / "tool"


# ---- the compiler alone ----

def compiled(cuda, tmp_path, *libraries):
    run(*build.CC, APP, f"-I{cuda[1]}/include", f"-L{cuda[1]}/lib64", *libraries, NOW, f"-Wl,-rpath,{cuda[1]}/lib64",
        "-o", tmp_path / "app")
    return tmp_path / "app"


def test_a_compiler(cuda, tmp_path, check):
    check(compiled(cuda, tmp_path, "-lcudart"), cuda[0])


def test_what_links_the_archive_needs_nothing_beside_it(cuda, tmp_path, check):
    check.alone(compiled(cuda, tmp_path, "-Wl,-Bstatic", "-lcudart_static", "-Wl,-Bdynamic", "-ldl", "-lpthread"),
                cuda[0])


def test_pkg_config(cuda, tmp_path, check):
    major, folder = cuda
    _, said = run(tool("pkg-config"), "--cflags", "--libs", f"cudart-{FETCHED[major]}",
                  PKG_CONFIG_LIBDIR=folder / "lib64/pkgconfig")
    run(*build.CC, APP, *shlex.split(said), "-o", tmp_path / "app")
    check(tmp_path / "app", major, folder / "lib64")
    run("pkg-config", "--validate", *(f"{name}-{FETCHED[major]}" for name in ("cuda", "nvrtc", "nvjitlink", "cublas")),
        PKG_CONFIG_LIBDIR=folder / "lib64/pkgconfig")


# ---- CMake ----

CMAKE = """
cmake_minimum_required(VERSION 3.17)
project(app C)
find_package(CUDAToolkit {version} REQUIRED)
add_executable(app app.c)
target_link_libraries(app PRIVATE {library})
foreach(name cudart_static nvrtc cuda_driver nvml cublas cufft nvJitLink)
  if(NOT TARGET CUDA::${{name}} AND NOT (name STREQUAL nvJitLink AND CMAKE_VERSION VERSION_LESS 3.26))
    message(FATAL_ERROR "no ${{name}}")
  endif()
endforeach()
"""


def project(tmp_path, name, text):
    """A folder with the sources, and what builds them."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / name).write_text(text)
    shutil.copy(APP, folder)
    (folder / "app.cu").write_text(KERNEL)
    return folder


def cmake(program, tmp_path, folder, text, *arguments, **env):
    run(program, "-S", project(tmp_path, "CMakeLists.txt", text), "-B", tmp_path / "build",
        f"-DCUDAToolkit_ROOT={folder}", f"-DCMAKE_EXE_LINKER_FLAGS={NOW}", *arguments, **env)
    run(program, "--build", tmp_path / "build", **env)
    return tmp_path / "build/app"


def test_cmake(cuda, tmp_path, check):
    major, folder = cuda
    check(cmake(tool("cmake"), tmp_path, folder, CMAKE.format(library="CUDA::cudart", version=FETCHED[major])), major)


def test_cmake_links_the_archive(cuda, tmp_path, check):
    text = CMAKE.format(library="CUDA::cudart_static", version="")
    check.alone(cmake(tool("cmake"), tmp_path, cuda[1], text), cuda[0])


@pytest.mark.parametrize("version", ["cmake==3.18.4.post1", "cmake==3.25.2", "cmake>=4"])
def test_every_cmake(toolkit_of, tmp_path, check, version):
    program = next(fetched(tmp_path, version).glob("**/bin/cmake"))
    for word in program.parent.iterdir():
        word.chmod(0o755)
    tool("ninja")
    folder = toolkit_of(12)
    check(cmake(program, tmp_path, folder, CMAKE.format(library="CUDA::cudart", version=""), "-GNinja"), 12)


# ---- Meson ----

MESON = """
project('app', 'c')
executable('app', 'app.c', dependencies: dependency('cuda', modules: ['cudart', 'nvrtc'], version: '>=11'))
"""


def meson(program, tmp_path, folder, text=MESON, **env):
    env = {"CUDA_PATH": folder, "LDFLAGS": f"{NOW} -Wl,--as-needed", **env}
    run(*program, "setup", tmp_path / "build", project(tmp_path, "meson.build", text), **env)
    run(tool("ninja"), "-C", tmp_path / "build", **env)
    return tmp_path / "build/app"


def test_meson(cuda, tmp_path, check):
    major, folder = cuda
    check(meson([tool("meson")], tmp_path, folder), major, folder / "lib64")


@pytest.mark.parametrize("version", ["meson==1.0.0", "meson>1.8"])
def test_every_meson(toolkit_of, tmp_path, check, version):
    where = fetched(tmp_path, version)
    folder = toolkit_of(12)
    check(meson([sys.executable, "-m", "mesonbuild.mesonmain"], tmp_path, folder, PYTHONPATH=where), 12,
          folder / "lib64")


# ---- others ----

CONFIGURE = """
AC_INIT([app], [1])
AC_PROG_CC
{check}
AC_CONFIG_FILES([Makefile])
AC_OUTPUT
"""
BY_NAME = """
AC_CHECK_HEADER([cuda_runtime_api.h], , [AC_MSG_ERROR([no header])])
AC_CHECK_LIB([cudart], [cudaGetDeviceCount], , [AC_MSG_ERROR([no library])])
"""
BY_PACKAGE = """
PKG_CHECK_MODULES([CUDART], [cudart-{version}])
CFLAGS="$CUDART_CFLAGS" LIBS="$CUDART_LIBS"
"""
MAKEFILE = "app: app.c\n\t@CC@ @CPPFLAGS@ @CFLAGS@ @LDFLAGS@ app.c @LIBS@ -o app\n"


@pytest.mark.parametrize("check_for", [BY_NAME, BY_PACKAGE], ids=["AC_CHECK_LIB", "PKG_CHECK_MODULES"])
def test_autoconf(cuda, tmp_path, check, check_for):
    tool("autoconf")
    tool("aclocal")
    major, folder = cuda
    (tmp_path / "configure.ac").write_text(CONFIGURE.format(check=check_for.format(version=FETCHED[major])))
    (tmp_path / "Makefile.in").write_text(MAKEFILE)
    shutil.copy(APP, tmp_path)
    run("aclocal", cwd=tmp_path)
    run("autoconf", cwd=tmp_path)
    said = {"PKG_CONFIG_LIBDIR": folder / "lib64/pkgconfig"} if check_for == BY_PACKAGE else {
        "CPPFLAGS": f"-I{folder}/include", "LDFLAGS": f"-L{folder}/lib64 {NOW}"}
    run("./configure", *(f"{name}={value}" for name, value in said.items()), cwd=tmp_path)
    run("make", cwd=tmp_path)
    check(tmp_path / "app", major, folder / "lib64")


GO = """
package main

// #cgo pkg-config: cudart-{version}
// #include <cuda_runtime_api.h>
import "C"
import "fmt"

func main() {{
	var place {place}
	fmt.Println(C.cudaDeviceSynchronize(), C.cudaMemAdvise(nil, 0, C.cudaMemAdviseSetReadMostly, place))
}}
"""


def test_go(cuda, tmp_path, check):
    major, folder = cuda
    (tmp_path / "app.go").write_text(GO.format(
        version=FETCHED[major], place="C.struct_cudaMemLocation" if major > 12 else "C.int"))
    run(tool("go"), "build", "-o", tmp_path / "app", tmp_path / "app.go", GOPROXY="off",
        GOCACHE=tmp_path / "cache", CGO_LDFLAGS_ALLOW=NOW, PKG_CONFIG_PATH=folder / "lib64/pkgconfig")
    check(tmp_path / "app", major, folder / "lib64")


SETUP = """
import os
from setuptools import Extension, setup
home = os.environ["CUDA_HOME"]
setup(name="app", ext_modules=[Extension(
    "app", ["app.c"], libraries=["cudart"], include_dirs=[home + "/include"], library_dirs=[home + "/lib64"],
    runtime_library_dirs=[home + "/lib64"], extra_link_args=["-Wl,-z,now"])])
"""


def test_setuptools(cuda, tmp_path, python_headers):
    major, folder = cuda
    (tmp_path / "setup.py").write_text(SETUP)
    (tmp_path / "app.c").write_text(APP.read_text().replace("main", "app_main"))
    run(sys.executable, "setup.py", "--quiet", "build_ext", "--inplace", cwd=tmp_path, CUDA_HOME=folder)
    made = next(tmp_path.glob("app.*.so"))
    assert [name for name in elf.dynamic(made)["NEEDED"] if "cuda" in name] == ["libcudart_stub.so"]
    assert {one.name: one.node for one in elf.imports(made)}["cudaMemAdvise"] == NODES[major]


RUST = """
extern "C" {
    fn cudaDeviceSynchronize() -> i32;
    fn cudaMemAdvise(where_: *const u8, size: usize, advice: i32, device: i64) -> i32;
}
fn main() {
    unsafe { println!("{} {}", cudaDeviceSynchronize(), cudaMemAdvise(std::ptr::null(), 0, 1, 0)); }
}
"""


def test_rust(cuda, tmp_path, check):
    major, folder = cuda
    (tmp_path / "app.rs").write_text(RUST)
    run(tool("rustc"), "-L", f"native={folder}/lib64", "-l", "cudart", tmp_path / "app.rs", "-o", tmp_path / "app")
    check(tmp_path / "app", major, folder / "lib64")


# ---- nvcc ----

KERNEL = """
__global__ void nothing() {}
int main() { nothing<<<1, 1>>>(); return cudaDeviceSynchronize() == cudaSuccess; }
"""


@pytest.fixture(scope="session")
def with_nvcc(tmp_path_factory):
    """(major, folder) with this machine's nvcc."""
    path, major = projects.nvcc()
    folder = tmp_path_factory.mktemp("nvcc") / "cuda"
    make("--cuda", major, "--headers", pathlib.Path(path).resolve().parents[1], folder)
    return major, folder


@pytest.fixture
def check_kernel(world):
    """The stub is inside the program."""
    def check(program):
        assert projects.of_cuda(program) == []
        assert b"lazycuda" in program.read_bytes(), {name: text for name, text in projects.clean_environment().items()
                                                         if "cuda" in text}
        assert world.run(program).err == ""     # main() answers 0 where the call fails
    return check


@pytest.mark.parametrize("option", [[], ["-rdc=true"]])
def test_nvcc_alone(with_nvcc, tmp_path, check_kernel, option):
    _, folder = with_nvcc
    (tmp_path / "app.cu").write_text(KERNEL)
    run(folder / "bin/nvcc", *option, tmp_path / "app.cu", "-o", tmp_path / "app")
    check_kernel(tmp_path / "app")


LANGUAGE = """
cmake_minimum_required(VERSION 3.18)
project(app CXX CUDA)
find_package(CUDAToolkit REQUIRED)
add_executable(app app.cu)
"""


@pytest.mark.parametrize("text", [
    LANGUAGE,
    # nvlink is given what the target links.
    LANGUAGE + "set_property(TARGET app PROPERTY CUDA_SEPARABLE_COMPILATION ON)\n"
    "target_link_libraries(app CUDA::cudart_static)\n",
    "cmake_minimum_required(VERSION 3.10)\nproject(app CXX)\nfind_package(CUDA REQUIRED)\n"
    "cuda_add_executable(app app.cu)\n"], ids=["language", "separable", "FindCUDA"])
def test_cmake_with_nvcc(with_nvcc, tmp_path, check_kernel, text):
    _, folder = with_nvcc
    program = cmake(tool("cmake"), tmp_path, folder, text, "-DCMAKE_CUDA_ARCHITECTURES=75",
                    f"-DCUDA_TOOLKIT_ROOT_DIR={folder}", "-DCUDA_NVCC_FLAGS=-arch=sm_75",
                    PATH=f"{folder}/bin:{os.environ['PATH']}")
    check_kernel(program)


def test_meson_with_nvcc(with_nvcc, tmp_path, check_kernel):
    _, folder = with_nvcc
    check_kernel(meson([tool("meson")], tmp_path, folder, "project('app', 'cuda')\nexecutable('app', 'app.cu')\n",
                       PATH=f"{folder}/bin:{os.environ['PATH']}"))
