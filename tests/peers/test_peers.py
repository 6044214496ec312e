# SPDX-License-Identifier: MIT
"""The tests of those who link device code from Python, with lazycuda.link in the place of their linker
(in_place.py): what becomes of each is what becomes of it with their own, but for what is intended.

They run behind driver.c, a driver without a GPU.  Kernels do nothing there, so that a test that looks
at their results fails both times, at the same place."""
import json
import os
import shutil
import subprocess
import sys
import tarfile

import pytest

import build
import containers
import run_pip
import samples

HERE = build.TESTS / "peers"
VENV = build.BUILD / "peers"
ARCH = "sm_90"

CUPY = "14.2.0"
PACKAGES = ["numba-cuda[cu13]==0.30.4", "cuda-core==1.2.2", "cuda-toolkit==13.5.0", "pynvjitlink-cu12==0.7.0",
            f"cupy-cuda13x=={CUPY}", "pytest", "filecheck", "cffi", "cloudpickle", "psutil", "ml_dtypes"]

# The version of CUDA, and the modules of tests.
SUITES = {
    "numba-cuda": ("13.5", [f"numba.cuda.tests.{name}" for name in (
        "cudadrv.test_linker", "cudadrv.test_nvjitlink", "cudadrv.test_linkable_code", "nrt.test_nrt",
        "nrt.test_nrt_refct")]),
    # A tenth of its folder, all of which takes an hour.
    "cudapy": ("13.5", [f"numba.cuda.tests.cudapy.test_{name}" for name in (
        "caching", "compiler", "device_func", "dispatcher", "enums", "extending", "inspect", "lang", "math", "overload")]),
    "pynvjitlink": ("12.9", [f"pynvjitlink.tests.test_{name}" for name in (
        "pynvjitlink", "pynvjitlink_api", "version")])}

# What differs, and why that is intended: docs/reference/python-link.md.
INTENDED = {
    # Of its LTO-IR, which has no kernel, nvJitLink makes PTX without code: BAD_IMAGE.
    "numba-cuda": ["test_linker.py::TestLinker::test_link_for_different_cc"],
    # kernels_used= names none of the kernels: BAD_IMAGE.
    "cuda.core": ["test_linker.py::test_linker_init[options18]", "test_linker.py::test_linker_init[options19]"],
    # A link of nothing: NO_INPUTS.
    "pynvjitlink": ["test_pynvjitlink.py::test_complete_empty",
                    "test_pynvjitlink_api.py::test_get_linked_cubin_complete_empty_error"]}

# What the tests link, under the names that they ask for.
CODE = {
    "test_device_functions": """\
extern "C" __device__ int add_from_numba(unsigned *result, unsigned a, unsigned b) { *result = a + b; return 0; }
extern "C" __device__ int kept = 1;
""",
    "nrt_extern": """\
extern "C" __device__ void *NRT_Allocate(unsigned long size);
extern "C" __device__ void NRT_Free(void *memory);
extern "C" __device__ int device_allocate_deallocate(int *result) { NRT_Free(NRT_Allocate(4)); return *result = 0; }
""",
    "undefined_extern": """\
extern __device__ float undef(float a, float b);
__global__ void f(float *r, float *a, float *b) { r[0] = undef(a[0], b[0]); }
"""}


class Code(samples.Sample):
    @property
    def source(self):
        return CODE[self.unit]

    @property
    def path(self):
        """What is made of it is kept by this name."""
        return super().path.with_stem(f"{self.unit}-{containers.digest(self.source)}")


def make_code(version, folder):
    for name, text in CODE.items():
        made = {kind: Code(version, kind, ARCH, name) for kind in samples.KINDS}
        samples.make(made.values())
        fatbin = {kinds: containers.fatbin(version, [made[kind] for kind in kinds.split()])
                  for kinds in ("cubin", "ltoir", "cubin ltoir")}
        item = containers.host_object(fatbin["cubin"])
        files = {**{kind: one.path for kind, one in made.items()}, "fatbin": fatbin["cubin"], "o": item,
                 "a": containers.archive(item), "ltoir.o": containers.host_object(fatbin["ltoir"])}
        for ending, path in files.items():
            (folder / f"{name}.{ending}").write_bytes(path.read_bytes())
        (folder / f"{name}_multi.fatbin").write_bytes(fatbin["cubin ltoir"].read_bytes())
        (folder / f"{name}.cu").write_text(text)


