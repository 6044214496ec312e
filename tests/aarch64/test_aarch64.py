# SPDX-License-Identifier: MIT
"""The same on aarch64, under qemu-user: stubs cross-built, fake and real libraries."""
import pathlib
import re
import shutil

import pytest

import build
import elf
import races
import symbols
import toolkits
from fakes import answer, builtins, fake

CC = ["aarch64-linux-gnu-gcc"]
SYSROOT = pathlib.Path("/usr/aarch64-linux-gnu")
FOLDER = build.BUILD / "aarch64"
STUBS = FOLDER / "lib"

if build.ARCH == "aarch64":
    pytest.skip("every other test runs on aarch64 here", allow_module_level=True)


@pytest.fixture(scope="module")
def stubs():
    for tool in (CC[0], "qemu-aarch64-static"):
        if not shutil.which(tool):
            pytest.skip(f"there is no {tool} (Debian: gcc-aarch64-linux-gnu qemu-user-static)")
    build.make(f"CC={CC[0]}", build.made_at(FOLDER))
    return STUBS


@pytest.fixture
def world(world, stubs):
    world.prefix = ["qemu-aarch64-static", "-L", SYSROOT]
    world.stubs = stubs
    world.cc = CC
    world.search(stubs)
    return world


def program(source, *arguments, **options):
    return build.program(source, *arguments, cc=CC, **options)


@pytest.mark.parametrize("library", build.STUBBED)
def test_the_exports_are_the_same(stubs, library):
    there = {(s.name, s.node, s.default) for s in elf.exports(build.stub(library, stubs))}
    assert there == {(s.name, s.node, s.default) for s in elf.exports(build.stub(library))}


@pytest.mark.parametrize("library", build.STUBBED)
def test_an_entry_is_a_few_instructions(stubs, library):
    # adrp, ldr, br; where a struct goes by value its parts may be moved first.
    hooks = {f.name for f in symbols.read().libraries[library].functions if f.hook}
    text = build.output("aarch64-linux-gnu-objdump", "-d", "--no-show-raw-insn",
                        build.stub(library, stubs))
    code, current = {}, None
    for line in text.splitlines():
        head = re.match(r"([0-9a-f]+) <.*>:$", line)
        if head:
            current = code.setdefault(int(head[1], 16), [])
        elif current is not None and "\t" in line:
            current.append(line.split("\t")[1].split()[0])
    slow = []
    for symbol in elf.exports(build.stub(library, stubs)):
        if symbol.node == "LAZYCUDA_1" or symbol.name in hooks:
            continue
        names = [word for word in code[symbol.address][:5] if word != "bti"]
        if "br" not in names[:4]:
            slow.append((symbol.name, names))
    assert slow == []


@pytest.mark.parametrize("library, version", [
    *[("cudart", version) for version in ("11.8", "12.9", "13.5")], *[(one, "12.9") for one in build.DRIVER]])
def test_every_name_reaches_its_function(world, library, version):
    default = {s.name for s in elf.exports(build.stub(library, STUBS)) if s.default or library != "cudart"}
    names = [f.name for f in symbols.read().libraries[library].functions
             if f.result == "i32" and not f.hook and f.range.text == "11.7-" and f.name in default
             and not (library == "cudart" and (f.undeclared or f.apart or f.name.endswith("Version")))
             and f.name not in ("cudaGetDeviceCount", "cudaSetDevice", "cuDriverGetVersion",
                                "nvmlSystemGetNVMLVersion", "cuGetProcAddress")]
    assert len(names) > 250
    world.loader(fake(library, version, cc=CC))
    said = world.probe(f"stub:{library}", *[f"call:{name}" for name in names])[1:]
    assert [line["value"] for line in said] == [answer(library, name, version) for name in names]


def test_arguments_arrive(world):
    # By-value structs and arguments beyond the eighth register.
    caller = program(build.TESTS / "aarch64" / "launch.c",
                     build.import_library("cudart", 12, STUBS))
    world.loader(fake("cudart", "12.9", cc=CC))
    world.record()
    assert int(world.run(caller).out) == answer("cudart", "cudaLaunchKernel", "12.9")
    call, = [call for call in world.log() if call[2] == "cudaLaunchKernel"]
    assert call[3] == [0x1000, 2 << 32 | 1, 3, 5 << 32 | 4, 6, 0x2000]


def test_without_cuda(world):
    said = world.probe("stub:cudart", "stub:nvrtc", "stub:nvJitLink", "out:cudaGetDeviceCount:4:0",
                 "out:nvrtcVersion:4:0:1", "out:nvJitLinkCreate:8:0",
                 "text:cudaGetErrorString:303")
    assert [(line["value"], line["bytes"]) for line in said[3:6]] == [
        (35, ["00" * 4]), (11, ["00" * 4] * 2), (6, ["00" * 8])]
    assert "nvidia-cuda-runtime" in said[6]["text"]


