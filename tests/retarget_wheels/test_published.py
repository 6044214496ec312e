# SPDX-License-Identifier: MIT
"""Wheels from PyPI: retargeted, installed, and loaded as far as they go without
a GPU, with no CUDA and with each major."""
import platform
import re
import subprocess
import sys

import pytest

import build
import elf
import wheel_files
from published import WHEELS, fetch, folder

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64",
                                reason="the wheels are for x86-64")
REAL = re.compile(r"lib(cudart|nvrtc|nvJitLink|nvrtc-builtins)([-.][0-9a-f]{8})?\.so")
WORLDS = ("none", "11.8", "12.9", "13.5")


@pytest.fixture(params=WHEELS)
def site(request, retarget, tmp_path):
    """Such a wheel, retargeted and installed by pip; with what was said of it."""
    why = fetch(request.param)
    if why:
        pytest.skip(f"{request.param} could not be fetched: {why}")
    wheel, = folder(request.param).glob("*.whl")
    said, = retarget("--relax-requirements", wheel).wheels
    made = retarget.out / wheel.name
    wheel_files.check_record(made)
    installed = tmp_path / "site-packages"
    done = subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index",
         "--no-compile", "--disable-pip-version-check", "--target", installed,
         "--ignore-requires-python", as_installable(made)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return installed, said


def as_installable(wheel):
    """Tagged for any Python, for what is tested is what lies in it."""
    name, version = wheel.name.split("-")[:2]
    any_python = wheel.with_name(f"{name}-{version}-py3-none-any.whl")
    return wheel if wheel == any_python else wheel.rename(any_python)


def stand_ins(world, files, installed):
    """Empty libraries for what is neither there nor ours: torch, cuBLAS, ffmpeg."""
    there = {path.name for path in installed.rglob("*.so*")}
    known = world.run("/sbin/ldconfig", "-p", check=False).out
    missing = {name for file in files for name in elf.dynamic(file).get("NEEDED", ())
               if name not in there and not REAL.match(name) and "_stub" not in name
               and name not in known and not re.match(
                   r"lib(c|m|dl|rt|pthread|gcc_s|stdc\+\+)\.so|ld-linux", name)}
    empty = world.folder("stand-ins")
    (empty / "empty.c").write_text("")
    for name in missing:
        build.output(*build.CC, "-shared", "-fPIC", f"-Wl,-soname,{name}", "-o", empty / name,
                     empty / "empty.c")
    return missing


def undefined_of_ours(said):
    return [line for line in said.splitlines()
            if re.search("not defined|not found|undefined symbol|no version", line)
            and re.search("lib(cudart|nvrtc|nvJitLink)", line)]


def test_retargeted_and_loaded(site, world, real):
    installed, said = site
    files = [installed / file["file"] for file in said["files"]]
    assert files and said["outcome"] == "retargeted"
    for file in files:
        needed = elf.dynamic(file)["NEEDED"]
        assert not [name for name in needed if REAL.match(name)]
        assert [name for name in needed if "_stub" in name]
        assert elf.imports(file)        # what BFD tools see
    left = [path for path in installed.rglob("lib*.so*") if REAL.match(path.name)]
    assert not left
    missing = stand_ins(world, files, installed)
    world.search(world.root / "stand-ins")
    world.search(installed / "torchaudio/lib")
    loaded = set()
    for version in WORLDS:
        if version != "none":
            toolkit = real(version)
            (installed / "nvidia").unlink(missing_ok=True)
            (installed / "nvidia").symlink_to(toolkit.site / "nvidia")
        for file in files:
            # What ld.so would do: every name of ours is there, in its version.
            trace = world.run("env", "LD_TRACE_LOADED_OBJECTS=1", "LD_WARN=1", "LD_BIND_NOW=1",
                              interpreter(), file, check=False)
            assert not undefined_of_ours(trace.out + trace.err)
            assert not [line for line in trace.lines if "_stub" in line and "not found" in line]
            if is_loaded(world.run(sys.executable, "-I", "-S", "-c", LOAD, file, check=False)):
                loaded.add(file)
    print(f"{len(loaded)} of {len(files)} files loaded, with {len(missing)} libraries stood in for")


LOAD = "import ctypes, os, sys; ctypes.CDLL(sys.argv[1], os.RTLD_LAZY)"


def is_loaded(done):
    """Loaded, or ended by a variable, class or function of a library that is
    stood in for; anything else is our fault."""
    if done.status == 0:
        return True
    undefined = re.search(r"undefined symbol: (\w+)", done.err)
    assert undefined, done.err
    assert not re.match("_*(cuda|nvrtc|nvJitLink)", undefined[1]), done.err
    return False


def interpreter():
    return re.search(r"interpreter: (\S+)\]", elf.readelf("-l", sys.executable))[1]
