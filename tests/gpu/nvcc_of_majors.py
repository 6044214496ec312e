# SPDX-License-Identifier: MIT
"""nvcc for programs of each major, of what PyPI has of it: tools/upkeep/nvcc.txt.

PyPI has one whole nvcc, of 13.  What differs between majors in the host code that it writes
stands in the headers that this code includes (crt/host_runtime.h): which calls register a
kernel, and which one launches it.  So the nvcc of a major is a folder with that nvcc and the
headers of the major's toolkit.  Device code is assembled by ptxas of 12, for drivers of 12.
"""
import pathlib
import platform
import shlex
import shutil
import subprocess

import toolkits

TABLE = toolkits.ROOT / "tools" / "upkeep" / "nvcc.txt"
ARCHITECTURES = "75 80 90 100 120".split()
HOST = "-fPIC,-fno-exceptions,-fno-rtti,-fno-threadsafe-statics"
# PTX of the first version that has the architecture; later ones ptxas of 12 does not read.
CICC = """#!/bin/sh
{cicc} "$@" || exit
version=7.8
case $* in *"compute_1"[0-9][0-9]*) version=8.8 ;; esac
for last; do :; done
exec sed -i "s/^[.]version .*/.version $version/" "$last"
"""


def fetch(folder):
    """Why there is no nvcc, or None; what it needs is fetched."""
    if not toolkits.fetch.wheels_of(folder, ["13.5"], ["nvcc"], platform.machine(), TABLE):
        return f"nvcc of PyPI is not for {platform.machine()}"
    for tool in ("gcc", "g++"):
        if not shutil.which(tool):
            return f"nvcc needs {tool}, which is not there"
    return "; ".join(toolkits.fetch.fetch(folder, ["12.9", "13.5"], table=TABLE)) or None


class Nvcc:
    """The nvcc that compiles for callers of a toolkit; `folder` is made."""

    def __init__(self, fetched, toolkit, folder):
        machine = platform.machine()
        site = fetched / "13.5" / machine / "nvidia" / "cu13"
        tools = {path.name: path for path in (site / "bin").iterdir()}
        tools["ptxas"] = fetched / "12.9" / machine / "nvidia" / "cuda_nvcc" / "bin" / "ptxas"
        headers = {path.name: path for path in sorted(toolkit.site.glob("nvidia/*/include/*"))}
        self.link(folder / "bin", tools)
        self.link(folder / "include", headers)
        self.link(folder / "nvvm", {"libdevice": site / "nvvm" / "libdevice"})
        cicc = folder / "nvvm" / "bin" / "cicc"
        cicc.parent.mkdir()
        cicc.write_text(CICC.format(cicc=shlex.quote(str(site / "nvvm" / "bin" / "cicc"))))
        cicc.chmod(0o755)
        self.program = folder / "bin" / "nvcc"
        self.folder = folder
        self.version = toolkit.version

    def why_not(self):
        """Why it compiles nothing here, or None: headers of CUDA are not for every compiler and
        libc that came after them."""
        source = self.folder / "nothing.cu"
        source.write_text("__global__ void nothing() { }\n")
        done = subprocess.run(self.command("-c", source, "-o", self.folder / "nothing.o"),
                              capture_output=True, text=True)
        said = [line for line in done.stderr.splitlines() if "error" in line] or ["no reason"]
        return f"with CUDA {self.version} it compiles nothing: {said[0]}" if done.returncode else None

    @staticmethod
    def link(folder, targets):
        folder.mkdir(parents=True)
        for name, target in targets.items():
            (folder / name).symlink_to(pathlib.Path(target).resolve())

    def command(self, *arguments):
        """Uncompressed, since not every driver knows how; any host compiler will do for this
        code."""
        code = [f"-gencode=arch=compute_{arch},code=sm_{arch}" for arch in ARCHITECTURES]
        first = ARCHITECTURES[0]
        return [self.program, "-allow-unsupported-compiler", "-no-compress", "-t2", *code,
                f"-gencode=arch=compute_{first},code=compute_{first}", "-Xcompiler", HOST,
                "-I", toolkits.ROOT / "include", *arguments]
