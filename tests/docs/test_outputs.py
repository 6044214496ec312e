# SPDX-License-Identifier: MIT
"""What the pages show is what happens: their commands are run, in order, where a reader
would run them, and what they print is compared (tests/lib/pages.py: how a page shows it)."""
import fcntl
import fnmatch
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile

import pytest

import build
import dlopen_notes
import importer
import installed
import package
import pages
import projects
from fakes import fake
from published import fetch, folder
from readers import Reader, own_files

IN_THE_CLONE = ("README.md", "docs/own-library.md",
                "docs/reference/libraries.md", "docs/packaging.md",
                "docs/reference/new-release.md")
WITH_PIP = ("docs/retarget.md", "docs/new-wheel.md", "examples/wheel/README.md")
ALL = [*pages.PAGES, *pages.MANUALS]

SEVEN = "tests/own_library/test_real.py"

# (page, commands, why they are not run below or what runs them)
NOT_RUN = (
    ("README.md", "make", "the build that is tested; .ci/run does it in a bare root"),
    ("README.md", "make install PREFIX=/opt/lazycuda", "the fixture `tree` does this"),
    ("README.md", "make demo", ".ci/run does it in a bare root"),
    ("README.md", "make test", "runs this test; .ci/run does it in a bare root"),
    ("README.md", "python -c 'import fastkernels'", "test_a_wheel_that_links_the_runtime"),
    ("README.md", "python -c 'import fastkernels; *", "test_the_same_linked_to_the_stub"),
    ("CONTRIBUTING.md", "make", "the build that is tested"),
    ("CONTRIBUTING.md", "make test", "runs this test"),
    ("CONTRIBUTING.md", "python3 tests/run.py *", "runs this test"),
    ("docs/building.md", "nvcc*", "test_an_nvcc_command"),
    ("docs/building.md", "pip install nvidia-*", "tests/toolkit"),
    ("docs/building.md", "lazycuda toolkit *", "tests/toolkit"),
    ("docs/building.md", "cmake -S theirs *", "tests/toolkit"),
    *[("docs/embed.md", f"{words}*", "tests/embed/test_embed.py") for words in (
        "python ", "meson ", "built/app", "rustc ", "./main")],
    ("docs/cpu-only.md", "LAZYCUDA_MAJOR=none python -m pytest", "the tests of a reader's project"),
    ("docs/reference/libraries.md", "make all-stubs", "tests/libraries"),
    ("docs/own-library.md", "lazycuda stub --missing 1 --header*", SEVEN),
    ("docs/packaging.md", "make", "tests/install/test_tree.py"),
    ("docs/packaging.md", "make install *", "tests/install/test_tree.py"),
    ("docs/packaging.md", "make uninstall *", "tests/install/test_tree.py"),
    ("docs/reference/gpu.md", "*", "tests/gpu"),
    ("docs/packaging.md", "make dist", "tests/install/test_tree.py"),
    ("docs/packaging.md", "tar -xzf*", "tests/packages/test_debian.py"),
    ("docs/packaging.md", "cp -r packaging/debian*", "tests/packages/test_debian.py"),
    ("docs/packaging.md", "rpmbuild*", "tests/packages/test_rpm.py"),
    ("docs/packaging.md", "rattler-build*", "tests/packages/test_conda.py"),
    ("docs/reference/new-release.md", "*", "tests/years_ahead"),
    ("docs/troubleshooting.md", "LAZYCUDA_DEBUG=1 python -c*", "the example of the README"),
    ("docs/reference/package.md", "make release", "tests/wheels/test_release.py"),
    ("docs/reference/package.md", "cd build/dist*", "tests/wheels/test_release.py"),
    ("docs/reference/retarget.md", "lazycuda retarget -o out --prefer stub cumm_cu120*",
     "test_a_published_wheel"),
    *[("docs/reference/retarget.md", f"{freezer} *", "tests/retarget_wheels/test_frozen.py")
      for freezer in ("pyinstaller", "python -m nuitka", "cxfreeze")],
)
# Blocks that show something else than commands and files: (page, how it begins, what that is)
OTHER = (
    ("docs/reference/how-it-works.md", "your extension", "a diagram"),
    ("docs/cpu-only.md", "int devices;", "a part of a program"),
    ("docs/from-python.md", "part =", "tests/python/test_others.py"),
    ("docs/questions.md", "lazycuda: cudart: found", "test_the_trace_of_a_search"),
    ("docs/reference/gpu.md", "", "tests/gpu"),
    ("docs/reference/packaging.md", "bin/lazycuda", "test_what_is_installed"),
    ("docs/reference/packaging.md", '[{"soname"', "test_the_notes_that_a_stub_has"),
    ("docs/reference/states.md", "", "tests/states compares all of it"),
    ("docs/reference/retarget.md", "not loaded", "test_what_is_not_here_is_said"),
    ("docs/reference/retarget.md", "requirement nvidia-cuda-runtime-cu12",
     "tests/retarget_wheels/test_requirements.py"),
)
# Without CUDA it is no failure that these say so.
MAY_FAIL = ("lazycuda status", "build/bin/lazycuda status", "lazycuda link",
            "build/bin/lazycuda link", "LD_LIBRARY_PATH=/opt/lazycuda/lib/lazycuda/compat12")


