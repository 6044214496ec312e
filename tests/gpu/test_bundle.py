# SPDX-License-Identifier: MIT
"""`make gpu-bundle`, and what its run.sh says where there is no device."""
import re
import shutil
import tarfile

import pytest

import build
import toolkits

VERSIONS = {"11": "11.8", "12": "12.9", "13": "13.5"}
# What these show needs no device.
WITHOUT_DEVICE = {"texts", "dispatch"}


@pytest.fixture(scope="module")
def archive():
    for version in VERSIONS.values():
        why = toolkits.Toolkit(version).why_absent()
        if why:
            pytest.skip(why)
    build.make("gpu-bundle")
    return build.BUILD / "lazycuda-gpu.tar.gz"


@pytest.fixture
def folder(archive, tmp_path):
    with tarfile.open(archive) as packed:
        # Large, and no test here links.
        packed.extractall(tmp_path, [m for m in packed if "libnvJitLink.so" not in m.name])
    return tmp_path / "lazycuda-gpu"


def test_what_is_in_the_archive(archive):
    """As gpu.md has it; of NVIDIA's headers nothing."""
    assert archive.stat().st_size <= 60 * 2**20
    with tarfile.open(archive) as packed:
        names = {member.name.partition("/")[2] for member in packed}
    assert {"run.sh", "LICENSE", "cuda/11.8/libcudart.so.11.0", "cuda/12.9/libcudart.so.12",
            "cuda/13.5/libcudart.so.13"} <= names
    assert not [name for name in names if name.endswith(".h")]


def claims_of(lines, word=""):
    return {line.split()[1].rstrip(":") for line in lines if line.startswith(word)}


def test_where_there_is_no_device_what_needs_one_is_skipped_with_the_reason(folder, world):
    shutil.copy(toolkits.Toolkit("12.9").file("nvJitLink"), folder / "cuda" / "12.9")
    # No program but those of the bundle can be called.
    said = world.run("/bin/sh", folder / "run.sh", PATH="/nowhere", timeout=400)
    lines = said.lines[:-1]
    assert said.err == "" and said.lines[-1] == f"10 passed, 0 failed, {len(lines) - 10} skipped"
    assert len(lines) > 110 and claims_of(lines, "pass ") == WITHOUT_DEVICE
    assert [line for line in lines if line.startswith("skip ") and
            not re.search("no device|no driver|without nvcc", line)] == []
    for version in VERSIONS.values():
        for caller in VERSIONS:
            assert f"skip graphs: on {version}, caller {caller}: no device: cudaGetDeviceCount " \
                "says 35 cudaErrorInsufficientDriver" in lines
