# SPDX-License-Identifier: MIT
"""`make gpu-bundle`, and what its run.sh says where there is no device, and on runtimes of
ours that need none."""
import re
import shutil
import tarfile

import pytest

import build
import fakes
import toolkits
from fakes_of_runtime import driver, runtime

VERSIONS = {"11": "11.8", "12": "12.9", "13": "13.5"}
ARCHITECTURES = "75 80 86 87 89 90 100 103 120".split()
# What needs more of a runtime than memory and kernels that are known by name, or of time.
ON_DEVICES_ALONE = {"processes", "figures", "first", "context", "names", "nvml", "dispatch"}
ALONE = {"refusals"}
CLAIMS = ["properties", "memory", "streams", "pools", "code", "plugins", "errors", "graphs",
          "managed", "textures"]


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


@pytest.fixture
def faked(folder, world):
    """With runtimes that need no device; a function that runs claims."""
    for version in VERSIONS.values():
        file = runtime(version)
        shutil.copy(file, folder / "cuda" / version / file.name)
    world.loader(fakes.driver("13.5", init=0))
    return lambda *claims, **options: run(world, folder, *claims, **options)


@pytest.fixture
def with_driver(folder, world):
    """With a driver and an NVML that need no device; a function that runs claims."""
    shutil.copy(toolkits.Toolkit("12.9").file("nvJitLink"), folder / "cuda" / "12.9")
    # What the linker of that driver makes.
    cubin = (build.BUILD / "gpu" / "work" / "kernels_90.cubin").read_bytes()
    world.loader(driver("cuda", cubin), driver("nvml"))
    return lambda *claims: run(world, folder, *claims)


def run(world, folder, *claims, quiet=True):
    """run.sh where no program but those of the bundle can be called."""
    said = world.run("/bin/sh", folder / "run.sh", *claims, check=False, PATH="/nowhere",
                     timeout=400)
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
    for library in build.STUBBED:
        assert f"lib/{build.stub_name(library)}" in names
    for arch in ARCHITECTURES:
        assert {f"code/linked_{arch}.cubin", f"code/linked_{arch}.ltoir"} <= names
    assert {f"code/linked_all.{suffix}" for suffix in "ptx fatbin o a cu".split()} <= names
    # A program for each source, caller and side; of NVIDIA's headers nothing.
    sources = {path.stem for path in (build.TESTS / "gpu" / "runtime").glob("*.c")} - {"plugin"}
    assert len(sources) > 10
    assert {f"bin/{major}/{source}.{side}" for major in VERSIONS for source in sources
            for side in ("stub", "direct")} <= names
    assert not [name for name in names if name.endswith(".h")]


def test_where_there_is_no_device_all_is_skipped_with_the_reason(folder, world):
    numbers, lines = run(world, folder)
    assert numbers[:2] == [0, 0] and numbers[2] == len(lines) > 100
    assert [line for line in lines if not re.search("no device|no driver", line)] == []
    said = {line.split()[1].rstrip(":") for line in lines}
    assert said == set(CLAIMS) | ALONE | ON_DEVICES_ALONE
    for version in VERSIONS.values():
        for caller in VERSIONS:
            assert f"skip graphs: on {version}, caller {caller}: no device: cudaGetDeviceCount " \
                "says 35 cudaErrorInsufficientDriver" in lines


def test_every_claim_of_the_runtime_comes_to_its_end_on_fakes(faked):
    numbers, lines = faked(*CLAIMS)
    assert [line for line in lines if not line.startswith("pass ")] == []
    # Nine pairs of each, and code twice.
    assert len(lines) == 9 * (len(CLAIMS) + 1)
    # Within a major all that is printed is compared.
    for line in lines:
        version, caller = re.search(r"on (\d+)\.\d+, caller (\d+)", line).groups()
        if version == caller:
            assert line.endswith("0 different, 0 in one major alone"), line


