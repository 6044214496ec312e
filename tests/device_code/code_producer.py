# SPDX-License-Identifier: MIT
"""Compiles with one real nvrtc, in a process of its own:

    code_producer.py libnvrtc.so FOLDER

makes, for each of ARCHITECTURES that it knows,

    k_ARCH.ptx, .cubin, .ltoir      kernels that need what h has, relocatable
    h_ARCH.ptx, .cubin, .ltoir
    e_ARCH.cubin                    a kernel, linked
    f_ARCH.cubin                    functions without a kernel, linked
    l_ARCH.cubin, d_ARCH.cubin      the kernels with -lineinfo and with -G, relocatable
    n_ARCH.cubin                    of a source with nothing for the device, relocatable
    s_ARCH.cubin                    60 static variables and no kernel, relocatable
    g.ptx, g.cubin                  kernels, for debugging
    o.optixir                       OptiX-IR, from 12.0 on
"""
import ctypes
import pathlib
import sys

KERNELS = r"""
extern __device__ int helper(int);
extern __device__ int elsewhere;
__device__ int counter = 1;
__device__ int large[100000];
__constant__ float table[4] = {1, 2, 3, 4};
static __device__ int hidden[3];
template <class T> __device__ __noinline__ T twice(T x) { return x + x * x; }
__device__ __noinline__ int shown(int x) { return x * 3 + hidden[x & 1]; }
extern "C" __global__ void kernel(int *out)
{
    extern __shared__ int dynamic[];
    __shared__ int fixed[7000];
    dynamic[threadIdx.x] = helper(*out);
    fixed[threadIdx.x % 7] = dynamic[0];
    __syncthreads();
    hidden[1] = elsewhere + large[out[5]];
    *out = dynamic[0] + twice(out[1]) + counter + (int)table[out[2] & 3] + shown(out[3])
        + fixed[out[4] % 7];
    if (*out == 7)
        printf("} { \"%d\" // \n", *out);
}
template <int N> __global__ void templated(float *p) { p[N] = twice(p[0]); }
template __global__ void templated<3>(float *);
"""

HELPERS = r"""
__device__ int elsewhere = 5;
__device__ int helper(int x) { return x + elsewhere; }
"""

NOTHING = "typedef int nothing;"

STATICS = "".join(f"static __device__ int s{i};" for i in range(60)) + \
    "__device__ int *pick(int x) { switch (x) {" + \
    "".join(f"case {i}: return &s{i};" for i in range(60)) + "default: return 0; } }"

# Of each generation one, and each suffix; sm_101 is sm_110 since 13.0.
ARCHITECTURES = "52 75 80 90 90a 100 100a 100f 101 110 120".split()

SMALL = 'extern "C" __global__ void small(int *p) { *p = 3; }'


class Nvrtc:
    def __init__(self, path):
        # Wheels of 13 have no RUNPATH to find these.
        for builtins in path.parent.glob("libnvrtc-builtins.so.*"):
            ctypes.CDLL(str(builtins), ctypes.RTLD_GLOBAL)
        self.library = ctypes.CDLL(str(path))
        major, minor = ctypes.c_int(), ctypes.c_int()
        self.library.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
        self.version = major.value, minor.value

    def architectures(self):
        count = ctypes.c_int()
        self.library.nvrtcGetNumSupportedArchs(ctypes.byref(count))
        list_ = (ctypes.c_int * count.value)()
        self.library.nvrtcGetSupportedArchs(list_)
        for arch in list_:
            yield str(arch)
            if arch == 90 and self.version >= (12, 0) or arch >= 100:
                yield f"{arch}a"
            if arch >= 100 and self.version >= (12, 9):
                yield f"{arch}f"

    def get(self, program, what):
        """What one of nvrtcGetPTX, ... gives; None if there is none."""
        function = getattr(self.library, f"nvrtcGet{what}", None)
        size = ctypes.c_size_t()
        if function is None or self.library[f"nvrtcGet{what}Size"](program, ctypes.byref(size)):
            return None
        data = ctypes.create_string_buffer(size.value)
        return data.raw if size.value > 1 and function(program, data) == 0 else None

    def compile(self, source, options, *wanted):
        program = ctypes.c_void_p()
        self.library.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"code.cu", 0, None,
                                        None)
        words = (ctypes.c_char_p * len(options))(*[option.encode() for option in options])
        status = self.library.nvrtcCompileProgram(program, len(options), words)
        if status:
            sys.exit(f"{options}: {status}\n{self.get(program, 'ProgramLog')}")
        found = [self.get(program, what) for what in wanted]
        self.library.nvrtcDestroyProgram(ctypes.byref(program))
        return found


def main(library, folder):
    nvrtc, folder = Nvrtc(pathlib.Path(library)), pathlib.Path(folder)
    for arch in filter(ARCHITECTURES.__contains__, nvrtc.architectures()):
        for name, source in (("k", KERNELS), ("h", HELPERS)):
            ptx, cubin = nvrtc.compile(source, ["-rdc=true", f"-arch=sm_{arch}"], "PTX", "CUBIN")
            (folder / f"{name}_{arch}.ptx").write_bytes(ptx)
            (folder / f"{name}_{arch}.cubin").write_bytes(cubin)
            found = nvrtc.compile(source, ["-rdc=true", "-dlto", f"-arch=compute_{arch}"], "LTOIR",
                                  "NVVM")
            (folder / f"{name}_{arch}.ltoir").write_bytes(next(filter(None, found)))
        for name, source in (("e", SMALL), ("f", HELPERS)):
            cubin, = nvrtc.compile(source, [f"-arch=sm_{arch}"], "CUBIN")
            (folder / f"{name}_{arch}.cubin").write_bytes(cubin)
        for name, source, *options in (("l", KERNELS, "-lineinfo"), ("d", KERNELS, "-G"),
                                       ("n", NOTHING), ("s", STATICS)):
            cubin, = nvrtc.compile(source, ["-rdc=true", f"-arch=sm_{arch}", *options], "CUBIN")
            (folder / f"{name}_{arch}.cubin").write_bytes(cubin)
    ptx, cubin = nvrtc.compile(KERNELS, ["-rdc=true", "-G", "-arch=sm_80"], "PTX", "CUBIN")
    (folder / "g.ptx").write_bytes(ptx)
    (folder / "g.cubin").write_bytes(cubin)
    if nvrtc.version >= (12, 0):
        optixir, = nvrtc.compile(SMALL, ["-optix-ir", "-arch=compute_80"], "OptiXIR")
        (folder / "o.optixir").write_bytes(optixir)


if __name__ == "__main__":
    main(*sys.argv[1:])
