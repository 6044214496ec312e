# SPDX-License-Identifier: MIT
"""An extension that links cudart through lazycuda, as code compiled for CUDA 12."""
import lazycuda
from setuptools import Extension, setup

setup(
    packages=["fastcount"], package_dir={"": "src"},
    ext_modules=[Extension(
        "fastcount._native", ["native.c"], py_limited_api=True,
        library_dirs=[str(lazycuda.libdir(12))], extra_link_args=["-l:libcudart_stub.so", "-Wl,-z,now"])],
    options={"bdist_wheel": {"py_limited_api": "cp38"}})