@pytest.fixture(scope="module")
def python():
    stamp, made = VENV / "packages", VENV / "bin" / "python"
    with build.locked(build.BUILD / "peers.lock"):
        if not stamp.exists() or stamp.read_text() != repr(PACKAGES):
            subprocess.run([sys.executable, "-m", "venv", "--clear", "--without-pip", VENV], check=True)
            done = run_pip.run(["install", "-q", *PACKAGES], made, capture_output=True, text=True)
            if done.returncode:
                pytest.skip(f"pip: {run_pip.reason(done.stderr)}")
            stamp.write_text(repr(PACKAGES))
    return made


@pytest.fixture(scope="module")
def cupys_test_raw(python):
    """The text, of the archive of cupy's source."""
    archive = VENV / f"cupy-{CUPY}.tar.gz"
    with build.locked(build.BUILD / "peers.lock"):
        done = archive.exists() or run_pip.run(
            ["download", "-q", "--no-deps", "--no-binary", "cupy", "-d", VENV, f"cupy=={CUPY}"], python,
            capture_output=True, text=True)
    if not archive.exists():
        pytest.skip(f"pip: {run_pip.reason(done.stderr)}")
    with tarfile.open(archive) as tar:
        return tar.extractfile(f"cupy-{CUPY}/tests/cupy_tests/core_tests/test_raw.py").read()


def outcomes(python, folder, toolkit, *words, **more):
    """{test: what became of it}"""
    file = folder / f"outcomes-{len(more)}"
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("LD_", "CUDA_", "LAZYCUDA_"))}
    tools = {f"LAZYCUDA_{name.upper()}": str(toolkit.file(name)) for name in ("nvrtc", "nvJitLink")}
    done = subprocess.run(
        [python, "-m", "pytest", "-q", "-W", "ignore", "--tb=native", "-p", "no:cacheprovider", "-p", "in_place",
         *words, folder],
        cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        env={**kept, **tools, **more, "OUTCOMES": str(file),
             "NUMBA_CUDA_TEST_BIN_DIR": str(folder), "CUPY_CACHE_DIR": f"{file}.kernels",
             "PYTHONPATH": f"{HERE}:{build.PYTHON}",
             "LAZYCUDA_LINK_LIBRARY": str(build.STUBS / "liblazycuda_link.so")})
    assert done.returncode in (0, 1) and file.exists(), done.stdout[-3000:] + done.stderr[-3000:]
    return {name: what for name, *what in map(json.loads, file.read_text().splitlines())}


def compare(suite, python, folder, toolkit, *words):
    number = 1000 * toolkit.major + 10 * toolkit.minor
    driver = build.compile("libcuda.so.1", "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", f"-DDRIVER={number}",
                           HERE / "driver.c")
    theirs, ours = (outcomes(python, folder, toolkit, *words, LD_LIBRARY_PATH=str(driver.parent), **more)
                    for more in ({}, {"IN_PLACE": "1"}))
    differ = {name: (theirs.get(name), ours.get(name)) for name in {**theirs, **ours}
              if theirs.get(name, [0])[0] != ours.get(name, [0])[0]}
    assert sorted(differ) == sorted(INTENDED.get(suite, [])), "".join(f"{name}: {both}\n" for name, both in differ.items())
    assert sum(what[0] == "passed " for what in theirs.values()) > 20


@pytest.mark.parametrize("suite", SUITES)
def test_their_tests_end_as_with_their_linker(tmp_path, real, python, suite):
    version, modules = SUITES[suite]
    toolkit = real(version)
    make_code(version, tmp_path)
    for module in modules:
        (tmp_path / f"{module.rpartition('.')[2]}.py").write_text(f"from {module} import *\n")
    compare(suite, python, tmp_path, toolkit)


def test_those_of_cupy_end_as_with_nvrtc(tmp_path, real, python, cupys_test_raw):
    """But for what jitify prepares, which takes a minute each time."""
    (tmp_path / "test_raw.py").write_bytes(cupys_test_raw)
    compare("cupy", python, tmp_path, real("13.5"), "-p", "cupy_in_place", "-k", "not jitify or no-jitify")


def test_those_of_cuda_core_end_as_with_nvjitlink(tmp_path, real, python):
    """They stand in no package."""
    if "CUDA_CORE_TESTS" not in os.environ:
        pytest.skip("there is no CUDA_CORE_TESTS=/path/to/cuda-python/cuda_core/tests")
    shutil.copy(f"{os.environ['CUDA_CORE_TESTS']}/test_linker.py", tmp_path)
    compare("cuda.core", python, tmp_path, real("13.5"))
