# SPDX-License-Identifier: MIT
"""The Python package: what is in it, and that it works where it is installed."""
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

import build
import distribution
import elf
import installed
import package
import pages
import symbols
import wheel_files
from fakes import fake
from importer import importer, real
from world import CALL, MISSING


@pytest.fixture(scope="module")
def built():
    return package.built()


@pytest.fixture(scope="module")
def python(built, tmp_path_factory):
    """The Python of a fresh environment that has it."""
    return package.environment(tmp_path_factory.mktemp("package") / "venv", built)


def test_it_is_tagged_for_the_machine_of_what_is_in_it(built):
    assert built.name.endswith(f"-py3-none-linux_{build.ARCH}.whl")
    wheel_files.check_record(built)


def test_what_is_in_it(built):
    names = set(wheel_files.read(built))
    assert {f"lazycuda/lib/{build.stub_name(library)}" for library in build.STUBBED} <= names
    assert {f"lazycuda/lib/lib{path.stem}_stub.so"
            for path in (build.ROOT / "libraries").glob("*.txt")} <= names
    for major in build.MAJORS:
        for library in build.STUBBED:
            path = f"lazycuda/lib/lazycuda/cuda{major}/{build.stub_name(library)}"
            assert (path in names) == build.import_library(library, major).exists()
    assert {f"lazycuda/{name}" for name in (
        "include/lazycuda.h", "bin/lazycuda", "lib/liblazycuda_link.so", "link.py", "py.typed")} <= names
    # man and shells find them in the environment; nowhere else.
    data = f"lazycuda-{distribution.version()}.data/data/share"
    assert {name for name in names if re.search("/(man|completions|site-functions|vendor_completions.d)/", name)} == {
        *(f"{data}/man/man{page[-1]}/{page}" for page in ("lazycuda.1", "lazycuda.7", "lazycuda.h.3", "lazycuda_link.h.3")),
        f"{data}/bash-completion/completions/lazycuda", f"{data}/zsh/site-functions/_lazycuda",
        f"{data}/fish/vendor_completions.d/lazycuda.fish"}
    # The Python code once, not also where `make install` puts it.
    assert not [name for name in names if "share/lazycuda/python" in name]


def test_what_is_loaded_is_stripped(built, tmp_path):
    """Three quarters of the wheel would be debug symbols."""
    for name, content in wheel_files.read(built).items():
        if re.match(r"lazycuda/(bin|lib)/lib[^/]*\.so|lazycuda/lib/lazycuda/compat", name):
            (tmp_path / "file").write_bytes(content)
            assert not re.search(r" \.(symtab|debug_info) ", elf.readelf("-S", tmp_path / "file")), name


def test_the_sdist_has_every_part_of_the_tree():
    """A wheel is made of the sdist: what it lacks, no release has."""
    git = shutil.which("git")
    listed = git and build.run(git, "ls-files", cwd=build.ROOT)
    if not listed or listed.returncode:
        pytest.skip("this is no clone" if git else "there is no git")
    tops = {line.partition("/")[0] for line in listed.stdout.splitlines()}
    section = (build.ROOT / "pyproject.toml").read_text().partition("[tool.hatch.build.targets.sdist]")[2]
    assert set(re.findall('"/([^"]+)"', section)) == {
        top for top in tops if not top.startswith(".")} - {"pyproject.toml"}


def test_it_says_where_things_are(python):
    """All of them, without a question."""
    def ask(*words):
        return package.run(python, "-m", "lazycuda", *words, cwd="/").strip()
    folders = {"--libdir": "lib", "--includedir": "include", "--cmakedir": "lib/cmake/lazycuda",
               "--pkgconfigdir": "lib/pkgconfig",
               **{f"--libdir {major}": f"lib/lazycuda/cuda{major}" for major in build.MAJORS},
               **{f"--compatdir {major}": f"lib/lazycuda/compat{major}" for major in build.MAJORS}}
    said = dict(re.fullmatch(r"(--\w+(?: \d+)?) +(/.*)", line).groups() for line in ask().splitlines())
    assert said == {question: f"{package.site_packages(python)}/lazycuda/{folder}"
                    for question, folder in folders.items()}
    for question, folder in said.items():
        assert ask(*question.split()) == folder and pathlib.Path(folder).is_dir()
    assert ask("--version") == f"lazycuda {distribution.version()}"
    assert package.run(python, "-c", "import lazycuda; print(lazycuda.libdir(13))",
                       cwd="/").strip().endswith("cuda13")


