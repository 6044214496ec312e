# SPDX-License-Identifier: MIT
"""A kernel of numba-cuda, linked by lazycuda.link, on a machine with no GPU.

    pip wheel --no-deps -w packages .           # lazycuda itself: it is not published yet
    pip install --find-links packages numba-cuda lazycuda
    python examples/numba_cuda_link.py out.cubin

numba-cuda compiles the kernel with the libnvvm of a CUDA toolkit.  compile_all() also
returns what else has to be linked: the LinkableCode, with callbacks, that `link=` of
declare_device() and cuda.jit() took.  lazycuda.link has the same classes.
"""
import sys

from numba import cuda

from lazycuda import link

HELPER = """\
.version 7.0
.target sm_75
.address_size 64
.visible .func (.param .b32 status) triple(.param .b64 result, .param .b32 x)
{
	.reg .b32 %r<3>;
	.reg .b64 %p<2>;
	ld.param.u64 %p1, [result];
	ld.param.u32 %r1, [x];
	mul.lo.s32 %r2, %r1, 3;
	st.u32 [%p1], %r2;
	mov.u32 %r0, 0;
	st.param.b32 [status], %r0;
	ret;
}
"""


def inputs(codes):
    """What compile_all() returns, as lazycuda.link takes it: text is the code that numba-cuda
    compiled itself, the first of them the kernel; everything else is LinkableCode."""
    for number, code in enumerate(codes):
        if isinstance(code, (str, bytes)):
            kind = link.PTXSource if isinstance(code, str) else link.LTOIR
            yield kind(code, f"<cudapy-{number}>", main=number == 0)
        else:
            kind = getattr(link, type(code).__name__)
            yield kind(code.data, code.name, code.setup_callback, code.teardown_callback,
                       needs=["nrt"] * code.nrt)


def main():
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} OUT.cubin")
    helper = cuda.PTXSource(HELPER, "triple.ptx", setup_callback=lambda module:
                            print(f"set up {module}"))
    triple = cuda.declare_device("triple", "int32(int32)", link=helper)

    def kernel(out):
        out[cuda.threadIdx.x] = triple(cuda.threadIdx.x)

    codes, _ = cuda.compile_all(kernel, "void(int32[::1])", device=False, abi="numba", cc=(8, 0),
                                output="ptx")
    linker = link.Linker("sm_80").add(*inputs(codes))
    print(linker.plan().message)
    image = linker.link()
    # Whoever loads the image calls these with the module.
    linker.result.setup("module")
    print("kernels:", *(symbol.name for symbol in link.inspect(image).entries[0].symbols
                        if symbol.kernel))
    with open(sys.argv[1], "wb") as file:
        file.write(image)


if __name__ == "__main__":
    main()