def reason(path, line):
    """Why a command is not run below, or None."""
    return next((why for page, commands, why in NOT_RUN
                 if page == pages.name(path) and fnmatch.fnmatchcase(line, commands)), None)


def to_run(path):
    return [step for step in pages.steps(path)
            if not isinstance(step, pages.Command) or not reason(path, step.line)]


def has_commands(path):
    return any(isinstance(step, pages.Command) for step in to_run(path))


# ---- every command that is shown ----

@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """What the README's `make install` makes, with stubs under the real names."""
    line, = pages.commands(pages.README, "make install")
    prefix = re.fullmatch(r"make install PREFIX=(\S+)", line)[1]
    return installed.install(tmp_path_factory.mktemp("tree"), "COMPAT=12",
                             "TOOLKITS=12", "ALL_STUBS=yes", "COMPAT_WITHOUT=npp%", prefix=prefix)


def clone(folder):
    """The tree as somebody has it who has called `make` in it."""
    for path in build.ROOT.iterdir():
        if path.name not in ("build", ".git"):
            (folder / path.name).symlink_to(path)
    (folder / "build").mkdir()
    for name in ("bin", "lib", "libexec", "share"):
        (folder / "build" / name).symlink_to(build.BUILT / name)


@pytest.fixture
def here():
    """A reader's folder, whose name has no blank wherever the tree lies: make takes none."""
    with tempfile.TemporaryDirectory(prefix="lazycuda-reader-") as folder:
        yield pathlib.Path(folder)


def commands_of(path, here):
    """The folder of the commands that the reader of a page has; fills the reader's own."""
    if pages.name(path) in IN_THE_CLONE:
        clone(here)
        return build.TOOL.parent
    if build.ROOT / "examples" in path.parents:
        shutil.copytree(path.parent, here, dirs_exist_ok=True)
    return "/opt/lazycuda/bin"


def needs_what_it_calls(path):
    """Skips the test where something is missing that a page's commands are made of."""
    words = set(re.findall(r"[\w-]+", " ".join(
        step.line for step in to_run(path) if isinstance(step, pages.Command))))
    words |= {"ninja"} if "meson" in words else set()
    # Its Makefile asks pkg-config.
    words |= {"pkg-config"} if pages.name(path) == "examples/make/README.md" else set()
    for name in sorted(words & {"pkg-config", "cmake", "meson", "ninja"}):
        projects.tool(name)


@pytest.mark.parametrize("path", [path for path in ALL if has_commands(path)
                                  and pages.name(path) not in WITH_PIP], ids=pages.name)
def test_what_a_page_shows_is_what_happens(path, world, tree, here, patchelf):
    needs_what_it_calls(path)
    commands = commands_of(path, here)
    own_files(here)
    world.bind(tree.prefix, "/opt/lazycuda")
    Reader(world, here, PATH=f"{commands}:{os.environ['PATH']}").follow(to_run(path), MAY_FAIL)


