# SPDX-License-Identifier: MIT
"""`--relax-requirements`: what no file needs any more becomes an extra of each CUDA."""

import pytest

import build
import package
import wheel_files
from importer import importer, patch, real

HEAD = "pkg-1.0.dist-info/METADATA"
# Of torch: all that its wheel requires of CUDA, whatever its files need by now.
TORCH = [f"nvidia-{name}-cu12=={version}; platform_system == \"Linux\"" for name, version in (
    ("cuda-nvrtc", "12.6.77"), ("cuda-runtime", "12.6.77"), ("cuda-cupti", "12.6.80"),
    ("cudnn", "9.5.1.17"), ("cublas", "12.6.4.1"), ("cufft", "11.3.0.4"), ("curand", "10.3.7.77"),
    ("cusolver", "11.7.1.2"), ("cusparse", "12.5.4.2"), ("cusparselt", "0.6.3"),
    ("nccl", "2.26.2"), ("nvtx", "12.6.77"), ("nvjitlink", "12.6.85"), ("cufile", "1.11.1.6"))]


@pytest.fixture
def relaxed(retarget, tmp_path):
    """relaxed(requirements, libraries that a module needs beside the runtime): what is said, and
    what is required then: {extra or None: [requirement]}"""
    def run(requires, needs=(), members=None, name="cudaMalloc", library="libcudart.so.12"):
        link = [real(tmp_path, library, name, node=library)]
        for soname in needs:
            link.append(real(tmp_path, soname, f"f{len(link)}", node=soname))
        module = importer(tmp_path, name, *[f"f{i}" for i in range(1, len(link))], link=link)
        wheel = wheel_files.make(tmp_path, {"pkg/module.so": module, **(members or {})},
                                 requires=requires)
        said, = retarget("--relax-requirements", wheel).wheels
        return said, by_extra(next(retarget.out.glob("*.whl")))
    return run


def by_extra(wheel):
    requirement = pytest.importorskip("packaging.requirements").Requirement
    found = {}
    for line in wheel_files.read(wheel)[HEAD].decode().splitlines():
        if not line.startswith("Requires-Dist: "):
            continue
        each = requirement(line[15:])
        holds = [word for word in ("", "cuda11", "cuda12", "cuda13", "gpu")
                 if not each.marker or each.marker.evaluate({"extra": word})]
        entry = each.name + (f"[{','.join(sorted(each.extras))}]" if each.extras else "") + \
            str(each.specifier)
        if holds:
            found.setdefault(holds[0] or None, []).append(entry)
    return found


@pytest.mark.parametrize("tags, foreign", [
    ("py3-none-win_amd64", True), ("py3-none-macosx_11_0_arm64.macosx_11_0_x86_64", True), ("py3-none-any", False),
    ("py3-none-win32.linux_x86_64", False)])
def test_a_wheel_of_another_system_stays_as_it_is(retarget, tmp_path, tags, foreign):
    wheel = wheel_files.make(tmp_path, {"pkg/a.pyd": b"MZ"}, tags=tags, requires=TORCH)
    said, = retarget("--relax-requirements", "--strict", "--build-tag", "1x", "--leave", "*.pyd", wheel).wheels
    made = next(retarget.out.iterdir())
    assert (said["outcome"], made.read_bytes() == wheel.read_bytes()) == (
        ("foreign", True) if foreign else ("retargeted", False))
    audited = build.run(build.TOOL, "audit", wheel).stderr
    assert ("is not for Linux, by its tags: not judged" in audited) == foreign


def test_all_that_torch_requires_is_an_extra_of_each_major(relaxed):
    said, required = relaxed(TORCH)
    assert set(required) == {"cuda11", "cuda12", "cuda13"}
    assert required["cuda12"] == [line.partition(";")[0] for line in TORCH]
    assert required["cuda13"] == [
        "nvidia-cuda-nvrtc==13.*", "nvidia-cuda-runtime==13.*", "nvidia-cuda-cupti==13.*",
        "nvidia-cudnn-cu13", "nvidia-cublas==13.*", "nvidia-cufft==12.*", "nvidia-curand==10.*",
        "nvidia-cusolver==12.*", "nvidia-cusparse==12.*", "nvidia-cusparselt-cu13",
        "nvidia-nccl-cu13", "nvidia-nvtx==13.*", "nvidia-nvjitlink==13.*", "nvidia-cufile==1.*"]
    # What CUDA 11 does not have is missed by nobody there.
    assert "nvidia-cublas-cu11" in required["cuda11"]
    assert not any("nvjitlink" in each or "cufile" in each for each in required["cuda11"])
    assert {extra: len(names) for extra, names in said["extras"].items()} == {
        "cuda11": 11, "cuda12": 14, "cuda13": 14}


