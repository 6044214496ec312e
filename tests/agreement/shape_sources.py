# SPDX-License-Identifier: MIT
"""CUDA sources, each with something of its own that shows in a cubin."""

MANY = range(60)


def kernel(body, parameters="int *out", bounds=""):
    return f'extern "C" __global__ void {bounds} kernel({parameters}) {{ {body} }}\n'


SOURCES = {
    # nothing for the device, as in a host file compiled with -rdc
    "nothing": "typedef int nothing;\n",
    "constant": "__constant__ int numbers[4] = {1, 2, 3, 4};\n",
    "variable": "__device__ int number = 7;\n",
    "external": "extern __device__ int other;\nextern __device__ int somewhere(int);\n",
    # kernels and functions
    "small": kernel("*out = threadIdx.x;"),
    "calls": 'extern "C" __device__ int helper(int);\n' + kernel("*out = helper(threadIdx.x);"),
    "called": 'extern "C" __device__ __noinline__ int helper(int x) { return 3 * x + 1; }\n',
    "functions": "".join(
        f"static __device__ int v{i} = {i};\nstatic __device__ __noinline__ int f{i}(int x)"
        f" {{ v{i} += x; return v{i} * {i + 2}; }}\n" for i in MANY) + kernel(
        "int x = *out;" + "".join(f" x += f{i}(x);" for i in MANY) + " *out = x;"),
    "variables": "".join(f"static __device__ int v{i};\n" for i in MANY) +
        "__device__ int *pick(int x) { switch (x) {" +
        "".join(f" case {i}: return &v{i};" for i in MANY) + " default: return 0; } }\n",
    "kernels": "".join(
        f'extern "C" __global__ void k{i}(int *out, float f{i}) {{ __shared__ int s[{i + 1}];'
        f" s[threadIdx.x % {i + 1}] = *out; __syncthreads(); *out = s[0] + (int)f{i}; }}\n"
        for i in range(20)) + kernel("*out = 1;"),
    "templates":
        "template <class T> __device__ __noinline__ T twice(T x) { return x + x * x; }\n"
        "template <int N> __global__ void templated(float *p) { p[N] = twice(p[0]); }\n"
        "template __global__ void templated<3>(float *);\n" + kernel("*out = twice(*out);"),
    "anonymous": "namespace { __device__ __noinline__ int hidden(int x) { return x * x; } }\n" +
        kernel("*out = hidden(*out);"),
    "weak": "__device__ __attribute__((weak)) int maybe(int x) { return x; }\n"
        "inline __device__ __noinline__ int counted(int x) { static int n; return n += x; }\n" +
        kernel("*out = maybe(*out) + counted(out[1]);"),
    "pointers": "typedef int (*function)(int);\n"
        'extern "C" __device__ __noinline__ int one(int x) { return x + 1; }\n'
        'extern "C" __device__ __noinline__ int two(int x) { return x * 2; }\n'
        "__device__ function both[2] = {one, two};\n" + kernel("*out = both[*out & 1](*out);"),
    "virtuals":
        "struct Base { __device__ virtual int f(int x) { return x; }"
        " __device__ virtual ~Base() {} };\n"
        "struct More : Base { int k; __device__ More(int k) : k(k) {}"
        " __device__ int f(int x) { return x * k; } };\n__device__ Base *kept;\n" +
        kernel("kept = new More(*out); *out = kept->f(out[1]); delete kept;"),
    "recursion": 'extern "C" __device__ __noinline__ int fib(int n)'
        " { return n < 2 ? n : fib(n - 1) + fib(n - 2); }\n" + kernel("*out = fib(*out);"),
    "launches": "__global__ void child(int *out) { *out = 3; }\n" +
        kernel("child<<<1, 1>>>(out);"),
    # memory
    "memory":
        "__device__ int large[100000], first[4] = {1, 2, 3, 4};\n"
        "__constant__ float table[4] = {1, 2, 3, 4};\n__device__ int *inner = &first[2];\n"
        "__constant__ int *constant_inner = &first[1];\n" + kernel(
        "extern __shared__ int dynamic[]; __shared__ int fixed[7000]; int local[500];"
        " for (int i = 0; i < 500; i++) local[i] = out[i];"
        " dynamic[threadIdx.x] = local[out[7]]; fixed[threadIdx.x % 7] = dynamic[0];"
        " __syncthreads(); *out = fixed[0] + large[out[1]] + (int)table[out[2] & 3] + *inner"
        " + *constant_inner;"),
    "managed": "__device__ __managed__ int m = 5;\n__managed__ int n[100];\n" +
        kernel("m += *out; n[threadIdx.x] = m;"),
    "textures": kernel(
        'float x, y, z, w; asm volatile("tex.2d.v4.f32.f32 {%0, %1, %2, %3}, [%4, {%5, %6}];" :'
        ' "=f"(x), "=f"(y), "=f"(z), "=f"(w) : "l"(t), "f"(0.5f), "f"(0.25f)); *out = x;'
        ' asm volatile("sust.b.1d.b32.trap [%0, {%1}], {%2};" :: "l"(s), "r"(4), "r"(1));',
        "cudaTextureObject_t t, cudaSurfaceObject_t s, float *out"),
    "parameters": "struct Wide { int a[800]; };\n" +
        kernel("*out = wide.a[out[0]];", "const __grid_constant__ Wide wide, int *out"),
    # code
    "printing": kernel('if (*out == 7) printf("%d\\n", *out); int *p = (int *)malloc(64);'
                       " p[3] = *out; *out = p[threadIdx.x]; free(p);"),
    "switches": kernel("switch (*out) {" + "".join(
        f" case {i}: out[{i * 7 % 13}] = {i * i + 3} * out[{(i * 5 + 1) % 11}]; break;"
        for i in range(40)) + " }"),
    "bounds": kernel("*out = 1;", bounds="__launch_bounds__(128, 4)"),
    "clusters": "#if __CUDA_ARCH__ >= 900\n#define CLUSTER __cluster_dims__(2, 1, 1)\n#else\n"
        "#define CLUSTER\n#endif\n" + kernel("*out = 1;", bounds="CLUSTER"),
    "doubles": kernel("*out = sin(*out) + pow(out[1], out[2]) / sqrt(out[3]);", "double *out"),
    "groups": kernel(
        '__shared__ int s[32]; s[threadIdx.x % 32] = *out; asm volatile("bar.sync 3, 64;");'
        " __syncwarp(); *out = __shfl_sync(~0u, s[1], 3) + __ballot_sync(~0u, *out);"
        ' asm volatile("red.global.add.u32 [%0], 1;" :: "l"(out));'),
    "matrices": kernel(
        "float a = 0, b = 0, c = 0, d = 0;"
        ' asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3},'
        ' {%4, %5}, {%6}, {%0, %1, %2, %3};" : "+f"(a), "+f"(b), "+f"(c), "+f"(d)'
        ' : "r"(out[0]), "r"(out[1]), "r"(out[2])); *out = a + b + c + d;', "unsigned *out"),
}

WITHOUT_KERNEL = ("nothing", "constant", "variable", "external", "variables")

# What needs a library that is not linked with it, which only the linker sees.
UNDEFINED = {"launches": "functions of cudadevrt"}