@pytest.mark.parametrize("words", [
    ["--libdir", "10"], ["--includedir", "x"], ["--compatdir"]])
def test_wrong_questions(python, words):
    done = build.run(str(python), "-m", "lazycuda", *words)
    assert done.returncode == 2 and done.stderr and not done.stdout


VERSIONS = {11: "11.8", 12: "12.9", 13: "13.5"}
# Of CUDA's other libraries, without NPP's, nvFatbin's, cuFFTW's and cusolverMg's: docs/reference/package.md says why.
OF_ALL = {"libcufile.so.0", "libcurand.so.10", "libcusparseLt.so.0", "libcudnn.so.9", "libcutensor.so.2",
          "libcutensorMg.so.2", "libnccl.so.2", "libnvToolsExt.so.1", "libnvshmem_host.so.3",
          "libnvvm.so.4"}
OTHERS = {
    11: OF_ALL | {"libcublas.so.11", "libcublasLt.so.11", "libcudnn.so.8", "libcufft.so.10",
                  "libcupti.so.11.8", "libcusolver.so.11",
                  "libcusparse.so.11", "libnvjpeg.so.11"},
    12: OF_ALL | {"libcublas.so.12", "libcublasLt.so.12", "libcudnn.so.8", "libcufft.so.11",
                  "libcupti.so.12", "libcusolver.so.11",
                  "libcusparse.so.12", "libnvjpeg.so.12"},
    13: OF_ALL | {"libcublas.so.13", "libcublasLt.so.13", "libcufft.so.12",
                  "libcupti.so.13", "libcusolver.so.12", "libcusparse.so.12",
                  "libnvjpeg.so.13"}}


@pytest.mark.parametrize("major", sorted(build.MAJORS))
def test_a_program_that_cannot_be_changed(python, world, major):
    """All libraries of a major are in one folder, under their real names."""
    folder = pathlib.Path(package.run(python, "-m", "lazycuda", "--compatdir", str(major),
                                      cwd="/").strip())
    listed = symbols.read().libraries
    assert {path.name for path in folder.iterdir()} == {
        listed[library].soname(symbols.version(VERSIONS[major])) for library in build.LIBRARIES
        if (library, major) != ("nvJitLink", 11)} | OTHERS[major]
    made = build.program(build.TESTS / "linking" / "caller.c", f"-DNAME={CALL['cudart']}",
                         fake("cudart", VERSIONS[major]))
    assert world.run(made, check=False).status == 127
    world.search(folder)
    assert int(world.run(made).out) == MISSING["cudart"]


def test_the_command(python, world):
    command = python.parent / "lazycuda"
    assert "cudart" in world.run(command, "status", check=False).out
    assert world.run(command, "--version").out == package.run(python, "-m", "lazycuda", "--version")
    # Its arguments and its status are the program's.
    assert world.run(command, "audit", "nothing.so", check=False).status == 2


def test_the_binding_finds_the_library_and_isolates(python, world, real):
    """What it needs lies beside it: the library, and the command for a link of its own."""
    toolkit = real("13.5")
    world.search(toolkit.file("nvJitLink").parent)
    code = """if True:
        from lazycuda import link_library
        from lazycuda.link import Linker, PTXSource
        ptx = ".version 7.0\\n.target sm_80\\n.visible .entry k() { ret; }\\n"
        print(Linker("sm_80", isolated=True).add(PTXSource(ptx)).link()[1:4].decode())
        print(link_library.library()._name)
    """
    said = world.run(python, "-c", code).lines
    assert said == ["ELF", f"{package.site_packages(python)}/lazycuda/lib/liblazycuda_link.so"]


def test_the_command_retargets(python, tmp_path, patchelf):
    library = real(tmp_path, "libcudart.so.12", "cudaMalloc", node="libcudart.so.12")
    file = importer(tmp_path, "cudaMalloc", link=[library])
    program = package.site_packages(python) / "lazycuda" / "bin" / "lazycuda"
    for command in (python.parent / "lazycuda", program):
        copy = shutil.copy(file, tmp_path / f"{command.parent.name}.so")
        said = package.run(command, "retarget", "--in-place", copy)
        assert "libcudart.so.12 -> libcudart_stub.so" in said