def test_every_command_is_run_or_listed_with_its_reason():
    """Each line of the two lists above is of use, and each reason that is a test is there."""
    shown = [(pages.name(path), reason(path, step.line)) for path in ALL
             for step in pages.steps(path) if isinstance(step, pages.Command)]
    assert {(page, why) for page, why in shown if why} == {(page, why) for page, _, why in NOT_RUN}
    for _, _, why in (*NOT_RUN, *OTHER):
        for name in re.findall(r"tests/\S+|test_\w+", why):
            assert (build.ROOT / name).exists() if "/" in name else name in globals(), name


def test_every_block_is_commands_or_a_file_or_known():
    """Else a command that does not begin with $ would be run by nobody."""
    blocks = [(pages.name(path), step.lines[0]) for path in ALL for step in pages.steps(path)
              if isinstance(step, pages.Other)]
    used = {(page, begin) for page, begin, _ in OTHER
            if any(page == there and line.startswith(begin) for there, line in blocks)}
    assert used == {(page, begin) for page, begin, _ in OTHER}
    unknown = [(page, line) for page, line in blocks
               if not any(page == there and line.startswith(begin) for there, begin, _ in OTHER)]
    assert not unknown, "begin commands with `$ `, and a file with a comment that is its name"
    assert not [path for path in pages.PAGES if "```" in path.read_text()]


# ---- pages whose commands need pip ----

# What pip brings there; nothing else is fetched.
FETCHED = ("hatchling", "setuptools", "wheel", "scikit-build-core", "cmake", "ninja", "auditwheel",
           "patchelf!=0.18.0.0", "isal", "nanobind", "pybind11", "meson-python", "nvidia-cuda-runtime-cu12",
           "nvidia-cuda-nvcc-cu12")


def fill_index(folder):
    """What FETCHED names and needs, in the folders in which pip looks for it."""
    done = build.run(sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check",
                     "--dest", folder, *FETCHED)
    if done.returncode:
        pytest.skip(f"pip: {(done.stderr.strip() or 'no reason').splitlines()[-1]}")
    for file in list(folder.iterdir()):
        project = folder / re.sub(r"[-_.]+", "-", file.name.partition("-")[0]).lower()
        project.mkdir(exist_ok=True)
        file.rename(project / file.name)
        with open(project / "index.html", "a") as page:
            page.write(f'<a href="{file.name}">{file.name}</a>\n')


