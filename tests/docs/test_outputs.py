# SPDX-License-Identifier: MIT
"""What the pages show is what the commands print, and every command they show can be run."""
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig

import pytest

import build
import dlopen_notes
import elf
import importer
import installed
import pages
import projects
import wheel_files
from fakes import fake
from published import fetch, folder

CONTAINERS = build.TESTS / "inspection" / "made_up.py"
WHEEL = "fastkernels-1.0-cp311-cp311-linux_x86_64.whl"
# The pages that show what commands print.
PAGES = ("README.md", "wheels.md", "building.md", "packaging.md")
SHOWN = [(name, command, output) for name in PAGES
         for command, output in pages.sessions(pages.page(name)) if output]
OF_THE_COMMAND = [(name, command) for name in ("README.md", *(path.name for path in
                                                              sorted(pages.DOCS.glob("*.md"))
                                                              if path.name != "own-library.md"))
                  for command in pages.commands(pages.page(name), "lazycuda", "build/bin/lazycuda")
                  if "cumm_cu120" not in command]      # test_a_published_wheel
# What own-library.md shows needs libraries to be made of: tests/own_library.


def shown(name, begin):
    found, = [(command, output) for page, command, output in SHOWN
              if page == name and command.startswith(begin)]
    return found


def shell(line, cwd, check=True, **env):
    """As somebody types it who has the command."""
    path = f"{build.TOOL.parent}:{os.environ['PATH']}"
    done = subprocess.run(["bash", "-c", line], cwd=cwd, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True,
                          env={**projects.clean_environment(), "PATH": path,
                               **{name: str(value) for name, value in env.items()}})
    assert not check or done.returncode == 0, done.stdout + done.stderr
    return done


# ---- README.md: the extension ----

@pytest.fixture
def extension(tmp_path):
    """extension(library) is a folder with fastkernels, linked to that."""
    include = sysconfig.get_path("include")
    if not os.path.exists(f"{include}/Python.h"):
        pytest.skip("there is no Python.h")

    def make(library):
        made = build.compile("fastkernels.abi3.so", "-shared", "-fPIC", f"-I{include}",
                             build.TESTS / "docs" / "fastkernels.c", library)
        return shutil.copy(made, tmp_path)
    return make


def test_a_wheel_that_links_the_runtime(extension, world):
    extension(fake("cudart", "12.9"))
    command, output = shown("README.md", "python -c 'import fastkernels'")
    code = re.search(r"'(.*)'", command)[1]
    said = world.run(sys.executable, "-c", code, check=False, PYTHONPATH=world.root)
    assert said.status == 1 and said.err.splitlines()[-1] == output


def test_the_same_linked_to_the_stub(extension, world):
    extension(build.import_library("cudart", 12))
    world.search(build.STUBS)
    command, output = shown("README.md", "python -c 'import fastkernels; ")
    code = re.search(r"'(.*)'", command)[1]
    said = world.run(sys.executable, "-c", code, check=False, PYTHONPATH=world.root)
    assert said.status == 1 and pages.is_like(output, said.err), said.err


def test_the_verdict_of_an_audit(world):
    verdict, = re.findall(r'"(runs on [^"]*)"', " ".join(pages.page("README.md").split()))
    file = importer.importer(world.root, "cudaMalloc", "cudaInitDevice")
    assert pages.is_like(verdict, world.cli("audit", file, check=False).out)


def test_a_new_build(tmp_path):
    command, = pages.commands(pages.page("README.md"), "cc")
    command = command.replace("...", f"{projects.PROJECT}/app.c -o {tmp_path}/app")
    shell(command, build.ROOT)
    assert elf.imports(tmp_path / "app")


# ---- every command that is shown ----

@pytest.fixture
def workshop(tmp_path):
    """A folder with every file that the commands of the pages name."""
    spec = importlib.util.spec_from_file_location("inspection_containers", CONTAINERS)
    containers = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(containers)
    real = importer.real(tmp_path, "libcudart.so.12", "cudaMalloc", node="libcudart.so.12")
    module = importer.importer(tmp_path, "cudaMalloc", link=[real])
    (tmp_path / "dist").mkdir()
    wheel_files.make(tmp_path / "dist", {"mine/native.so": module}, name="mine")
    made = wheel_files.make(tmp_path, {"fastkernels.abi3.so": module}, name="fastkernels",
                            tags="cp311-cp311-linux_x86_64")
    made.rename(tmp_path / "dist" / WHEEL)
    code = containers.entry(containers.PTX, containers.ptx(), version=(8, 0))
    (tmp_path / "kernels.fatbin").write_bytes(containers.fatbin(code))
    (tmp_path / "kernels.s").write_text('.section .nv_fatbin,"a"\n.incbin "kernels.fatbin"\n')
    subprocess.run([*build.CC, "-c", "kernels.s", "-o", "kernels.o"], cwd=tmp_path, check=True)
    (tmp_path / "helper.ptx").write_text(".version 8.0\n.target sm_80\n.address_size 64\n")
    (tmp_path / "main.cu").write_text("__global__ void kernel() {}\n")
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "bin").symlink_to(build.TOOL.parent)
    return tmp_path


@pytest.mark.parametrize("page, command", [
    pytest.param(*one, id=": ".join(one)) for one in OF_THE_COMMAND])
