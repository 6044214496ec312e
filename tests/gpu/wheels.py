#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compute on a GPU twice, as published and with lazycuda, and compare.

    tests/gpu/wheels.py PUBLISHED RETARGETED [WHEEL]...
    tests/gpu/wheels.py --preload FOLDER [torch|cupy|jax]...

PUBLISHED and RETARGETED are folders with a site-packages for each wheel, made by `pip install
--no-deps --target PUBLISHED/WHEEL ...`; what a wheel needs besides, this Python has.  Which use of
USES is made of it its name tells: bitsandbytes_118 is of bitsandbytes, with its library for CUDA
11.8.  On a machine with another CUDA than the wheel was made for, the published one says why it does
not start, and the retargeted one has to compute what the processor computes.  Where the published
one starts, both have to print the same.  Status 1 otherwise.

FOLDER holds stubs under the real SONAMEs of the major that the frameworks of this Python were built
for: `make install COMPAT=13 ALL_STUBS=yes` puts them into LIBDIR/lazycuda/compat13.  They are
preloaded, so that every object of the process binds to them, and forward to the libraries that the
framework has installed.  A stub that served nothing is a failure, and a framework that is not
installed, or sees no GPU, is skipped.
"""
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys

import numpy

KERNEL = """extern "C" __global__ void twice(float *x, int n)
{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = i * 2.f; }"""
CUDA = re.compile(r"/lib(?:cu|nv|nccl)[^/]*\.so[.0-9]*$")
# What frameworks open in one process alone: CUPTI is a profiler's, NVSHMEM a launcher's.
PRELOADED = ("cublas", "cublasLt", "cudart", "cudnn", "cufft", "curand", "cusolver", "cusparse",
             "cusparseLt", "nccl", "nvJitLink", "nvrtc")


def symmetric(count):
    made = numpy.random.default_rng(1).normal(size=(count, count))
    return made + made.T + 2 * count * numpy.eye(count)


# Each yields names, what the GPU has computed, and what it has to be.
def with_cupy():
    import cupy
    import cupyx.scipy.sparse
    from numpy.linalg import inv, svd
    a = symmetric(100)
    on = cupy.asarray(a)
    yield "product", on @ on, a @ a
    yield "inverse", cupy.linalg.inv(on), inv(a)
    yield "svd", cupy.linalg.svd(on, compute_uv=False), svd(a, compute_uv=False)
    yield "fft", abs(cupy.fft.fft2(on)), abs(numpy.fft.fft2(a))
    yield "sparse", cupyx.scipy.sparse.csr_matrix(on * (on > 1)) @ on, (a * (a > 1)) @ a
    yield "random", cupy.random.RandomState(1).rand(100000).mean(), .5
    yield "sort", cupy.sort(on.ravel()), numpy.sort(a.ravel())
    yield "sum", on.sum(axis=0), a.sum(axis=0)
    made = cupy.zeros(1000, dtype=cupy.float32)
    cupy.RawKernel(KERNEL, "twice")((4,), (256,), (made, cupy.int32(1000)))
    yield "kernel", made, 2 * numpy.arange(1000)
    pinned = cupy.cuda.alloc_pinned_memory(1000)
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        moved = cupy.asarray(a) + 1
    stream.synchronize()
    yield "stream", moved, a + 1
    yield "pinned", pinned.size() >= 1000, True


def with_openmm():
    import openmm
    import openmm.unit
    print("+", *openmm.Platform.getPluginLoadFailures(), sep="\n+ ")
    side, count = 3.0, 216
    system = openmm.System()
    system.setDefaultPeriodicBoxVectors((side, 0, 0), (0, side, 0), (0, 0, side))
    force = openmm.NonbondedForce()
    force.setNonbondedMethod(openmm.NonbondedForce.PME)
    places = []
    for i in range(count):
        system.addParticle(20)
        force.addParticle(1 if i % 2 else -1, 0.3, 0.5)
        places.append([(i // 6 ** k % 6 + 0.01 * (i * (k + 3) % 7)) * side / 6 for k in range(3)])
    system.addForce(force)
    found = {}
    for name in "CUDA", "Reference":
        context = openmm.Context(system, openmm.VerletIntegrator(0.0005),
                                 openmm.Platform.getPlatformByName(name))
        context.setPositions(places)
        context.getIntegrator().step(20)
        state = context.getState(getEnergy=True, getPositions=True)
        found[name] = (state.getPotentialEnergy() / openmm.unit.kilojoules_per_mole,
                       state.getPositions(asNumpy=True) / openmm.unit.nanometers)
    yield "energy", found["CUDA"][0], found["Reference"][0]
    yield "positions", found["CUDA"][1], found["Reference"][1]


def with_bitsandbytes():
    import bitsandbytes.functional as functional
    import torch
    x = torch.randn(256, 256, generator=torch.Generator().manual_seed(1)).cuda()
    eight = (x * 20).round().clamp(-127, 127).to(torch.int8)
    yield "product", functional.int8_linear_matmul(eight, eight).cpu().numpy(), \
        eight.cpu().numpy().astype(int) @ eight.cpu().numpy().astype(int).T
    packed, state = functional.quantize_4bit(x, quant_type="nf4")
    back = functional.dequantize_4bit(packed, state)
    yield "four bits", float((x - back).abs().mean() / x.abs().mean()) < .12, True
    yield "with torch", (back @ back).cpu().numpy(), back.cpu().numpy() @ back.cpu().numpy()


def with_torch():
    import torch
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    functional = torch.nn.functional
    a = torch.as_tensor(symmetric(256), dtype=torch.float32) / 100
    image, kernel = a.view(1, 4, 128, 128), a[:8].flatten()[:288].view(8, 4, 3, 3)
    for name, made in {
            "product": lambda x: x @ x,
            "fft": lambda x: torch.fft.fft2(x).abs(),
            "solve": lambda x: torch.linalg.solve(x, x[:, :3]),
            "sparse": lambda x: (x * (x > .1)).to_sparse_csr() @ x,
            "convolution": lambda x: functional.conv2d(image.to(x), kernel.to(x)),
            "sort": lambda x: x.flatten().sort()[0]}.items():
        yield name, made(a.cuda()).cpu(), made(a)
    yield "random", torch.rand(100000, device="cuda").mean().cpu(), .5
    if torch.distributed.is_nccl_available():
        torch.distributed.init_process_group("nccl", store=torch.distributed.HashStore(), rank=0,
                                             world_size=1)
        alone = a.cuda()
        torch.distributed.all_reduce(alone)
        yield "all-reduce", alone.cpu(), a
        torch.distributed.destroy_process_group()
    made = torch.zeros(1000, device="cuda")
    torch.cuda._compile_kernel(KERNEL, "twice")((4, 1, 1), (256, 1, 1), (made, 1000))
    yield "kernel", made.cpu(), 2 * numpy.arange(1000)
    on = a.cuda()
    with torch.cuda.stream(torch.cuda.Stream()):
        on * 2 + on
    torch.cuda.synchronize()
    recorded = torch.cuda.CUDAGraph()
    with torch.cuda.graph(recorded):
        made = (on * 2 + on).relu()
    recorded.replay()
    yield "graph", made.cpu(), (a * 2 + a).relu()
    if importlib.util.find_spec("triton"):
        yield "compile", torch.compile(lambda x: torch.sin(x) * x)(on).cpu(), torch.sin(a) * a


def with_jax():
    import jax
    assert jax.default_backend() == "gpu", "JAX sees no GPU"
    a = symmetric(100).astype("f")
    on = jax.numpy.asarray(a)
    yield "product", on @ on, a @ a
    yield "fft", abs(jax.numpy.fft.fft(on)), abs(numpy.fft.fft(a))
    yield "solve", jax.numpy.linalg.solve(on, on), numpy.eye(100)


USES = {"torch": with_torch, "cupy": with_cupy, "jax": with_jax, "openmm": with_openmm,
        "bitsandbytes": with_bitsandbytes}


def compute(name):
    """In a process of its own: print values, and the files that it has mapped."""
    use = next(USES[key] for key in USES if name.startswith(key))
    try:
        for what, made, expected in use():
            made = numpy.asarray(made.get() if hasattr(made, "get") else made, dtype=float)
            right = bool(numpy.allclose(made, numpy.asarray(expected, dtype=float), 5e-3, 5e-3))
            print("=", json.dumps([what, right, f"{made.sum():.4e} {abs(made).max():.4e}"]),
                  flush=True)
    except Exception as error:
        print("!", type(error).__name__, *str(error).split(), flush=True)
    for line in pathlib.Path("/proc/self/maps").read_text().splitlines():
        if ".so" in line:
            print("+", line.split(maxsplit=5)[-1])


def run(name, preloaded=(), **more):
    """(values, why there are no more, the files that it has mapped)"""
    environment = {**os.environ, "LD_PRELOAD": " ".join(preloaded), **more}
    if name.startswith("bitsandbytes_"):    # which of its libraries
        environment["BNB_CUDA_VERSION"] = name.rpartition("_")[2]
    done = subprocess.run([sys.executable, __file__, "--compute", name], env=environment,
                          capture_output=True, text=True, timeout=300)
    lines = done.stdout.splitlines()
    values = {what: (right, made) for what, right, made in
              (json.loads(line[2:]) for line in lines if line.startswith("= "))}
    why = next((line[2:] for line in lines if line.startswith("! ")), None)
    if done.returncode:
        why = f"exit {done.returncode}: {done.stderr.strip()[-300:]}"
    # Where the warning or the log says more than the exception.
    if why and "lib" not in why:
        why += "".join(f"; {line[-200:]}" for line in [*lines, *done.stderr.splitlines()]
                       if "cannot open shared" in line)[:400]
    return values, why, {line[2:] for line in lines if line.startswith("+ ")}


def stubs_in(folder):
    found = [str(file.resolve()) for name in PRELOADED
             for file in pathlib.Path(folder).glob(f"lib{name}.so.*")]
    return found or sys.exit(f"{folder}: there are no stubs under real SONAMEs; make them with "
                             "`make install COMPAT=13 ALL_STUBS=yes`")


def compare(name, published, retargeted, stubs):
    """Whether one of them is as it has to be; without folders this Python's, with stubs preloaded."""
    stock, without, _ = run(name, **published)
    if stubs and not stock:
        print(f"skip {name}: {without}")
        return True
    ours, why, files = run(name, stubs, **retargeted)
    wrong = [what for what, (right, _) in ours.items() if not right]
    different = [what for what in stock if stock[what] != ours.get(what)]
    missing = sorted(set(stubs) - files)
    good = bool(ours) and not (wrong or different or missing or why != (without if stubs else None))
    real = sorted({path.split("/")[-1] for path in files if CUDA.search(path)
                   and not path.startswith(retargeted.get("PYTHONPATH", "!"))} - set(stubs))
    print(f"{'pass' if good else 'fail'} {name}: {len(ours) - len(wrong)} right, "
          f"{len(wrong)} wrong, {len(stock) - len(different)} as published")
    print(f"  published: {without or 'computes'}")
    for what in wrong + different:
        print(f"  {what}: {ours.get(what)}, published {stock.get(what)}")
    for stub in missing:
        print(f"  it served nothing: {stub}")
    print(f"  {f'{len(stubs)} stubs' if stubs else 'retargeted'}: {why or 'computes'}, on {' '.join(real)}")
    return good


def main(arguments):
    if arguments[:1] == ["--compute"]:
        return compute(arguments[1])
    if len(arguments) < 2:
        sys.exit(__doc__)
    first, second, *names = arguments
    if first == "--preload":
        good = [compare(name, {}, {}, stubs_in(second)) for name in names or ("torch", "cupy", "jax")]
    else:
        first, second = pathlib.Path(first).resolve(), pathlib.Path(second).resolve()
        good = [compare(name, {"PYTHONPATH": f"{first}/{name}"}, {"PYTHONPATH": f"{second}/{name}"}, [])
                for name in names or sorted(path.name for path in second.iterdir())]
    print(f"{good.count(False)} failed")
    return False in good


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