def test_what_the_stub_refuses_among_the_runtimes_own_errors(faked):
    assert faked("refusals")[1] == [
        "pass refusals: on 11.8, caller 13: 12 right, 0 wrong"]


def test_only_the_claims_that_are_asked_for(faked):
    assert len(faked("pools")[1]) == 9
    assert faked("nothing-of-the-kind") == ([0, 0, 0], [])


def test_a_value_that_the_stub_changes_fails(faked, folder):
    file = runtime("12.9", "-DDISTURBED")
    shutil.copy(file, folder / "cuda" / "12.9" / file.name)
    numbers, lines = faked("properties")
    assert numbers == [6, 3, 0]
    for line in lines:
        if "on 12.9" in line:
            assert re.match(r"fail properties: .*: limits\.0: 101, directly 100; .* 3 different", line)


def test_a_crash_of_one_caller_is_no_matter_of_the_others(faked, folder):
    program = folder / "bin" / "12" / "pools.stub"
    program.write_text("#!/bin/sh\nkill -SEGV $$\n")
    numbers, lines = faked("pools")
    assert numbers == [6, 3, 0]
    assert [line for line in lines if line.startswith("fail ")] == [
        f"fail pools: on {version}, caller 12: the call through the stub was ended by signal 11 "
        "(Segmentation fault)" for version in VERSIONS.values()]


def test_what_the_bundle_lacks(faked, folder):
    (folder / "cuda" / "13.5" / "libcudart.so.13").unlink()
    assert faked("pools")[0] == [6, 0, 1]
    (folder / "bin" / "11" / "pools.stub").unlink()
    numbers, lines = faked("pools", quiet=False)
    assert numbers == [4, 2, 1]
    assert "fail pools: on 11.8, caller 11: the call through the stub ended with status 127" in lines
    (folder / "bin" / "judge").write_text("#!/bin/sh\nexit 2\n")
    assert faked("pools")[0] == [0, 2, 1]


def test_a_program_alone_may_not_skip_where_a_device_was_seen(faked, folder):
    (folder / "bin" / "12" / "figures.stub").write_text("#!/bin/sh\necho skip no device\n")
    _, lines = faked("figures")
    assert lines[1] == "skip figures: on 12.9, caller 12: no device"
    _, lines = faked("pools", "figures")
    assert "fail figures: on 12.9, caller 12: no device (but there is a device)" in lines


def test_the_claims_of_the_driver_come_to_their_end_on_fakes(with_driver):
    numbers, lines = with_driver("context", "names", "nvml")
    assert numbers == [3, 0, 0], lines
    assert all(line.endswith(" 0 different, 0 in one major alone") for line in lines)
    # Every name, and for five versions.
    assert int(re.search(r"names: (\d+) equal", lines[1])[1]) > 6 * 700


def test_a_value_of_nvml_that_the_stub_changes_fails(with_driver, world):
    world.loader(driver("nvml", disturbed=True))
    assert with_driver("nvml")[1] == [
        "fail nvml: device-0.NumGpuCores: 0 1, directly 0 0; 72 equal, 1 different, "
        "0 in one major alone"]


def test_every_kind_of_code_is_linked_by_both(with_driver, folder):
    numbers, (line,) = with_driver("dispatch")
    assert numbers == [1, 0, 0], line
    # Six kinds by two linkers, the container, and verdicts on three toolkits' PTX and cubins.
    assert line.startswith(f"pass dispatch: {1 + 6 * 2 + 1 + 3 * 2} right, 0 wrong; ")
    assert re.findall(r"not shown: (\S+)", line) == ["source-by-nvjitlink", "source-by-driver"]
    for file in (folder / "code").glob("helper_90.ltoir"):
        file.write_bytes(b"no code")
    numbers, (line,) = with_driver("dispatch")
    assert numbers == [0, 1, 0] and "ltoir-by-nvjitlink.linked UNKNOWN_KIND" in line, line
