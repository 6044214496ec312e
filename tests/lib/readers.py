# SPDX-License-Identifier: MIT
"""Somebody who reads a page of documentation and types what it shows.

    reader.follow(pages.steps(page))

All files of the page are written, then its commands are run in one shell, in the sandbox:
what is exported stays, and there is no CUDA but what the reader has put there.
"""
import shutil
import subprocess

import build
import importer
import made_up
import pages
import wheel_files

WHEEL = "fastkernels-1.0-cp311-cp311-linux_x86_64.whl"
MARK = "\x01"


class Reader:
    def __init__(self, world, folder, **env):
        self.world = world
        self.folder = folder
        # Makefiles and CMake read CFLAGS: what is built is not to be fast, but soon there.
        self.env = {"HOME": str(world.root), "LC_ALL": "C.UTF-8", "CFLAGS": "-O0", **env}

    def follow(self, steps, may_fail=()):
        """Types all that there is to type.  Commands that begin with one of `may_fail` may
        end with a status of 1."""
        for step in steps:
            if isinstance(step, pages.File):
                file = self.folder / step.name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(step.text)
        commands = [step for step in steps if isinstance(step, pages.Command)]
        for step, (said, status) in zip(commands, self.type(commands)):
            if step.output:
                assert pages.is_like(step.output, said), f"$ {step.line}\n{said}"
            else:
                accepted = (0, 1) if step.line.startswith(tuple(may_fail)) else (0,)
                assert status in accepted, f"$ {step.line}\n{said}(status {status})"

    def type(self, commands):
        """[(what it says, its status)] of each."""
        script = [f"cd '{self.folder}'"]
        for step in commands:
            script.append(f"{{ {step.line}\n}} 2>&1; printf '{MARK}%d{MARK}' $?")
        done = self.world.run("bash", "-c", "\n".join(script), check=False, timeout=600,
                              **self.env)
        words = done.out.split(MARK)
        assert len(words) == 2 * len(commands) + 1, done.out + done.err
        return list(zip(words[0::2], map(int, words[1::2])))


def own_files(folder):
    """What a reader has who comes with a wheel, a program and device code of his own."""
    real = importer.real(folder, "libcudart.so.12", "cudaMalloc", node="libcudart.so.12")
    module = importer.importer(folder, "cudaMalloc", link=[real])
    hello = shutil.copy(build.ROOT / "examples" / "hello.c", folder / "app.c")
    _program(folder, hello, "libcudart.so.12", "cudaRuntimeGetVersion", "cudaGetErrorString")
    (folder / "cublas.c").write_text(CUBLAS)
    _program(folder, folder / "cublas.c", "libcublas.so.12", "cublasCreate_v2")
    importer.real(folder, "libcublas.so.12", "cublasCreate_v2", node="libcublas.so.12")
    shutil.copy(module, folder / "mine.so")
    (folder / "dist").mkdir()
    for where in (folder, folder / "dist"):
        wheel_files.make(where, {"mine/native.so": module}, name="mine")
    made = wheel_files.make(folder, {"fastkernels.abi3.so": module}, name="fastkernels",
                            tags="cp311-cp311-linux_x86_64")
    made.rename(folder / "dist" / WHEEL)
    code = made_up.entry(made_up.PTX, made_up.ptx(), version=(8, 0))
    (folder / "kernels.fatbin").write_bytes(made_up.fatbin(code))
    (folder / "kernels.s").write_text('.section .nv_fatbin,"a"\n.incbin "kernels.fatbin"\n')
    subprocess.run([*build.CC, "-c", "kernels.s", "-o", "kernels.o"], cwd=folder, check=True)
    (folder / "helper.ptx").write_text(".version 8.0\n.target sm_80\n.address_size 64\n")
    (folder / "main.cu").write_text("__global__ void kernel() {}\n")


CUBLAS = """#include <stdio.h>
int cublasCreate_v2(void *);
int main(void) { printf("cublasCreate_v2: %d\\n", cublasCreate_v2(NULL)); return 0; }
"""


def _program(folder, source, soname, *names):
    """A program that was linked to the real library, which is then not there."""
    real = importer.real(folder, soname, *names, node=soname)
    subprocess.run([*build.CC, source, real, "-o", folder / f"program-that-needs-{soname}"],
                   check=True)
    real.unlink()