@pytest.fixture(scope="session")
def index():
    """The address of a folder that stands in for PyPI."""
    found = build.BUILD / "tests" / "index"
    with open(f"{found}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        # One that was made when less was fetched is made again.
        if not all((found / name.partition("!")[0]).exists() for name in FETCHED):
            shutil.rmtree(found, ignore_errors=True)
            part = pathlib.Path(tempfile.mkdtemp(dir=found.parent))
            fill_index(part)
            part.rename(found)
    return found.as_uri()


@pytest.fixture
def pip_reader(world, index, tmp_path):
    """A reader in a new environment of Python, in a folder beside the tree's files."""
    if not os.path.exists(f"{sysconfig.get_path('include')}/Python.h"):
        pytest.skip("there is no Python.h")
    if importlib.util.find_spec("ensurepip") is None:
        pytest.skip("this Python has no ensurepip: it makes no environment with pip")
    package.run(sys.executable, "-m", "venv", tmp_path / "venv")
    here = world.folder("lazycuda")
    for name in package.SOURCES + ("README.md", "LICENSE", "examples", "tests", "bench"):
        copy = shutil.copytree if (build.ROOT / name).is_dir() else shutil.copy
        copy(build.ROOT / name, here / name)
    # PIP_FIND_LINKS is the page's.
    (tmp_path / "pip.conf").write_text(f"[global]\nindex-url = {index}\n")
    return lambda where=".": Reader(
        world, here / where, PATH=f"{tmp_path}/venv/bin:/usr/bin:/bin",
        PIP_CONFIG_FILE=str(tmp_path / "pip.conf"))


def test_the_commands_of_the_page_on_wheels(pip_reader):
    if not shutil.which("c++"):
        pytest.skip("there is no C++ compiler")
    reader = pip_reader()
    own_files(reader.folder)
    steps = [step for name in ("retarget.md", "new-wheel.md") for step in to_run(pages.where(name))]
    # Both pages begin with lazycuda's own wheel.
    once = {step.line: step for step in steps if isinstance(step, pages.Command)}
    files = [step for step in steps if isinstance(step, pages.File)]
    reader.follow([*files, *once.values(), *for_cibuildwheel(files)])


def for_cibuildwheel(steps):
    """What it runs in the Python that a wheel is for, with its words replaced."""
    text, = [step.text for step in steps
             if isinstance(step, pages.File) and step.name == "new/pyproject.toml"]
    told = dict(re.findall(r'^([a-z-]+) = "(.*)"$', text.partition("[tool.cibuildwheel.linux]")[2], re.M))
    assert set(told) == {"before-build", "repair-wheel-command"}
    repair = told["repair-wheel-command"].replace("{dest_dir}", "repaired")
    return [pages.Command(line, "") for line in (
        told["before-build"], repair.replace("{wheel}", "built/fastnew-1.0-*.whl"))]


def test_the_commands_of_the_example_of_a_wheel(pip_reader):
    reader = pip_reader("examples/wheel")
    reader.follow(to_run(build.ROOT / "examples" / "wheel" / "README.md"))


# ---- README.md: the extension ----

@pytest.fixture
def extension(tmp_path, python_headers):
    """extension(library) is a folder with fastkernels, linked to that."""
    def make(library):
        made = build.compile("fastkernels.abi3.so", "-shared", "-fPIC", f"-I{python_headers}",
                             build.TESTS / "docs" / "fastkernels.c", library)
        return shutil.copy(made, tmp_path)
    return make


def import_as_shown(world, begin):
    step = pages.shown(pages.README, begin)
    said = world.run(sys.executable, "-c", re.search(r"'(.*)'", step.line)[1], check=False,
                     PYTHONPATH=world.root)
    assert said.status == 1 and pages.is_like(step.output, said.err), said.err


def test_a_wheel_that_links_the_runtime(extension, world):
    extension(fake("cudart", "12.9"))
    import_as_shown(world, "python -c 'import fastkernels'")


def test_the_same_linked_to_the_stub(extension, world):
    extension(build.import_library("cudart", 12))
    world.search(build.STUBS)
    import_as_shown(world, "python -c 'import fastkernels; ")


def test_the_verdict_of_an_audit(world):
    verdict, = re.findall(r'"(runs on [^"]*)"', " ".join(pages.page("README.md").split()))
    file = importer.importer(world.root, "cudaMalloc", "cudaGraphExecGetFlags")
    said = world.cli("audit", file, check=False).out
    assert verdict in " ".join(said.split())


# ---- questions.md ----

def test_the_trace_of_a_search(world):
    shown, = [step.lines for step in pages.steps(pages.where("questions.md")) if isinstance(step, pages.Other)]
    world.search(build.STUBS)
    world.loader(fake("cudart", "12.9"))
    program = build.program(build.ROOT / "examples/hello.c", build.import_library("cudart", 12))
    said = world.run(program, LAZYCUDA_DEBUG="1").err
    assert pages.is_like("\n".join(shown), said), said


# ---- reference/retarget.md ----

@pytest.mark.skipif(build.ARCH != "x86_64", reason="the wheel is for x86-64")
def test_a_published_wheel(tmp_path, patchelf):
    why = fetch("cumm-cu120==0.6.3")
    if why:
        pytest.skip(f"cumm-cu120 could not be fetched: {why}")
    wheel, = folder("cumm-cu120==0.6.3").glob("*.whl")
    (tmp_path / wheel.name).symlink_to(wheel)
    step = pages.shown(pages.where("reference/retarget.md"), "lazycuda retarget -o out --prefer stub cumm_cu120")
    # What is installed has no symbols, and what is built here has.
    said = [line for line in shell(step.line, tmp_path).stdout.splitlines() if "symbols and debug" not in line]
    expected = step.output.splitlines()
    # The page was written with the Python that the wheel is for; no other loads its modules.
    if "-cp{}{}-".format(*sys.version_info) not in wheel.name:
        said, expected = ([line for line in lines if "loaded" not in line]
                          for lines in (said, expected))
    assert pages.is_like(expected[0], said[0]) and said[1:] == expected[1:]


def shell(line, cwd, **env):
    """As somebody types it who has the command, on this machine."""
    path = f"{build.TOOL.parent}:{os.environ['PATH']}"
    done = subprocess.run(["bash", "-c", line], cwd=cwd, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True,
                          env={**projects.clean_environment(), "PATH": path,
                               **{name: str(value) for name, value in env.items()}})
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def test_what_is_not_here_is_said(tmp_path, patchelf):
    line, = [block[0] for block in pages.blocks(pages.page("reference/retarget.md"))
             if block[0].startswith("not loaded")]
    libraries = [importer.real(tmp_path, name, function) for name, function in
                 (("libcudart.so.12", "cudaMalloc"), ("libc10.so", "a"), ("libtorch.so", "b"))]
    file = importer.importer(tmp_path, "cudaMalloc", "a", "b", link=libraries)
    assert line in shell(f"lazycuda retarget -o out {file.name}", tmp_path).stdout


# ---- building, packaging: an installed tree ----

def test_an_nvcc_command(tree, tmp_path, world):
    projects.tool("pkg-config")
    nvcc, major = projects.nvcc()
    line = pages.shown(pages.where("building.md"), "nvcc").line
    shutil.copy(build.ROOT / "examples" / "hello.c", tmp_path / "app.c")
    # As C: CUDA's headers, which nvcc reads for C++, declare the same otherwise.
    line = line.replace("nvcc", f"{nvcc} -x c", 1).replace("app.cu", "app.c")
    shell(line.replace("-stub-12", f"-stub-{major}"), tmp_path, PKG_CONFIG_PATH=tree.pkgconfig)
    said = world.run(tmp_path / "app", check=False)
    assert said.status == 1 and said.out.startswith("cudaRuntimeGetVersion: no usable")


def test_which_packages_there_are(tree):
    text = pages.section(pages.page("reference/building.md"), "## pkg-config")
    listed, base = set(), ""
    for word in re.findall(r"`([\w-]+)`", text.partition("The packages without")[0]):
        base = word.rpartition("-")[0] if not word.startswith("-") else base
        listed.add(base + word if word.startswith("-") else word)
    there = {file.stem for file in tree.pkgconfig.glob("*.pc")}
    libraries = tuple(f"{path.stem}-stub" for path in (build.ROOT / "libraries").glob("*.txt"))
    others = {name for name in there if name.startswith(libraries)} - {"cublas-stub-12"}
    assert len(others) > 100
    assert listed | {"cudart-stub", "nvrtc-stub", "nvjitlink-stub"} == there - others


def test_what_is_installed(tree):
    listed = pages.blocks(pages.section(pages.page("reference/packaging.md"), "## What is installed"))[0]
    for line in listed:
        for words in line.partition("  ")[0].split(", "):
            for name in shell(f"printf '%s\\n' {words}", "/").stdout.splitlines():
                # A name without a folder lies where the one before it does.
                place = os.path.dirname(name) or place
                assert (tree.prefix / place / os.path.basename(name)).exists(), name


def test_the_notes_that_a_stub_has():
    text = pages.section(pages.page("reference/packaging.md"), "## What the stubs open")
    notes = "".join(pages.blocks(text)[0]).replace("][", "]\n[").splitlines()
    assert [entry for note in notes for entry in json.loads(note)] == dlopen_notes.by_section(
        build.stub("cudart"))


def test_the_name_of_the_source_archive():
    name = pages.shown(pages.where("packaging.md"), "make dist").output.strip()
    assert f"echo {name}\n" in build.output("make", "-s", "-n", "-C", build.ROOT, "dist")
