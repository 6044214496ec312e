# SPDX-License-Identifier: MIT
"""Kernels in Triton, each with something of its own that shows in PTX, compiled without a GPU.

    python3 triton_kernels.py [FOLDER]

with triton where Python looks.  Prints its version, and what it could not compile; writes
KERNEL-OPTION-ARCH.ptx of each, and .cubin, which triton's own ptxas has linked.
"""
import pathlib
import re
import sys
import warnings

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.language.extra import libdevice


def named(function):
    """A kernel that is called `kernel` in what is compiled: linker.py looks for it."""
    return triton.jit(function, repr=lambda _: "kernel")


@named
def nothing(out):
    pass


@named
def elements(out, x, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i, tl.load(x + i, mask=i < n, other=1.0) * 2 + 1, mask=i < n)


@named
def matrices(out, a, b, k, B: tl.constexpr):
    i = tl.arange(0, B)
    total = tl.zeros((B, B), dtype=tl.float32)
    for at in range(0, k, B):
        one = tl.load(a + i[:, None] * k + at + i[None, :])
        other = tl.load(b + (at + i[:, None]) * B + i[None, :])
        total = tl.dot(one, other, total)
    tl.store(out + i[:, None] * B + i[None, :], total)


@named
def described(out, x, n, B: tl.constexpr):
    source = tl.make_tensor_descriptor(x, shape=[n, B], strides=[B, 1], block_shape=[B, B])
    target = tl.make_tensor_descriptor(out, shape=[n, B], strides=[B, 1], block_shape=[B, B])
    target.store([0, 0], source.load([0, 0]) + 1)


@triton.jit(noinline=True)
def called(n):
    return n * n + 1


@named
def calls(out, n):
    tl.store(out, called(called(n)))


@named
def prints(out, x, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.device_print("value", tl.load(x + i))
    tl.device_print("number", n)


@named
def functions(out, x, n, B: tl.constexpr):
    i = tl.arange(0, B)
    y = tl.load(x + i)
    tl.store(out + i, libdevice.pow(libdevice.sin(y), y) + libdevice.tgamma(y))


KERNELS = (nothing, elements, matrices, described, calls, prints, functions)
TYPES = {"out": "*fp32", "x": "*fp32", "a": "*fp16", "b": "*fp16", "n": "i32", "k": "i32",
         "B": "constexpr"}
# What triton is told, and for which architectures.
OPTIONS = {
    "plain": ({}, (80, 90, 100, 120)),
    "old-ptx": ({"ptx_version": 87}, (90, 120)),
}


def compile(kernel, option, arch):
    settings, _ = OPTIONS[option]
    constants = {"B": 64} if "B" in kernel.arg_names else {}
    source = triton.compiler.ASTSource(
        fn=kernel, signature={name: TYPES[name] for name in kernel.arg_names}, constexprs=constants)
    return triton.compile(source, target=GPUTarget("cuda", arch, 32), options=settings).asm


def write(folder, kernel, option, arch):
    """Under the name of the architecture that it is for indeed: sm_90a, say."""
    try:
        asm = compile(kernel, option, arch)
    except Exception as why:            # whatever a compiler raises
        print(f"{kernel.__name__}/{option}/{arch}: {type(why).__name__}: {why}".splitlines()[0])
        return
    target = re.search(r"^[.]target (\w+)", asm["ptx"], re.M)[1]
    name = f"{kernel.__name__}-{option}-{target}"
    (folder / f"{name}.ptx").write_text(asm["ptx"])
    (folder / f"{name}.cubin").write_bytes(asm["cubin"])


def main():
    warnings.simplefilter("ignore")
    print(triton.__version__)
    for folder in map(pathlib.Path, sys.argv[1:]):
        for kernel in KERNELS:
            for option, (_, architectures) in OPTIONS.items():
                for arch in architectures:
                    write(folder, kernel, option, arch)


if __name__ == "__main__":
    main()
