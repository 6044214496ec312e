# SPDX-License-Identifier: MIT
"""For build scripts: where the import libraries, headers and stubs are.

    lazycuda.libdir(12)     import libraries for code compiled with CUDA 12
    lazycuda.libdir()       the stubs, to ship beside an extension
    lazycuda.compatdir(12)  the stubs under the real libraries' names
    lazycuda.includedir()   lazycuda.h and lazycuda_link.h
    lazycuda.cmakedir(), lazycuda.pkgconfigdir()

None of this is needed, or loaded, at run time.  lazycuda.link is for run time: it links
device code.
"""
from .paths import cmakedir, compatdir, includedir, libdir, pkgconfigdir

__all__ = ["cmakedir", "compatdir", "includedir", "libdir", "pkgconfigdir"]
