# SPDX-License-Identifier: MIT
"""Device code of real compilers with something of every kind in it, kept below build/.

    real_code("12.9")       a folder with UNIT_ARCH.KIND for each of ARCHITECTURES
"""
import collections
import hashlib

import samples

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

HALF = ("ptx", "cubin", "ltoir")
# {unit: (source, options of all but LTO-IR, kinds)}
UNITS = {
    "k": (KERNELS, ["-rdc=true"], HALF),        # kernels that need what h has
    "h": (HELPERS, ["-rdc=true"], HALF),
    "e": (SMALL, [], ("cubin",)),               # a kernel, linked
    "f": (HELPERS, [], ("cubin",)),             # functions without a kernel, linked
    "l": (KERNELS, ["-rdc=true", "-lineinfo"], ("cubin",)),
    "d": (KERNELS, ["-rdc=true", "-G"], ("cubin",)),
    "n": (NOTHING, ["-rdc=true"], ("cubin",)),
    "s": (STATICS, ["-rdc=true"], ("cubin",)),  # 60 static variables and no kernel
    "o": (SMALL, ["-optix-ir"], ("optixir",)),
}
DIGEST = hashlib.sha256(repr(UNITS).encode()).hexdigest()[:12]


class Code(collections.namedtuple("Code", "version unit kind arch")):
    """As a samples.Sample."""
    @property
    def source(self):
        return UNITS[self.unit][0]

    @property
    def options(self):
        more = ["-dlto"] if self.kind == "ltoir" else UNITS[self.unit][1]
        return [*more, f"-arch={'compute' if self.kind == 'optixir' else 'sm'}_{self.arch}"]

    @property
    def path(self):
        return (samples.STORE / "code" / f"{samples.library_digest(self.version)}-{DIGEST}" /
                f"{self.unit}_{self.arch}.{self.kind}")


def real_code(version, only=None):
    """A folder of code that the nvrtc of this version compiled; compiled once, and for one architecture
    alone where a test takes no other."""
    made = [Code(version, unit, kind, arch) for unit, (_, _, kinds) in UNITS.items()
            for kind in kinds for arch in (["80"] if unit == "o" else [only] if only else archs(version))
            if kind != "optixir" or samples.key(version) >= (12, 0)]
    samples.make(made)
    return made[0].path.parent


def archs(version):
    return [arch for arch in ARCHITECTURES if samples.compiles(version, f"sm_{arch}")]