def pip_wheel(folder, *words, **env):
    said = package.run("sh", "-c", 'exec "$@" 2>&1', "-", sys.executable, "-m", "pip", "wheel", *words,
                       "--no-deps", "--no-index", "--no-build-isolation", "--wheel-dir", folder, build.ROOT,
                       **env)
    return next(folder.glob("*.whl")), said


def test_from_the_tree_with_pip(built, tmp_path):
    """As hatchling alone makes it; where to compile is said by LAZYCUDA_BUILD."""
    with build.locked(build.make_lock(installed.OWN)):
        made, said = pip_wheel(tmp_path, "-v", **package.as_installed())
    assert made.read_bytes() == built.read_bytes()
    assert re.search(r"^ +INSTALL .*libcudart_stub.so$", said, re.M)      # what takes so long


def test_without_flags_it_is_as_small_as_a_release(tmp_path):
    package.need("hatchling")
    made, _ = pip_wheel(tmp_path, "--quiet", LAZYCUDA_BUILD=str(package.MADE / "small"))
    assert made.stat().st_size <= 15_000_000


@pytest.mark.parametrize("machine, arch", [(62, "x86_64"), (183, "aarch64")])
def test_the_machine_of_a_wheel_is_that_of_its_files(tmp_path, machine, arch):
    """Whatever CC is: one that only copies what was compiled for that machine, say."""
    package.need("hatchling")
    stub = tmp_path / "lib" / "libcudart_stub.so"
    stub.parent.mkdir()
    content = bytearray(build.stub("cudart").read_bytes())
    content[18:20] = machine.to_bytes(2, "little")
    stub.write_bytes(content)
    said = package.run(sys.executable, "-c", MACHINE, tmp_path, cwd=build.ROOT, CC="false")
    assert said.strip() == arch


def test_the_oldest_hatchling_that_may_make_it_is_the_one_of_the_tests():
    needed = re.search(r'"hatchling>=([^"]+)"', (build.ROOT / "pyproject.toml").read_text())[1]
    assert f"\nhatchling=={needed}.0\n" in (build.TESTS / "requirements.txt").read_text()
    assert f"| build the wheel | Python 3.8, hatchling {needed} |" in pages.page("packaging.md")


def test_an_editable_installation_is_refused(tmp_path):
    package.need("hatchling")
    done = subprocess.run([sys.executable, "-c", "import sys, hatchling.build; "
                           "hatchling.build.build_editable(sys.argv[1])", tmp_path], cwd=build.ROOT,
                          capture_output=True, text=True)
    assert done.returncode and "cannot be installed editable" in done.stderr


NAMES = {"cuda": "cuInit", "nvml": "nvmlInit_v2"}
SONAMES = {"cuda": "libcuda.so.1", "nvml": "libnvidia-ml.so.1"}


@pytest.mark.parametrize("library", build.DRIVER)
def test_the_stub_of_a_driver_is_taken_in_by_auditwheel_and_finds_it(tmp_path, world, patchelf, debian, library):
    """With its stub a wheel holds all that it needs."""
    package.need("auditwheel")
    module = importer(tmp_path, NAMES[library], link=[build.stub(library)])
    wheel = wheel_files.make(tmp_path, {"pkg/__init__.py": b"", "pkg/module.so": module},
                             tags=f"py3-none-linux_{build.ARCH}")
    made = package.repair(wheel, tmp_path / "repaired", search=build.STUBS)
    site = wheel_files.unpack(made, tmp_path / "site")
    stub, = (site / "pkg.libs").iterdir()
    assert re.fullmatch(build.stub_name(library).replace(".so", r"-[0-9a-f]{8}\.so"), stub.name)
    assert stub.name in elf.dynamic(site / "pkg/module.so")["NEEDED"]
    commands = f"open:{site / 'pkg/module.so'}", f"open:{stub}", f"call:{NAMES[library]}"
    said = world.probe(*commands)
    assert said[0]["error"] is None and said[2]["value"] == {"cuda": 34, "nvml": 12}[library]
    (world.folder("driver") / SONAMES[library]).symlink_to(debian(library))
    world.search(world.root / "driver")
    assert world.probe(*commands)[2]["value"] == {"cuda": 100, "nvml": 9}[library]


MACHINE = """
import pathlib, sys
sys.path.insert(0, "packaging/python")
from hatch_build import CustomBuildHook
print(CustomBuildHook._machine(type("Tree", (), {"root": "."}), pathlib.Path(sys.argv[1])))
"""