def test_a_command_can_be_run(workshop, patchelf, page, command, world):
    path = f"{build.TOOL.parent}:{os.environ['PATH']}"
    # Without CUDA it is no failure that status and link say so.
    can_fail = re.search(r"lazycuda (status|link)\b", command)
    if " out/" in command:
        world.run("bash", "-c", "lazycuda retarget -o out dist/mine-1.0-*.whl", PATH=path)
    said = world.run("bash", "-c", command, check=False, PATH=path)
    assert said.status in ((0, 1) if can_fail else (0,)), said.out + said.err
    assert "usage:" not in said.err


def test_every_output_that_is_shown_is_looked_at():
    looked_at = (("README.md", "python -c 'import fastkernels'"),
                 ("README.md", "python -c 'import fastkernels; fastkernels.run()'"),
                 ("wheels.md", PUBLISHED[0]))
    assert sorted((page, command) for page, command, _ in SHOWN) == sorted(looked_at)


# ---- wheels.md ----

PUBLISHED = shown("wheels.md", "lazycuda retarget -o out cumm_cu120")


@pytest.mark.skipif(build.ARCH != "x86_64", reason="the wheel is for x86-64")
def test_a_published_wheel(tmp_path, patchelf):
    why = fetch("cumm-cu120==0.6.3")
    if why:
        pytest.skip(f"cumm-cu120 could not be fetched: {why}")
    wheel, = folder("cumm-cu120==0.6.3").glob("*.whl")
    (tmp_path / wheel.name).symlink_to(wheel)
    command, output = PUBLISHED
    said = shell(command, tmp_path).stdout.splitlines()
    expected = output.splitlines()
    assert pages.is_like(expected[0], said[0]) and said[1:] == expected[1:]


def test_what_is_not_here_is_said(tmp_path, patchelf):
    line, = [block[0] for block in pages.blocks(pages.page("wheels.md"))
             if block[0].startswith("not loaded")]
    libraries = [importer.real(tmp_path, name, function) for name, function in
                 (("libcudart.so.12", "cudaMalloc"), ("libc10.so", "a"), ("libtorch.so", "b"))]
    file = importer.importer(tmp_path, "cudaMalloc", "a", "b", link=libraries)
    assert line in shell(f"lazycuda retarget -o out {file.name}", tmp_path).stdout


# ---- building.md, packaging.md: an installed tree ----

@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    return installed.install(tmp_path_factory.mktemp("tree"), "COMPAT=12")


@pytest.fixture
def project(tmp_path):
    shutil.copy(projects.PROJECT / "app.c", tmp_path)
    return tmp_path


def test_a_compile_command(tree, project):
    projects.tool("pkg-config")
    command, = pages.commands(pages.page("building.md"), "cc app.c")
    shell(f"{command} -o app", project, PKG_CONFIG_PATH=tree.pkgconfig)
    assert (project / "app").exists()


def test_an_nvcc_command(tree, project):
    projects.tool("pkg-config")
    nvcc, _ = projects.nvcc()
    command, = pages.commands(pages.page("building.md"), "nvcc")
    (project / "app.cu").write_text("int main() { return cudaDeviceSynchronize(); }\n")
    shell(command.replace("nvcc", str(nvcc), 1) + " -o app", project,
          PKG_CONFIG_PATH=tree.pkgconfig)
    assert (project / "app").exists()


def test_the_major_of_a_package_as_a_variable(tree, project):
    projects.tool("pkg-config")
    command, = pages.commands(pages.page("building.md"), "pkg-config")
    assert "cuda12" in shell(command, project, PKG_CONFIG_PATH=tree.pkgconfig).stdout


def test_what_the_flags_are(tree, project):
    projects.tool("pkg-config")
    text = pages.section(pages.page("building.md"), "## What the flags are")
    expected = " ".join(pages.blocks(text)[0])
    said = shell("pkg-config --libs cudart-stub-12", project, PKG_CONFIG_PATH=tree.pkgconfig).stdout
    lib = str(tree.libdir)
    said = said.replace(f"{lib}/pkgconfig/..", lib).replace(lib, "/opt/lazycuda/lib")
    assert said.split() == expected.split()


def test_which_packages_there_are(tree):
    text = pages.section(pages.page("building.md"), "## pkg-config")
    listed, base = set(), ""
    for word in re.findall(r"`([\w-]+)`", text.partition("The packages without")[0]):
        base = word.rpartition("-")[0] if not word.startswith("-") else base
        listed.add(base + word if word.startswith("-") else word)
    assert listed | {"cudart-stub", "nvrtc-stub", "nvjitlink-stub"} == {
        file.stem for file in tree.pkgconfig.glob("*.pc")}


def test_what_is_installed(tree):
    listed = pages.blocks(pages.section(pages.page("packaging.md"), "## What is installed"))[0]
    for line in listed:
        for words in line.partition("  ")[0].split(", "):
            for name in shell(f"printf '%s\\n' {words}", "/").stdout.splitlines():
                # A name without a folder lies where the one before it does.
                place = os.path.dirname(name) or place
                assert (tree.prefix / place / os.path.basename(name)).exists(), name


def test_the_notes_that_a_stub_has():
    text = pages.section(pages.page("packaging.md"), "## What the stubs open")
    notes = "".join(pages.blocks(text)[0]).replace("][", "]\n[").splitlines()
    assert [entry for note in notes for entry in json.loads(note)] == dlopen_notes.by_section(
        build.stub("cudart"))


def test_the_name_of_the_source_archive():
    name, = re.findall(r"^    make dist +(\S+)$", pages.page("packaging.md"), re.M)
    assert f"echo {name}\n" in build.output("make", "-s", "-n", "-C", build.ROOT, "dist")
