# SPDX-License-Identifier: MIT
"""`make gpu-bundle`, and what its run.sh says where there is no device, and on runtimes of
ours that need none."""
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
from fakes_of_runtime import driver, runtime

VERSIONS = {"11": "11.8", "12": "12.9", "13": "13.5"}
ARCHITECTURES = "75 80 86 87 89 90 100 103 120".split()
# What needs more of a runtime than memory and kernels that are known by name, or of time.
ON_DEVICES_ALONE = {"figures", "first", "opened", "context", "names", "nvml", "dispatch"}
ALONE = {"refusals", "references"}
# What these show needs no device.
WITHOUT_DEVICE = {"texts", "dispatch"}
CLAIMS = ["texts", "properties", "memory", "streams", "pools", "code", "plugins", "copies",
          "newer", "semaphores", "errors", "graphs", "managed", "textures", "processes"]
# What nvcc has compiled.
COMPILED = ["compiled", "per-thread", "separate", "extensions"]
# On a runtime of 11.
REFUSED = {("with_parameters", "refused"), ("edge_data", "refused"), ("libraries", "refused")}
TWICE = ["code", "compiled", "separate"]        # with lazy and with eager loading


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
    world.loader(driver("cuda", version=13050))
    return lambda *claims, **options: run(world, folder, *claims, **options)


@pytest.fixture
def with_driver(folder, world):
    """With a driver and an NVML that need no device; a function that runs claims."""
    shutil.copy(toolkits.Toolkit("12.9").file("nvJitLink"), folder / "cuda" / "12.9")
    # What the linker of that driver makes.
    cubin = (build.BUILD / "gpu" / "work" / "kernels_90.cubin").read_bytes()
    world.loader(driver("cuda", cubin), driver("nvml"))
    return lambda *claims: run(world, folder, *claims)


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

    assert not makes_it()
    for changed in ("tests/gpu/run.sh", "tests/gpu/kernels.cu", "tests/gpu/runtime/code.h",
                    "tests/gpu/bundle.py", "symbols.txt", "build/lib/cuda12/libcudart_stub.so"):
        assert makes_it("-W", changed), changed
    assert not makes_it("-W", "tests/gpu/fake_runtime.c")
    # One without what nvcc compiles, and one that was taken away.
    without = archive.parent / "gpu" / "lazycuda-gpu" / "code" / "no-nvcc"
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
    assert claims_of(lines) == {*CLAIMS, *COMPILED} | ALONE | ON_DEVICES_ALONE
    for version in VERSIONS.values():
        for caller in VERSIONS:
            assert f"skip graphs: on {version}, caller {caller}: no device: cudaGetDeviceCount " \
                "says 35 cudaErrorInsufficientDriver" in lines


@pytest.fixture
def nvcc(folder):
    """Skips where the bundle is without what nvcc compiles."""
    without = folder / "code" / "no-nvcc"
    if without.exists():
        pytest.skip(without.read_text().strip())


def come_to_their_end(lines, claims):
    """Every part of every program compares something: none is given up, but what the stub
    refuses on an older runtime."""
    assert [line for line in lines if not line.startswith("pass ")] == []
    # Nine pairs of each.
    assert len(lines) == 9 * (len(claims) + len(set(claims) & set(TWICE)))
    for line in lines:
        version, caller = re.search(r"on (\d+)\.\d+, caller (\d+)", line).groups()
        # Within a major all that is printed is compared.
        if version == caller:
            assert line.endswith("0 different, 0 in one major alone"), line
        assert set(re.findall(r"(\w+) is not compared: ([a-z]+)", line)) <= (
            REFUSED if version == "11" else set()), line


def test_every_claim_of_the_runtime_comes_to_its_end_on_fakes(faked):
    come_to_their_end(faked(*CLAIMS)[1], CLAIMS)


def test_what_nvcc_has_compiled_comes_to_its_end_on_fakes(faked, nvcc):
    come_to_their_end(faked(*COMPILED)[1], COMPILED)


def test_texture_references_where_there_are_such_and_where_there_are_none(faked):
    assert faked("references")[1] == [
        "pass references: on 11.8, caller 11: 4 equal, 0 different, 0 in one major alone",
        "pass references: on 12.9, caller 11: 4 right, 0 wrong",
        "pass references: on 13.5, caller 11: 4 right, 0 wrong"]


def test_figures_are_taken(faked):
    _, lines = faked("pools", "figures", "first", "opened")
    figures = [line for line in lines if re.search(r"ratio \d+\.\d+$", line)]
    # On fakes a process takes as long as the stub's search, and a call no time: no verdict here.
    assert claims_of(figures) == {"figures", "first", "opened"} and len(figures) == 9
    assert all(re.search(r": [12] right, 0 wrong|\d wrong; ", line) for line in figures), figures


def test_what_the_stub_refuses_among_the_runtimes_own_errors(faked):
    assert faked("refusals")[1] == [
        "pass refusals: on 11.8, caller 13: 12 right, 0 wrong"]


def test_only_the_claims_that_are_asked_for(faked):
    assert len(faked("pools")[1]) == 9
    assert faked("nothing-of-the-kind") == ([0, 0, 0], [])


