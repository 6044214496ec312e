# SPDX-License-Identifier: MIT
"""`make gpu-bundle`, and what its run.sh says where there is no device."""
import os
import re
import shutil
import subprocess
import tarfile

import pytest

import build
import nvcc_of_majors
import symbols
import toolkits

VERSIONS = {"11": "11.8", "12": "12.9", "13": "13.5"}
ARCHITECTURES = "75 80 86 87 89 90 100 103 120".split()
# What these show needs no device.
WITHOUT_DEVICE = {"texts", "dispatch"}
CLAIMS = WITHOUT_DEVICE | {
    "properties", "memory", "streams", "pools", "code", "plugins", "copies", "newer", "semaphores",
    "errors", "graphs", "managed", "textures", "processes", "exits", "figures", "first", "opened", "context",
    "names", "nvml", "refusals", "references",
    # What nvcc has compiled.
    "compiled", "per-thread", "separate", "extensions"}


@pytest.fixture(scope="module")
def archive(real_toolkits):
    build.make("gpu-bundle")
    return build.BUILD / "lazycuda-gpu.tar.gz"


@pytest.fixture(scope="module")
def real_toolkits():
    for version in VERSIONS.values():
        why = toolkits.Toolkit(version).why_absent()
        if why:
            pytest.skip(why)


@pytest.fixture
def folder(archive, tmp_path):
    with tarfile.open(archive) as packed:
        # Large, and no test here links.
        packed.extractall(tmp_path, [m for m in packed if "libnvJitLink.so" not in m.name])
    return tmp_path / "lazycuda-gpu"


def run(world, folder, *claims, quiet=True, **env):
    """run.sh where no program but those of the bundle can be called."""
    said = world.run("/bin/sh", folder / "run.sh", *claims, check=False, PATH="/nowhere",
                     timeout=400, **env)
    assert not quiet or said.err == "", said.err
    numbers = re.fullmatch(r"(\d+) passed, (\d+) failed, (\d+) skipped", said.lines[-1])
    numbers = [int(number) for number in numbers.groups()]
    words = [line.split()[0] for line in said.lines[:-1]]
    assert [words.count(word) for word in ("pass", "fail", "skip")] == numbers
    assert said.status == (1 if numbers[1] else 0)
    return numbers, said.lines[:-1]


def test_what_is_in_the_archive(archive):
    with tarfile.open(archive) as packed:
        names = {member.name.partition("/")[2] for member in packed}
        assert {member.name.partition("/")[0] for member in packed} == {"lazycuda-gpu"}
        assert {(member.uid, member.mtime) for member in packed} == {(0, 0)}
    assert archive.stat().st_size <= 60 * 2**20
    assert {"run.sh", "LICENSE", "bin/judge", "cuda/11.8/libcudart.so.11.0",
            "cuda/12.9/libcudart.so.12", "cuda/13.5/libcudart.so.13"} <= names
    assert len([name for name in names if "libnvJitLink.so" in name]) == 1
    assert {"lib/libcudart-0001.so", "lib/libcudart-0002.so"} <= names
    for library in build.STUBBED:
        assert f"lib/{build.stub_name(library)}" in names
    for arch in ARCHITECTURES:
        assert {f"code/linked_{arch}.cubin", f"code/linked_{arch}.ltoir"} <= names
    assert {f"code/linked_all.{suffix}" for suffix in "ptx fatbin o a cu".split()} <= names
    # A program for each source, caller and side; of NVIDIA's headers nothing.
    sources = {path.stem for path in (build.TESTS / "gpu" / "runtime").glob("*.c")} - {"plugin"}
    assert len(sources) > 10
    sources |= {"compiled", "per-thread", "separate"} if "code/no-nvcc" not in names else set()
    assert {f"bin/{major}/{source}.{side}" for major in VERSIONS for source in sources
            for side in ("stub", "direct")} <= names
    assert not [name for name in names if name.endswith(".h")]


