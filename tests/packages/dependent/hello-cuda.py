#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The same for the Python module, which this system's Python finds by itself."""
import pathlib
import subprocess

import lazycuda
from lazycuda.link import LinkError, Linker, PTXSource

assert (lazycuda.libdir(12) / "libcudart_stub.so").exists()
assert (lazycuda.includedir() / "lazycuda_link.h").exists()
assert (lazycuda.compatdir(12).parent == lazycuda.libdir(12).parent)
assert subprocess.run(["/usr/bin/python3", "-m", "lazycuda", "--version"]).returncode == 0
linker = Linker("sm_90")
linker.add(PTXSource(".version 7.0\n.target sm_80\n.visible .entry k() { ret; }\n", "k.ptx"))
try:
    linker.link()
except LinkError as error:
    print(error.code.name, pathlib.Path(lazycuda.__file__).parent)
