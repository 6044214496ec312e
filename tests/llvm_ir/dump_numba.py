# SPDX-License-Identifier: MIT
"""Prints the NVVM IR of a kernel, as numba-cuda hands it to libnvvm: numba_cuda.ll.

    pip install numba-cuda nvidia-nvvm && python dump_numba.py >numba_cuda.ll
"""
import sys

from numba import cuda
from numba.cuda.cudadrv import nvvm


def kernel(number):
    pass


def show(irs, **options):
    print("\n".join([irs] if isinstance(irs, str) else irs))
    sys.exit()


nvvm.compile_ir = show
cuda.compile(kernel, "void(int32)", device=False, abi="numba", cc=(8, 0), output="ltoir")
