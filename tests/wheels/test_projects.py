# SPDX-License-Identifier: MIT
"""Projects that name lazycuda in build-system.requires, examples/wheel and the same with
setuptools: built in isolation, repaired by auditwheel, and imported where there is each
CUDA, and none."""
import re
import shutil
import sys

import pytest

import build
import elf
import package
import projects
import wheel_files

EXAMPLE = build.ROOT / "examples" / "wheel"
# What each build backend needs in an isolated environment.
BACKENDS = {"setuptools": ["setuptools==75.3.0", "wheel==0.45.1"],
            "scikit": ["scikit-build-core==0.10.7", "packaging", "pathspec", "tomli",
                       "exceptiongroup", "typing-extensions", "importlib-metadata",
                       "importlib-resources", "zipp", "cmake==3.31.6", "ninja==1.11.1.4"]}


def index(folder, backend, lazycuda):
    """A folder that holds lazycuda and the backend, and stands in for PyPI."""
    projects.pip(backend, "download", "--no-deps", "--dest", folder, *BACKENDS[backend])
    shutil.copy(lazycuda, folder)
    return folder


def build_project(backend, tmp_path):
    """The wheel of such a project."""
    if backend == "scikit" and not (shutil.which("cmake") and
                                    (shutil.which("ninja") or shutil.which("make"))):
        pytest.skip("there is no cmake")
    project = shutil.copytree(EXAMPLE, tmp_path / "project")
    if backend == "setuptools":
        # The same sources, built another way.
        shutil.copytree(build.TESTS / "wheels" / backend, project, dirs_exist_ok=True)
    found = index(tmp_path / "index", backend, package.built())
    package.run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-index",
                "--find-links", found, "--wheel-dir", tmp_path / "dist", project,
                CFLAGS="-O2", LD_LIBRARY_PATH="")
    return next((tmp_path / "dist").glob("*.whl"))


@pytest.fixture(scope="module", params=BACKENDS)
def shipped(request, tmp_path_factory, python_headers):
    """Such a wheel as it is uploaded."""
    folder = tmp_path_factory.mktemp(request.param)
    made = build_project(request.param, folder)
    stubs = package.environment(folder / "venv", package.built())
    libdir = package.run(stubs, "-m", "lazycuda", "--libdir").strip()
    return package.repair(made, folder / "repaired", search=libdir)


def test_auditwheel_ships_the_stub_and_no_cuda(shipped):
    said, tag = package.show(shipped)
    assert tag.startswith("manylinux_")
    names = wheel_files.read(shipped)
    libraries = [name for name in names if re.search(r"\.libs/.*\.so", name)]
    assert len(libraries) == 1
    assert re.fullmatch(r"fastcount\.libs/libcudart_stub-[0-9a-f]{8}\.so", libraries[0])


@pytest.mark.parametrize("version", ["none", "11.8", "12.9", "13.5"])
def test_it_is_imported_in_a_clean_environment(shipped, tmp_path, world, real, version):
    python = package.environment(tmp_path / "venv", shipped)
    if version != "none":
        (package.site_packages(python) / "nvidia").symlink_to(real(version).site / "nvidia")
    said = world.run(python, "-I", "-c", "import fastcount; print(*fastcount.count(), sep='|')")
    status, number, counted, meaning = said.lines[0].split("|", 3)
    if version == "none":
        assert (status, number, counted) == ("303", "0", "35")
        assert "neither an NVIDIA driver" in meaning and "no usable libcudart.so.13" in meaning
        return
    major, minor = map(int, version.split("."))
    # Without a driver: what the real library says, not the stub.
    assert (counted, meaning.startswith("CUDA driver version is insufficient")) == ("35", True)
    if major > 11:
        assert (status, int(number)) == ("0", 1000 * major + 10 * minor)


def test_its_references_say_which_cuda_it_was_compiled_for(shipped, tmp_path):
    site = wheel_files.unpack(shipped, tmp_path / "site")
    module, = (site / "fastcount").glob("_native*.so")
    found = {symbol.node for symbol in elf.imports(module) if symbol.name.startswith("cuda")}
    assert found == {"libcudart.so.12"}
    assert elf.is_bound_at_once(module)