def test_what_is_up_to_date_is_not_made_again(archive):
    def makes_it(*words):
        with build.locked(build.make_lock()):
            done = subprocess.run(["make", "-C", build.ROOT, "gpu-bundle", "PYTHON=echo", *words],
                                  capture_output=True, text=True, check=True)
        return "bundle.py" in done.stdout

    without = archive.parent / "gpu" / "lazycuda-gpu" / "code" / "no-nvcc"
    assert makes_it() == without.exists()       # there may be an nvcc now
    for changed in ("tests/gpu/run.sh", "tests/gpu/kernels.cu", "tests/gpu/runtime/code.h",
                    "tests/gpu/bundle.py", "symbols.txt", "build/lib/cuda12/libcudart_stub.so"):
        assert makes_it("-W", changed), changed
    # One without what nvcc compiles, and one that was taken away.
    if not without.exists():
        without.write_text("why\n")
        try:
            assert makes_it()
        finally:
            without.unlink()
        assert not makes_it()
    folder = archive.parent / "gpu" / "lazycuda-gpu"
    folder.rename(folder.with_name("moved"))
    try:
        assert makes_it()
    finally:
        folder.with_name("moved").rename(folder)


def test_every_field_of_a_device_is_compared():
    source = (build.TESTS / "gpu" / "runtime" / "properties.c").read_text()
    fields = {name.partition(".")[0]
              for name, *_ in symbols.read().libraries["cudart"].fields["cudaDeviceProp"]}
    # The first two nobody fills on Linux.
    assert {name for name in fields if not re.search(rf"\b{name}\b", source)} == {
        "luid", "luidDeviceNodeMask", "reserved", "reserved1", "reserved2"}


def test_copies_of_the_stub_and_what_needs_them_have_other_names(folder):
    for copy, name in (("a", b"libcudart-0001.so"), ("b", b"libcudart-0002.so")):
        # In .rodata the stub keeps the name that it was built with.
        assert (folder / "lib" / name.decode()).read_bytes().count(name) == 1
        for major in VERSIONS:
            plugin = (folder / "bin" / major / f"copy-{copy}.stub.so").read_bytes()
            assert name in plugin and b"libcudart_stub.so" not in plugin


def claims_of(lines, word=""):
    return {line.split()[1].rstrip(":") for line in lines if line.startswith(word)}


def test_where_there_is_no_device_what_needs_one_is_skipped_with_the_reason(folder, world):
    shutil.copy(toolkits.Toolkit("12.9").file("nvJitLink"), folder / "cuda" / "12.9")
    numbers, lines = run(world, folder)
    assert numbers[:2] == [9 + 1, 0] and numbers[2] == len(lines) - 10 > 100
    assert claims_of(lines, "pass ") == WITHOUT_DEVICE
    assert [line for line in lines if line.startswith("skip ") and
            not re.search("no device|no driver|without nvcc", line)] == []
    assert claims_of(lines) == CLAIMS
    for version in VERSIONS.values():
        for caller in VERSIONS:
            assert f"skip graphs: on {version}, caller {caller}: no device: cudaGetDeviceCount " \
                "says 35 cudaErrorInsufficientDriver" in lines


def test_in_a_folder_of_any_name(folder, world, tmp_path):
    place = tmp_path / "it's a \"place\" $HOME `x`"
    place.mkdir()
    folder.rename(place / folder.name)
    numbers, lines = run(world, place / folder.name, "texts", "pools")
    assert claims_of(lines, "pass ") == {"texts"} and numbers[1:] == [0, 9], lines
    place = place.rename(tmp_path / "a:b")
    assert run(world, place / folder.name, "pools") == ([0, 1, 0], [
        "fail bundle: its folder's name has : or ;, which end a name in LD_LIBRARY_PATH: "
        f"{place / folder.name}"])


def test_an_nvcc_that_compiles_nothing_says_why(archive, monkeypatch, tmp_path):
    fetched = build.BUILD / "nvcc"
    why = nvcc_of_majors.fetch(fetched)
    if why:
        pytest.skip(why)
    nvcc = nvcc_of_majors.Nvcc(fetched, toolkits.Toolkit("12.9"), tmp_path / "nvcc of 12")
    assert nvcc.why_not() is None
    gcc = tmp_path / "gcc"
    gcc.write_text("#!/bin/sh\necho 'math.h: error: sinpi is declared twice' >&2\nexit 1\n")
    gcc.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert nvcc.why_not() == \
        "with CUDA 12.9 it compiles nothing: math.h: error: sinpi is declared twice"