def test_without_a_driver(world):
    said = world.probe("stub:cuda", "stub:nvml", "out:cuDriverGetVersion:4:0",
                       "out:cuGetProcAddress_v2:8:1:4", "out:nvmlDeviceGetCount_v2:4:0",
                       "out:nvmlDeviceGetMemoryInfo:32:1", "text:nvmlErrorString:12")[2:]
    assert [(line["value"], line["bytes"]) for line in said[:4]] == [
        (34, ["00" * 4]), (34, ["00" * 8, "00" * 4 + "a5" * 4]), (12, ["00" * 4]),
        (12, ["00" * 24 + "a5" * 8])]
    assert "libnvidia-ml.so.1" in said[4]["text"]


def test_the_drivers_home(world):
    world.system_file("/usr/lib/aarch64-linux-gnu", fake("cuda", "12.9", cc=CC))
    status = world.probe("stub:cuda", "load", "status:cuda")[2]
    assert (status["state"], status["version"]) == ("usable", "12.9")


@pytest.mark.parametrize("triple", ["sbsa-linux", "aarch64-linux"])
def test_the_target_folders_of_nvidias_packages(world, triple):
    world.system(f"/usr/local/cuda-12.9/targets/{triple}/lib", fake("cudart", "12.9", cc=CC))
    status = world.probe("stub:cudart", "load", "status:cudart")[2]
    assert (status["state"], status["found_by"]) == ("usable", "system")


def test_a_library_of_the_other_architecture_is_passed_over(world):
    world.loader(fake("cudart", "13.5"), folder="x86")
    world.loader(fake("cudart", "12.9", cc=CC), folder="arm")
    status = world.probe("stub:cudart", "load", "status:cudart")[2]
    assert status["version"] == "12.9"
    assert [c for c in status["candidates"] if c["path"].endswith(".so.13")]


def test_registrations(world):
    extension = build.shared(build.TESTS / "registrations" / "nvcc.c", "-DTAG=0x1000",
                             build.import_library("cudart", 12, STUBS), cc=CC)
    world.loader(fake("cudart", "12.9", cc=CC))
    world.record()
    said = world.probe(f"open:{extension}", "call:user_call")
    assert said[1]["value"] == answer("cudart", "cudaDeviceSynchronize", "12.9")
    names = [call[2] for call in world.log() if call[2].startswith("__cuda")]
    assert names[:5] == ["__cudaRegisterFatBinary", "__cudaRegisterFunction", "__cudaRegisterVar",
                         "__cudaRegisterManagedVar", "__cudaRegisterFatBinaryEnd"]


@pytest.mark.parametrize("library, usual", [("cudart", 10), ("cuda", 5)])
@pytest.mark.parametrize("kind", races.KINDS)
def test_races(world, kind, library, usual):
    races.race(world, kind, races.rounds(usual, part=20), library)


@pytest.mark.parametrize("version", toolkits.requested_aarch64())
@pytest.mark.parametrize("library", build.LIBRARIES)
def test_the_stub_exports_what_the_real_one_does(stubs, real, library, version):
    file = real(version, "aarch64").file(library)
    if file is None:
        pytest.skip(f"CUDA {version} has no {library}")
    exports = {(s.name, s.node) for s in elf.exports(file)}
    assert exports - {(s.name, s.node) for s in elf.exports(build.stub(library, stubs))} == set()


@pytest.mark.parametrize("version", toolkits.requested_aarch64())
def test_a_real_runtime_answers(world, real, version):
    toolkit = real(version, "aarch64")
    world.loader(toolkit.file("cudart"))
    said = world.probe("stub:cudart", "out:cudaGetDeviceCount:4:0", "call:cudaGetLastError",
                 "status:cudart")
    assert said[1]["value"] == said[2]["value"] == 35
    assert said[3]["version"] == version


@pytest.mark.parametrize("version", toolkits.requested_aarch64())
def test_real_nvrtc_compiles_and_nvjitlink_links(world, real, version):
    toolkit = real(version, "aarch64")
    flag = [f"-DSUFFIX=_{toolkit.major}_{toolkit.minor}"] if toolkit.file("nvJitLink") else []
    names = ("nvrtc", "nvJitLink") if flag else ("nvrtc",)
    caller = program(build.TESTS / "aarch64" / "compile.c", *flag, *[
        build.import_library(name, toolkit.major, STUBS) for name in names])
    for name in names:
        world.search(toolkit.file(name).parent)
    said = world.run(caller, timeout=300)
    assert f"version: {version}" in said.lines
    assert said.lines[-1] == ("linked: 0" if flag else "compiled: 0")


def test_nvrtcs_builtins_are_found(world):
    folder = world.put("nvrtc", fake("nvrtc", "13.0", cc=CC), builtins("13.0", cc=CC))
    said = world.probe("stub:nvrtc", "call:nvrtcCompileProgram", LAZYCUDA_NVRTC=folder / "libnvrtc.so.13")
    assert said[1]["value"] == 0
