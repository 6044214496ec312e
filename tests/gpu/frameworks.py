#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compute with torch, CuPy or JAX on a GPU twice, directly and through stubs, and compare.

    tests/gpu/frameworks.py FOLDER [torch|cupy|jax]...

FOLDER holds stubs under the real SONAMEs of the major that the framework was built for:
`make install COMPAT=13 ALL_STUBS=yes` puts them into LIBDIR/lazycuda/compat13.  They are
preloaded, so that every object of the process binds to them, and forward to the libraries
that the framework has installed.  Prints a line for each value that both processes printed
and the totals; status 1 if a value differs, or if a stub that was preloaded served nothing.
A framework that is not installed, or sees no GPU, is skipped.
"""
import os
import pathlib
import re
import subprocess
import sys

# What frameworks open in one process alone: CUPTI is a profiler's, NVSHMEM a launcher's.
PRELOADED = ("cublas", "cublasLt", "cudart", "cudnn", "cufft", "curand", "cusolver", "cusparse",
             "cusparseLt", "nccl", "nvJitLink", "nvrtc")
CANNOT = "cannot:"
KERNEL = """extern "C" __global__ void twice(float *x, int n)
{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = i * 2.f; }"""


def show(name, compute):
    """Print a value that is the same in every process: a few digits of sums."""
    try:
        print("=", name, *[f"{float(number):.5e}" for number in compute()], flush=True)
    except Exception as error:
        print("=", name, CANNOT, type(error).__name__, *str(error).split(), flush=True)


def with_torch():
    import torch
    if not torch.cuda.is_available():
        return "torch sees no GPU"
    torch.backends.cuda.matmul.allow_tf32 = False

    def numbers(tensor):
        tensor = tensor.double()
        return tensor.sum(), tensor.abs().max()

    def seeded(seed):
        return torch.randn(512, 512, generator=torch.Generator().manual_seed(seed)).cuda()

    def layer(kind, *sizes):
        made = kind(*sizes).cuda()
        with torch.no_grad():
            for one in made.parameters():
                one.copy_(torch.linspace(-.1, .1, one.numel()).view_as(one))
        return made

    def graph():
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            a * 2 + b
        torch.cuda.synchronize()
        recorded = torch.cuda.CUDAGraph()
        with torch.cuda.graph(recorded):
            made = (a * 2 + b).relu()
        recorded.replay()
        torch.cuda.synchronize()
        return made

    def compiled():
        made = torch.zeros(1000, device="cuda")
        torch.cuda._compile_kernel(KERNEL, "twice")((4, 1, 1), (256, 1, 1), (made, 1000))
        return made

    def all_reduced():
        import torch.distributed
        torch.distributed.init_process_group("nccl", store=torch.distributed.HashStore(), rank=0,
                                             world_size=1)
        made = a.clone()
        torch.distributed.all_reduce(made)
        torch.cuda.synchronize()
        torch.distributed.destroy_process_group()
        return made

    a, b, unit = seeded(1), seeded(2), torch.eye(512).cuda()
    convolution = layer(torch.nn.Conv2d, 8, 16, 3)
    image = a.view(1, 8, 128, 256)
    for name, compute in {
            "product": lambda: a @ b,
            "random": lambda: torch.randn(1000, device="cuda", generator=torch.Generator(
                device="cuda").manual_seed(3)),
            "fft": lambda: torch.fft.fft2(a).abs(),
            "solve": lambda: torch.linalg.solve(a + 50 * unit, b),
            "sparse": lambda: (a * (a > 1)).to_sparse_csr() @ b,
            "convolution": lambda: convolution(image),
            "graph": graph,
            "kernel": compiled,
            "all-reduce": all_reduced,
            "compile": lambda: torch.compile(lambda x, y: torch.sin(x) * y)(a, b)}.items():
        show(name, lambda compute=compute: numbers(compute()))
    return None


def with_cupy():
    import cupy
    import cupyx.scipy.sparse
    try:
        cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        return f"CuPy sees no GPU: {error}"
    a = cupy.arange(10000, dtype=cupy.float32).reshape(100, 100) / 1e3
    a += 100 * cupy.eye(100, dtype=cupy.float32)

    def raw():
        made = cupy.zeros(1000, dtype=cupy.float32)
        cupy.RawKernel(KERNEL, "twice")((4,), (256,), (made, cupy.int32(1000)))
        return made.sum()

    for name, compute in {
            "product": lambda: (a @ a).sum(),
            "inverse": lambda: cupy.linalg.inv(a).sum(),
            "fft": lambda: abs(cupy.fft.fft(a)).sum(),
            "random": lambda: cupy.random.RandomState(1).rand(100).sum(),
            "sparse": lambda: (cupyx.scipy.sparse.csr_matrix(a * (a > 5)) @ a).sum(),
            "kernel": raw}.items():
        show(name, lambda compute=compute: [compute()])
    return None


def with_jax():
    import jax
    if jax.default_backend() != "gpu":
        return "JAX sees no GPU"
    a = jax.numpy.arange(10000.).reshape(100, 100) / 1e3 + 100 * jax.numpy.eye(100)
    for name, compute in {
            "product": lambda: (a @ a).sum(),
            "fft": lambda: abs(jax.numpy.fft.fft(a)).sum(),
            "solve": lambda: jax.numpy.linalg.solve(a, a).sum()}.items():
        show(name, lambda compute=compute: [compute()])
    return None


FRAMEWORKS = {"torch": with_torch, "cupy": with_cupy, "jax": with_jax}


def compute(framework):
    """In a process of its own: print values, and the files that it has mapped."""
    try:
        why = FRAMEWORKS[framework]()
    except ImportError as error:
        why = str(error)
    if why:
        print("skip", why.replace("\n", " "))
    for line in pathlib.Path("/proc/self/maps").read_text().splitlines():
        if ".so" in line:
            print("+", line.split(maxsplit=5)[-1])


def stubs_in(folder):
    found = [str(file.resolve()) for name in PRELOADED
             for file in pathlib.Path(folder).glob(f"lib{name}.so.*")]
    if not found:
        sys.exit(f"{folder}: there are no stubs under real SONAMEs; make them with "
                 "`make install COMPAT=13 ALL_STUBS=yes`")
    return found


def run(framework, preloaded):
    done = subprocess.run([sys.executable, __file__, "--compute", framework],
                          env={**os.environ, "LD_PRELOAD": " ".join(preloaded)},
                          capture_output=True, text=True, timeout=300)
    lines = done.stdout.splitlines()
    files = {line[2:] for line in lines if line.startswith("+ ")}
    values = dict(re.findall(r"^= (\S+) (.*)$", done.stdout, re.M))
    skipped = next((line[5:] for line in lines if line.startswith("skip ")), None)
    if done.returncode:
        values["exit"] = f"{done.returncode} {done.stderr.strip()[-300:]}"
    return values, files, skipped


def main(arguments):
    if arguments[:1] == ["--compute"]:
        return compute(arguments[1])
    unknown = set(arguments[1:]) - set(FRAMEWORKS)
    if not arguments or unknown:
        sys.exit(__doc__)
    stubs = stubs_in(arguments[0])
    counts = dict(passed=0, failed=0, skipped=0)
    for framework in arguments[1:] or FRAMEWORKS:
        direct, _, skipped = run(framework, [])
        if skipped:
            print(f"skip {framework}: {skipped}")
            counts["skipped"] += 1
            continue
        through, files, skipped = run(framework, stubs)
        missing = set(stubs) - files
        different = {name: f"{through.get(name, skipped)}, directly {direct.get(name)}"
                     for name in {*direct, *through} if through.get(name) != direct.get(name)}
        alike = {name: value for name, value in direct.items() if name not in different}
        neither = {name: value for name, value in alike.items() if value.startswith(CANNOT)}
        failed = different or missing or len(neither) == len(alike)
        counts["failed" if failed else "passed"] += 1
        print(f"{'fail' if failed else 'pass'} {framework}: {len(alike) - len(neither)} equal, "
              f"{len(different)} different, {len(stubs) - len(missing)} stubs preloaded")
        for name, values in sorted({**different, **neither}.items()):
            print(f"  {name}: {values}")
    print(", ".join(f"{number} {what}" for what, number in counts.items()))
    return counts["failed"] != 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