# What a fake does otherwise in a process of the stub, and what has to see it.
SEEN = {
    "COPIES": {"memory", "code", "plugins", "copies", "newer", "pools", "graphs", "textures",
               "processes", "references"},
    "ERRORS": {"errors", "semaphores", "streams", "graphs", "memory", "code", "newer"},
    "RANGES": {"managed"},
    "FLAGS": {"streams", "texts"},
    "LIMITS": {"properties"},
}


def test_something_is_disturbed_in_every_claim():
    assert set.union(*SEEN.values()) == set(CLAIMS) | ALONE - {"refusals"}


def disturb(folder, what):
    file = runtime("12.9", f"-DDISTURBED={what}")
    shutil.copy(file, folder / "cuda" / "12.9" / file.name)


def fail_on_it_alone(lines, claims):
    for line in lines:
        assert line.startswith("fail ") == ("on 12.9" in line), line
    assert claims_of(lines, "fail ") == set(claims)


@pytest.mark.parametrize("what", SEEN)
def test_a_difference_that_the_stub_makes_fails(faked, folder, what):
    disturb(folder, what)
    fail_on_it_alone(faked(*SEEN[what])[1], SEEN[what])


def test_a_difference_in_what_nvcc_has_compiled_fails(faked, folder, nvcc):
    disturb(folder, "COPIES")
    fail_on_it_alone(faked(*COMPILED)[1], COMPILED)


def test_a_value_that_the_stub_changes_fails(faked, folder):
    file = runtime("12.9", "-DDISTURBED=LIMITS")
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


def test_without_nvcc_its_claims_are_skipped(faked, folder, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(nvcc_of_majors.platform, "machine", lambda: "x86_64")
    why = nvcc_of_majors.fetch(tmp_path)
    assert why == "nvcc needs gcc, which is not there"
    monkeypatch.setattr(nvcc_of_majors.platform, "machine", lambda: "riscv64")
    assert nvcc_of_majors.fetch(tmp_path) == "nvcc of PyPI is not for riscv64"
    for path in folder.glob("bin/*/compiled.*"):
        path.unlink()
    (folder / "code" / "no-nvcc").write_text(f"{why}\n")
    assert faked("separate", "extensions")[1] == [
        f"skip {claim}: the bundle was made without nvcc: {why}"
        for claim in ("separate LAZY", "separate EAGER", "extensions")]


def test_in_a_folder_of_any_name(folder, world, tmp_path):
    place = tmp_path / "it's a \"place\" $HOME `x`"
    place.mkdir()
    folder.rename(place / folder.name)
    for version in VERSIONS.values():
        file = runtime(version)
        shutil.copy(file, place / folder.name / "cuda" / version / file.name)
    world.loader(driver("cuda", version=13050))
    _, lines = run(world, place / folder.name, "pools", "references", "first", "opened")
    assert claims_of(lines, "pass ") >= {"pools", "references"} and len(lines) == 9 + 3 * 3
    # Of figures there are verdicts.
    assert all(re.search(r"equal|right, \d wrong|ratio", line) for line in lines), lines
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


def test_no_more_time(faked):
    numbers, lines = faked("pools", "figures", LAZYCUDA_GPU_SECONDS="0")
    assert numbers == [0, 0, 12]
    assert all(line.endswith("the time for all claims is over (LAZYCUDA_GPU_SECONDS)")
               for line in lines)


def test_what_the_bundle_lacks(faked, folder):
    (folder / "cuda" / "13.5" / "libcudart.so.13").unlink()
    assert faked("pools")[0] == [6, 0, 1]
    (folder / "cuda" / "13.5" / "libcudart.so.13").write_text("no library\n")
    numbers, lines = faked("pools", "first")
    assert [line for line in lines if "13.5" in line] == [
        f"skip {name}: cudart 13.5 cannot be loaded here: {folder}/cuda/13.5/libcudart.so.13: "
        "file too short" for name in ("pools: on 13.5, caller 11, 12 and 13",
                                      "first: on 13.5, caller 13")]
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
        "fail nvml: device-0.NumGpuCores: 0 1, directly 0 0; 73 equal, 1 different, "
        "0 in one major alone"]


def test_a_value_of_the_driver_that_the_stub_changes_fails(with_driver, world):
    world.loader(driver("cuda", disturbed=True))
    numbers, lines = with_driver("context", "names")
    assert numbers == [0, 2, 0]
    assert re.match(r"fail context: devices\.attribute-1: 0 2, directly 0 1; ", lines[0])
    assert re.match(r"fail names: first\.cuMemAlloc-11080: 500 none, directly 0 libcuda", lines[1])


def test_an_image_that_the_driver_does_not_load_fails(with_driver, world):
    cubin = (build.BUILD / "gpu" / "work" / "kernels_90.cubin").read_bytes()
    world.loader(driver("cuda", cubin, loads=False))
    numbers, (line,) = with_driver("dispatch")
    assert numbers == [0, 1, 0]
    assert "ptx-by-nvjitlink.loaded 200 " in line and "verdict" in line or "wrong" in line, line


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