def test_a_package_whose_library_is_needed_still_stays(relaxed):
    """Of these libraries there is no stub, or one that does not have such a name."""
    said, required = relaxed(TORCH, ["libcublasLt.so.12", "libcusparse.so.12"])
    assert required[None] == ["nvidia-cublas-cu12==12.6.4.1", "nvidia-cusparse-cu12==12.5.4.2"]
    assert said["kept"] == [{"requirement": TORCH[4], "needed": ["libcublasLt.so.12"]},
                            {"requirement": TORCH[8], "needed": ["libcusparse.so.12"]}]
    # The cuBLAS that it has to have is of 12, so another major is of no use.
    assert set(required) == {None, "cuda12"}


@pytest.mark.parametrize("kept, of", [
    ("nvidia-curand-cu12==10.3; python_version > '3'", {"cuda12"}),
    ("nvidia_curand.cu13>=10", {"cuda13"}), ("nvidia-curand", {"cuda11", "cuda12", "cuda13"})])
def test_no_extra_of_another_cuda_than_the_package_that_stays(relaxed, kept, of):
    # libcurand.so.10 is in all three, and torch 2.15's libnvshmem_host.so.3 in two.
    _, required = relaxed([kept, "nvidia-cuda-runtime-cu12"], ["libcurand.so.10"])
    assert set(required) == {None, "cuda12", *of}


@pytest.mark.parametrize("stays, of", [
    # qiskit-aer-gpu: with cuda13 the libcustatevec.so.1 that it keeps has no libcublas.so.12.
    ("cuquantum-cu12<24.11.0,>=23.3.0", {"cuda12"}),
    ("cupy-cuda12x<14; python_version > '3'", {"cuda12"}),
    ("openmm.cuda.13[all]>=8", {"cuda12", "cuda13"}),
    # Tools run on their own, and so does what comes with an extra alone.
    ("nvidia_nvvm_cu12", None),
    ("cuquantum-cu12; extra == 'gpu'", None), ("acu12", None), ("pkg-cu1", None)])
def test_no_extra_of_another_cuda_than_anything_that_stays(relaxed, stays, of):
    _, required = relaxed([stays, "nvidia-cuda-runtime-cu12"])
    assert {*required} - {None, "gpu"} == (of or {"cuda11", "cuda12", "cuda13"})


@pytest.mark.parametrize("required", [True, False])
def test_what_has_no_stub_may_need_what_is_required_no_more(relaxed, required):
    said, _ = relaxed(["nvidia-cublas-cu12"] if required else [], ["libnvinfer.so.10"])
    notes = [note for note in said["notes"] if note.startswith("libnvinfer.so.10: ")]
    assert bool(notes) == required and all("install pkg[cuda12]" in note for note in notes)


def test_what_a_library_without_a_stub_is_known_to_need_stays(relaxed):
    # qiskit-aer-gpu: libcustatevec.so.1 needs libcublas.so.12, and its package requires none.
    said, required = relaxed(["nvidia-cublas-cu12", "nvidia-cuda-runtime-cu12"], ["libcustatevec.so.1"])
    assert required == {None: ["nvidia-cublas-cu12"], "cuda12": ["nvidia-cuda-runtime-cu12"]}
    assert said["kept"][0]["needed"] == ["libcustatevec.so.1"]


@pytest.mark.parametrize("soname", ["libcustatevec.so.1", "libcublas.so.12"])
def test_what_the_wheel_has_itself_needs_nothing_unknown_and_is_of_no_package(relaxed, tmp_path, soname):
    own = real(tmp_path, soname, "f1", node=soname)
    said, required = relaxed(["nvidia-cublas-cu12"], [soname], {f"pkg.libs/{soname}": own})
    assert None not in required and not [note for note in said["notes"] if note.startswith(f"{soname}: ")]


def test_only_majors_that_all_its_stubs_know(relaxed):
    said, required = relaxed(["nvidia-nvjitlink-cu12", "nvidia-cuda-runtime-cu12"],
                             name="nvJitLinkVersion", library="libnvJitLink.so.12")
    assert set(required) == {"cuda12", "cuda13"}


def test_a_wheel_of_13(relaxed):
    _, required = relaxed(["nvidia-cufft<13,>=12", "nvidia-cuda-runtime<14,>=13", "nvidia-curand"],
                          library="libcudart.so.13")
    assert required["cuda13"] == ["nvidia-cufft<13,>=12", "nvidia-cuda-runtime<14,>=13",
                                  "nvidia-curand"]
    assert required["cuda12"] == ["nvidia-cufft-cu12", "nvidia-cuda-runtime-cu12",
                                  "nvidia-curand-cu12"]


@pytest.mark.parametrize("versions, extra", [
    (">=12,==13.*", "cuda13"), (">=12,!=13.0,<14", "cuda12"), ("<=12.9,>11", "cuda11"),
    ("~=12.4", "cuda12"), ("!=12.0", "cuda13")])
