# SPDX-License-Identifier: MIT
"""`make release`, as docs/reference/package.md shows it, with the tools of today."""
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tarfile

import pytest

import build
import distribution
import elf
import package
import pages
import wheel_files

SECTION = "## A release"
NEEDED = {"libc.so.6", "libdl.so.2", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}


def shell(line, cwd):
    """As somebody types it."""
    env = {name: value for name, value in build.without_make().items()
           if name not in ("BUILD", "SOURCE_DATE_EPOCH")}
    done = subprocess.run(["bash", "-c", line], cwd=cwd, env=env, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    package.skip_without_tools(done.stdout)
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def released():
    """{"sdist", "x86_64", "aarch64"}: files"""
    return package.released()


def run_page():
    """What each command of the page prints; all are run in one place, one after another."""
    block, = pages.blocks(pages.section(pages.page("reference/package.md"), SECTION))
    commands = [line.replace("$ ", "", 1) for line in block]
    return dict(zip(commands, (shell(command, build.ROOT) for command in commands)))


def test_the_commands_of_the_page():
    with build.locked(package.MADE / "lock"):
        said = package.release(run_page)
    assert len(said) == 2
    version = distribution.version()
    names = [*(f"lazycuda-{version}-py3-none-manylinux2014_{arch}.manylinux_2_17_{arch}.whl"
               for arch in ("aarch64", "x86_64")), f"lazycuda-{version}.tar.gz"]
    assert re.search(rf"^  RELEASE lazycuda {version} of ", said["make release"], re.M)
    assert re.search(r"^  WITH    .*\bziglang \d", said["make release"], re.M)
    sums = said["cd build/dist && sha256sum -c SHA256SUMS"]
    assert sorted(sums.splitlines()) == sorted(f"{name}: OK" for name in names)
    assert {path.name for path in (build.BUILD / "dist").iterdir()} == {"SHA256SUMS", *names}


@pytest.mark.parametrize("arch", ["x86_64", "aarch64"])
def test_it_is_for_manylinux2014(released, arch):
    """packaging/release.py has looked at its name and its tag."""
    assert not [name for name in wheel_files.read(released[arch]) if ".libs/" in name]
    wheel_files.check_record(released[arch])


@pytest.mark.parametrize("arch, machine", [("x86_64", "X86-64"), ("aarch64", "AArch64")])
def test_its_libraries_are_what_a_build_with_gcc_makes(released, tmp_path, arch, machine):
    tree = wheel_files.unpack(released[arch], tmp_path) / "lazycuda"
    libraries = sorted((tree / "lib").glob("*.so"))
    others = [path.stem for path in (build.ROOT / "libraries").glob("*.txt")]
    assert len(others) > 30
    assert {path.name for path in libraries} == {
        "liblazycuda_link.so", *map(build.stub_name, build.STUBBED),
        *(f"lib{name}_stub.so" for name in others)}
    own = {path.name for path in libraries}
    for path in [*libraries, tree / "bin" / "lazycuda"]:
        dynamic = elf.dynamic(path)
        assert machine in elf.readelf("-h", path)
        assert set(dynamic["NEEDED"]) <= NEEDED | own, path
        assert "GNU_RELRO" in elf.segments(path) and elf.segments(path)["GNU_STACK"] == "RW"
        assert "NOW" in dynamic["FLAGS_1"][0] and "TEXTREL" not in dynamic
        assert "INIT" not in dynamic or path.name == "lazycuda", path
        nodes = {symbol.node for symbol in elf.imports(path)} - {None}
        assert all(distribution_floor(node) for node in nodes), (path, nodes)
        assert ".debug_info" not in elf.readelf("-S", path)


def distribution_floor(node):
    """Whether glibc 2.17 has it, or it is no version of glibc."""
    found = re.fullmatch(r"GLIBC_(\d+)\.(\d+)(\.\d+)?", node)
    return not found or (int(found[1]), int(found[2])) <= (2, 17)


def test_the_sdist_holds_what_is_needed_and_nothing_made(released):
    with tarfile.open(released["sdist"]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"Makefile", "LICENSE", "symbols.txt", "stubs/loader/loader.c", "gen/gen.c", "PKG-INFO",
            "libraries/cublas.txt",
            "packaging/python/hatch_build.py", "packaging/release.py", "tests/run.py"} <= names
    assert not [name for name in names if name.startswith("build/") or "__pycache__" in name]


def test_in_another_folder_it_is_the_same_bytes(released, tmp_path):
    """From the sdist, with the tools that are there; of the two wheels one, which are made alike."""
    with tarfile.open(released["sdist"]) as archive:
        date = max(member.mtime for member in archive.getmembers())
        archive.extractall(tmp_path)
    tree, = tmp_path.iterdir()
    assert tree.name == f"lazycuda-{distribution.version()}"
    (tree / "build" / "release").mkdir(parents=True)
    shutil.copytree(build.BUILD / "release" / "tools", tree / "build" / "release" / "tools",
                    symlinks=True)
    program = tree / "packaging" / "release.py"
    both = 'ARCHES = ("x86_64", "aarch64")\n'
    assert both in program.read_text()
    program.write_text(program.read_text().replace(both, f'ARCHES = ("{build.ARCH}",)\n'))
    shell(f"SOURCE_DATE_EPOCH={date} make release", tree)
    again = tree / "build" / "dist" / released[build.ARCH].name
    assert again.read_bytes() == released[build.ARCH].read_bytes()


# ---- its parts ----

@pytest.fixture
def release(monkeypatch):
    """packaging/release.py, loaded."""
    found = importlib.util.spec_from_file_location("release", build.ROOT / "packaging/release.py")
    loaded = importlib.util.module_from_spec(found)
    monkeypatch.setattr("sys.path", list(sys.path))
    found.loader.exec_module(loaded)
    return loaded


def test_a_wheel_with_a_file_of_another_machine_is_refused(release, tmp_path):
    wheel = package.built()
    release.check_files(wheel, build.ARCH, tmp_path / "right")
    other, = set(release.ARCHES) - {build.ARCH}
    with pytest.raises(release.Failed, match=f"not for {other}"):
        release.check_files(wheel, other, tmp_path / "wrong")


def test_a_wheel_without_a_stub_that_the_tree_has_is_refused(release, tmp_path, monkeypatch):
    """An sdist once left the lists behind."""
    release.check_stubs(package.built())
    monkeypatch.setattr(release, "ROOT", tmp_path)
    (tmp_path / "libraries").mkdir()
    (tmp_path / "libraries" / "cublas.txt").touch()
    (tmp_path / "libraries" / "cunew.txt").touch()
    with pytest.raises(release.Failed, match="has no stub of cunew$"):
        release.check_stubs(package.built())


def test_a_wheel_that_is_too_large_is_refused(release, monkeypatch):
    monkeypatch.setattr(release, "MOST", 10**6)
    with pytest.raises(release.Failed, match="bytes, more than 1000000"):
        release.check_size(package.built())


@pytest.mark.parametrize("name", ["lazycuda-0.1.0-py3-none-linux_x86_64.whl",
                                  "lazycuda-0.0.9-py3-none-manylinux2014_x86_64"
                                  ".manylinux_2_17_x86_64.whl"])
def test_a_wheel_that_is_called_otherwise_is_refused(release, tmp_path, name):
    with pytest.raises(release.Failed, match="not what the wheel should be called"):
        release.check_tag(None, tmp_path / name, "x86_64", "0.1.0")


def test_what_is_there_stays_where_a_check_fails(tmp_path):
    """Without tools there is no release; nor is the last one gone."""
    tree = tmp_path / "tree"
    for part in ("packaging", "tools"):
        shutil.copytree(build.ROOT / part, tree / part)
    dist = tree / "build" / "dist"
    dist.mkdir(parents=True)
    (dist / "older.whl").write_text("")
    done = subprocess.run(
        ["python3", tree / "packaging" / "release.py", tree / "none.tar.gz", "0.1.0", dist],
        env={"PATH": os.environ["PATH"], "PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull,
             "PIP_FIND_LINKS": "/nowhere"},
        stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr.startswith("release: ")
    assert "Traceback" not in done.stderr
    assert [path.name for path in dist.iterdir()] == ["older.whl"]
