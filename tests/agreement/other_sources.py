# SPDX-License-Identifier: MIT
"""Sources for clang: those of shape_sources, which need of CUDA's headers only a few words,
and what C and OpenCL C alone show.

    SOURCES                     {unit: (language, text)}
"""
import shape_sources

# In place of CUDA's headers, of which clang has to be given all or none.
PRELUDE = """\
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#if __has_attribute(grid_constant)
#define __grid_constant__ __attribute__((grid_constant))
#else
#define __grid_constant__
#endif
#define __cluster_dims__(...)
#define threadIdx (Index{(unsigned)__nvvm_read_ptx_sreg_tid_x()})
#define __syncwarp() __nvvm_bar_warp_sync(~0u)
#define __shfl_sync(mask, value, lane) __nvvm_shfl_sync_idx_i32(mask, value, lane, 31)
#define __ballot_sync __nvvm_vote_ballot_sync
struct Index { unsigned x; };
typedef unsigned long long cudaTextureObject_t, cudaSurfaceObject_t;
extern "C" __device__ int printf(const char *, ...);
extern "C" __device__ void *malloc(__SIZE_TYPE__);
extern "C" __device__ void free(void *);
inline __device__ void *operator new(__SIZE_TYPE__ size) { return malloc(size); }
inline __device__ void operator delete(void *memory) { free(memory); }
inline __device__ void operator delete(void *memory, __SIZE_TYPE__) { free(memory); }
"""
# What clang has from CUDA's headers and libdevice alone, or not at all.
OF_A_TOOLKIT = ("launches", "managed", "doubles")

C = {
    "c-data": """
extern int elsewhere;
extern int outside(int);
int zeros[10];
int filled[4] = {1, 2, 3, 4};
const char text[] = "text";
static int hidden = 7;
static const int fixed[3] = {4, 5, 6};
__attribute__((weak)) int weak = 3;
__attribute__((visibility("hidden"))) int unseen = 9;
__attribute__((used)) static int kept = 5;
__attribute__((aligned(64))) char aligned[3];
int shared __attribute__((address_space(3)));
static int shared_too[40] __attribute__((address_space(3)));
int constant[2] __attribute__((address_space(4))) = {1, 2};
int global __attribute__((address_space(1))) = 4;
int named(int x) { shared_too[x & 31] = x; return hidden++ + fixed[x % 3] + shared_too[3] + shared
    + constant[x & 1] + text[x & 3]; }
""",
    "c-pointers": """
static int filled[4] = {1, 2, 3, 4};
static int *inside = &filled[2];
int *const inside_too = &filled[1];
struct both { int (*function)(int); const char *name; long number; };
static __attribute__((noinline)) int own(int x) { return x * *inside; }
__attribute__((weak)) int maybe(int x) { return x; }
struct both table[2] = {{own, "own"}, {maybe, "maybe", 5}};
int through(int which, int x) { return table[which & 1].function(x) + table[which & 1].name[0]; }
""",
}
CL = {
    "cl-kernels": """
typedef __attribute__((ext_vector_type(4))) float float4;
__constant int table[4] = {1, 2, 3, 4};
int helper(int x) { return x * table[x & 3]; }
__kernel void kernel_of_cl(__global int *out, __local int *some, __constant int *more, float4 v) {
  __local int own[32];
  int i = __nvvm_read_ptx_sreg_tid_x();
  own[i & 31] = some[i];
  out[i] = helper(own[0]) + more[i] + (int)v.y;
}
__kernel __attribute__((reqd_work_group_size(8, 4, 1))) void sized(__global int *out)
  { *out = helper(*out); }
""",
}

SOURCES = {
    **{unit: ("cuda", PRELUDE + text) for unit, text in shape_sources.SOURCES.items()
       if unit not in OF_A_TOOLKIT},
    **{unit: ("c", text) for unit, text in C.items()},
    **{unit: ("cl", text) for unit, text in CL.items()},
}
# linker.py looks for a kernel of the name `kernel`, which OpenCL C cannot give.
WITHOUT_KERNEL = (*shape_sources.WITHOUT_KERNEL, *C, *CL)
