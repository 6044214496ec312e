# SPDX-License-Identifier: MIT
"""Projects built with an installed tree, and what is asked of each program."""
import os
import re
import shlex
import shutil
import subprocess

import pytest

import build
import elf
import run_pip
from fakes import answer, fake

PROJECT = build.TESTS / "install" / "project"
CALLS_CUBLAS = build.TESTS / "packages" / "dependent" / "hello-cuda.c"
CALLS = ("cudaDeviceSynchronize", "cudaMemAdvise")
NODES = {11: "libcudart.so.11.0", 12: "libcudart.so.12", 13: "libcudart.so.13"}
FAKES = {11: "11.8", 12: "12.9", 13: "13.5"}


def pip(what, *words):
    """Skips where `what` cannot be had so."""
    try:
        done = run_pip.run([*words, "--quiet"], capture_output=True, text=True)
    except run_pip.NoPip as why:
        pytest.skip(f"{what} could not be fetched: {why}")
    if done.returncode:
        pytest.skip(f"{what} could not be fetched: {run_pip.reason(done.stderr)}")


class Checker:
    def __init__(self, world):
        self.world = world

    def __call__(self, program, abi, libdir=None, libraries=("cudart",)):
        """The program needs the stubs and nothing of CUDA, asks for the versions of its
        major, gets an error where there is nothing, and else what is there."""
        dynamic = elf.dynamic(program)
        assert sorted(of_cuda(program)) == sorted(f"lib{name}_stub.so" for name in libraries)
        nodes = {s.name: s.node for s in elf.imports(program)}
        assert {nodes[name] for name in CALLS} == {NODES[abi]}
        assert elf.is_bound_at_once(program)
        paths = ":".join(dynamic.get("RUNPATH", []) + dynamic.get("RPATH", []))
        assert not re.search(r"/lazycuda/cuda\d+(:|$)", paths)
        if libdir:
            self.world.search(libdir)
        assert self.world.run(program).out.split()[:2] == ["303", "303"]
        version = FAKES[abi]
        self.world.loader(*[fake(name, version) for name in libraries
                            if (name, abi) != ("nvJitLink", 11)])
        said = self.world.run(program).out.split()
        assert said == [str(answer("cudart", name, version)) for name in CALLS] + [
            "0"] * (len(libraries) - 1)


    def alone(self, program, abi):
        """The same of a program that has the stub inside: it needs nothing of CUDA, and nothing of ours."""
        assert of_cuda(program) == []
        assert self.world.run(program).out.split()[:2] == ["303", "303"]
        self.world.loader(fake("cudart", FAKES[abi]))
        assert self.world.run(program).out.split()[:2] == [
            str(answer("cudart", name, FAKES[abi])) for name in CALLS]

    def driver(self, program, libdir=None):
        """The same of driver.c, which no major is known of."""
        assert sorted(of_cuda(program)) == sorted(map(build.stub_name, build.DRIVER))
        assert elf.is_bound_at_once(program)
        if libdir:
            self.world.search(libdir)
        assert self.world.run(program).out.split() == ["34", "12"]
        self.world.loader(*[fake(library, "12.9") for library in build.DRIVER])
        assert self.world.run(program).out.split() == [
            str(answer("cuda", "cuInit", "12.9")), str(answer("nvml", "nvmlInit_v2", "12.9"))]


def of_cuda(program):
    """The libraries of CUDA, and the stubs, that a program needs."""
    return [name for name in elf.dynamic(program)["NEEDED"] if name.startswith(("libcu", "libnv"))]


def tool(name):
    path = shutil.which(name)
    if not path:
        pytest.skip(f"there is no {name} (cmake, meson, ninja: tests/requirements.txt)")
    return path


def linker(name):
    """The option that takes this linker, which has to link what the compiler makes with the
    user's CFLAGS, which CMake follows: what gcc makes with -flto lld does not."""
    tool("ld.lld" if name == "lld" else name if name == "mold" else f"ld.{name}")
    option = f"-fuse-ld={name}"
    compiler = [*build.CC, *shlex.split(os.environ.get("CFLAGS", ""))]
    done = build.run(*compiler, option, "-x", "c", "-", "-o", os.devnull,
                     input="int main(void) { return 0; }\n")
    if done.returncode:
        pytest.skip(f"{' '.join(compiler)} does not link with {name}")
    return option


def nvcc():
    """A real nvcc, if this machine has one: (path, major).  That of PATH may be a script that starts it."""
    path = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    if not os.path.exists(path):
        pytest.skip("there is no nvcc")
    folder = run(path, "--dryrun", "of_no_file.cu")[1].partition("_HERE_=")[2].partition("\n")[0]
    path = os.path.join(folder, "nvcc")
    return path, int(build.output(path, "--version").partition("release ")[2].partition(".")[0])


def run(*command, cwd=None, check=True, **env):
    """Outside the sandbox, as whoever builds something does."""
    done = subprocess.run([str(word) for word in command], cwd=cwd, stdin=subprocess.DEVNULL,
                          env={**clean_environment(), **{k: str(v) for k, v in env.items()}},
                          # pkg-config puts a backslash before each byte of a letter.
                          capture_output=True, text=True, errors="surrogateescape")
    said = done.stdout + done.stderr
    assert not check or done.returncode == 0, said
    return done.returncode, said


def clean_environment():
    """What `make test` was called with is not for these builds, nor is CUDA's."""
    return {name: value for name, value in os.environ.items()
            if not name.startswith(("MAKE", "MFLAGS", "CUDA", "LD_", "LIBRAR", "NVCC_", "PKG_CONFIG", "CMAKE",
                                    "LAZYCUDA"))}