def test_the_lowest_version_that_is_let_in_says_the_major(relaxed, versions, extra):
    _, required = relaxed([f"nvidia-cuda-runtime{versions}"])
    clauses = sorted(versions.split(","))
    assert [name for name, each in required.items()
            if sorted(each[0].removeprefix("nvidia-cuda-runtime").split(",")) == clauses] == [extra]


def test_the_toolkit_by_its_parts(relaxed):
    _, required = relaxed(["cuda-toolkit[cublas, cudart,nvcc]==13.0.*; os_name == 'posix'",
                           "cuda-toolkit==12.*", "Cuda_Toolkit[NVRTC]==12.*"],
                          ["libcublas.so.13"])
    assert required[None] == ["cuda-toolkit[cublas,nvcc]==13.0.*", "cuda-toolkit==12.*"]
    assert required["cuda13"] == ["cuda-toolkit[cudart]==13.0.*", "nvidia-cuda-nvrtc==13.*"]
    assert required["cuda12"] == ["Cuda_Toolkit[NVRTC]==12.*"]


def test_markers_extras_and_two_versions(relaxed):
    _, required = relaxed([
        'nvidia-nccl-cu12==2.20; python_version < "3"',
        'nvidia-nccl-cu12==2.26; python_version >= "3"',
        'nvidia-cudnn-cu12; extra == "gpu"', 'nvidia-cusparse-cu12; python_version < "3"',
        "nvidia-nvtx-cu12 (>=12); python_version > '3' or os_name == 'nt'",
        "nvidia-cuda-nvcc-cu12", "nvidia-cudnn-frontend", "nvidia-ml-py", "cutensor"])
    assert required[None] == ["nvidia-cuda-nvcc-cu12", "nvidia-cudnn-frontend", "nvidia-ml-py",
                              "cutensor"]
    assert required["cuda12"] == ["nvidia-nccl-cu12==2.26", "nvidia-nvtx-cu12>=12"]
    assert required["gpu"] == ["nvidia-cudnn-cu12"]
    assert required["cuda13"] == ["nvidia-nccl-cu13", "nvidia-nvtx==13.*"]


def test_extras_that_are_there_already(relaxed, retarget):
    # A line break makes two lines of one.
    relaxed(["nvidia-cuda-runtime-cu12\nProvides-Extra: CUDA13", 'other; extra == "cuda13"'])
    text = wheel_files.read(next(retarget.out.glob("*.whl")))[HEAD].decode()
    assert [line for line in text.splitlines() if line.startswith("Provides-Extra")] == [
        "Provides-Extra: cuda12", "Provides-Extra: cuda11", "Provides-Extra: CUDA13"]
    assert 'nvidia-cuda-runtime==13.* ; extra == "cuda13"' in text and text.endswith("\nAbout it.\n")


VERSION = "import ctypes, pkg; m = ctypes.CDLL(pkg.__path__[0] + '/module.so'); print(m.version())"


def test_an_extra_that_is_installed_serves(retarget, tmp_path, world, real):
    """In place of a bundled copy, from an index that has NVIDIA's packages for 12 and 13."""
    index = tmp_path / "index"
    index.mkdir()
    runtimes = {version: real(version).file("cudart") for version in ("12.9", "13.5")}
    for (version, file), (name, folder) in zip(runtimes.items(), (
            ("nvidia_cuda_runtime_cu12", "nvidia/cuda_runtime/lib"),
            ("nvidia_cuda_runtime", "nvidia/cu13/lib"))):
        wheel_files.make(index, {f"{folder}/{file.name}": file}, name=name, version=version)
    source, module = tmp_path / "call.c", tmp_path / "module.so"
    source.write_text("int cudaRuntimeGetVersion(int *); int version(void) { int found = 0; "
                      "int status = cudaRuntimeGetVersion(&found); return status ? -status : found; }")
    copy = tmp_path / "libcudart-09529672.so.12"
    copy.write_bytes(runtimes["12.9"].read_bytes())
    patch(copy, "--set-soname", copy.name)
    build.output(*build.CC, "-shared", "-fPIC", "-o", module, source, copy,
                 "-Wl,-rpath,$ORIGIN/../pkg.libs")
    retarget("--relax-requirements", "-o", index, wheel_files.make(tmp_path, {
        "pkg/__init__.py": b"", "pkg/module.so": module, f"pkg.libs/{copy.name}": copy}))
    for wanted, says in ("pkg", "-303"), ("pkg[cuda12]", "12090"), ("pkg[cuda13]", "13050"):
        python = package.environment(tmp_path / f"venv-{says}")
        package.install(python, "--find-links", index, wanted, dependencies=True)
        assert world.run(python, "-I", "-c", VERSION).out.strip() == says
