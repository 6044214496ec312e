# SPDX-License-Identifier: MIT
"""For build scripts: where the import libraries, headers and stubs are.

    lazycuda.libdir(12)     import libraries for code compiled with CUDA 12
    lazycuda.libdir()       the stubs, to ship beside an extension
    lazycuda.includedir()   lazycuda.h and lazycuda_link.h
    lazycuda.cmakedir(), lazycuda.pkgconfigdir()

Nothing of this is needed, or loaded, at run time.
"""
from .paths import cmakedir, includedir, libdir, pkgconfigdir

__all__ = ["cmakedir", "includedir", "libdir", "pkgconfigdir"]
