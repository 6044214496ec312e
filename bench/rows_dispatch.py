# SPDX-License-Identifier: MIT
"""What it costs to plan a link, and to carry it out."""
import functools
import subprocess
import sys

import measure
from measure import BENCH, LIB, NEWEST, PYTHON, ROOT, WORK, Row, compile, run

PRODUCER = ROOT / "tests" / "agreement" / "producer.py"
LINK_LIBRARY = LIB / "liblazycuda_link.so"
PLANS = ("ptx", "fatbins", "lto", "archive")
# By name: the kind, how many kernels, and how many times as many rounds it takes for a
# figure as exact as those of the others: a link of cubins is short.
LINKS = {
    "ptx": ("ptx", 1, 1),
    "cubin": ("cubin", 1, 20),
    "cubin of 51 kernels": ("cubin", 51, 5),
    "ltoir": ("ltoir", 1, 1),
}


HELPER = 'extern "C" __device__ float twice(float x) { return 2 * x; }'
HEAD = """extern "C" __device__ float twice(float);
template <int N> __device__ float power(float x) { return x * power<N - 1>(x); }
template <> __device__ float power<0>(float x) { return 1; }
"""
KERNEL = """extern "C" __global__ void all%d(float *x, int n)
{
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x)
		x[i] = twice(power<9>(x[i] + %d)) / (1 + power<5>(x[i]));
}
"""


def program():
    return compile("link", "-I", ROOT / "include", BENCH / "link.c", LINK_LIBRARY,
                   f"-Wl,-rpath,{LIB}", "-ldl")


@functools.lru_cache(maxsize=None)
def code(kind, kernels):
    """The folder of what the newest nvrtc makes of so many kernels, 0, and of their helper, 1."""
    folder = WORK / f"code-{kind}-{kernels}"
    folder.mkdir(exist_ok=True)
    sources = HEAD + "".join(KERNEL % (i, i) for i in range(kernels)), HELPER
    jobs = []
    for number, source in enumerate(sources):
        (folder / f"{number}.cu").write_text(source)
        jobs.append("\t".join([f"{folder}/{number}.cu", f"{folder}/{number}", kind, "-arch=sm_90",
                               "-dlto" if kind == "ltoir" else "-rdc=true"]))
    said = subprocess.run([sys.executable, PRODUCER, measure.real(NEWEST)["nvrtc"]], text=True, check=True,
                          input="\n".join(jobs), stdout=subprocess.PIPE).stdout
    if said != "ok\nok\n":
        raise RuntimeError(said)
    return folder


def planning(kind, inputs, rounds):
    """Microseconds of a plan of so many inputs, beside one for each."""
    if measure.quick:
        inputs, rounds = min(inputs, 1000), min(rounds, 20)
    said = run(sys.executable, BENCH / "plan.py", kind, inputs, rounds, measure.often(15),
               PYTHONPATH=str(PYTHON), LAZYCUDA_LINK_LIBRARY=str(LINK_LIBRARY))
    return [(float(line) / 1000, inputs) for line in said.splitlines()]


def link_command(name, rounds, *more, others=()):
    """What links one of LINKS so many times with the newest nvJitLink, and its environment: that
    alone is there, or those of other versions as well."""
    kind, kernels, _ = LINKS[name]
    real = measure.real(NEWEST)
    folders = [measure.real(version)["nvJitLink"].parent for version in (NEWEST, *others)]
    variables = {"LD_LIBRARY_PATH": ":".join(map(str, folders))}
    if not others:
        variables["LAZYCUDA_NVJITLINK"] = str(real["nvJitLink"])
    return [program(), kind, code(kind, kernels), "sm_90", real["nvJitLink"], rounds, *more], variables


def links(*words, unit, **more):
    """[(through the handle or isolated, alone)] of links taken in turn."""
    command, variables = link_command(*words, **more)
    return [tuple(float(word) / unit for word in line.split())
            for line in run(*command, **variables).splitlines()]


def linking(kind, *others):
    return links(kind, measure.often(60) * LINKS[kind][2], unit=1e3, others=others)


def isolating(kind):
    return links(kind, measure.often(20), "isolated", unit=1e6)


def first():
    """Milliseconds of a process that links a cubin once, through the handle and alone."""
    words, variables = link_command("cubin", "first")
    return [(1e3 * a, 1e3 * b) for a, b in measure.interleaved(
        lambda: measure.processor_time(*words, **variables),
        lambda: measure.processor_time(*words, "alone", **variables), 25)]


def counting_first():
    if measure.quick:
        raise measure.Unmeasured("nvJitLink takes a minute in valgrind")
    words, variables = link_command("cubin", "first")
    return [measure.callgrind(None, *words, *more, **variables) for more in ((), ("alone",))]


def from_python(kind):
    """Both programs read how many rounds to take."""
    words, variables = link_command(kind, 0)
    folder, arch = words[2:4]
    in_python = sys.executable, BENCH / "link.py", arch, folder / "0", folder / "1"
    variables = {**variables, "PYTHONPATH": str(PYTHON),
                 "LAZYCUDA_LINK_LIBRARY": str(LINK_LIBRARY)}
    with measure.one_processor():
        pairs = measure.rounds_in_turn(
            lambda: measure.Worker(*in_python, **variables),
            lambda: measure.Worker(*words[:4], "serve", **variables), 20)
    return [(a / 1000, b / 1000) for a, b in pairs]


def counting(kind, few=4, many=12):
    """(instructions of a link through the handle, alone), once both are warm."""
    if measure.quick:
        raise measure.Unmeasured("nvJitLink takes a minute in valgrind")
    words, variables = link_command(kind, 0)

    def count(function, rounds):
        return measure.callgrind(function, *words[:5], rounds, **variables)
    return [(count(function, many) - count(function, few)) / (many - few)
            for function in ("through_handle", "through_library")]


GROUPS = {
    "Device code": [
        Row(f"plan 100 inputs, {kind} / 100 us", "us", 1,
            functools.partial(planning, kind, 100, 2000))
        for kind in PLANS
    ] + [
        Row("plan 100,000 inputs, ptx / 100 ms", "us", 1,
            functools.partial(planning, "ptx", 100000, 5)),
    ] + [
        # The links that are short: of others what the handle adds cannot be seen.
        Row(f"link {kind}: handle / nvJitLink alone", "us", 1.02,
            functools.partial(linking, kind),
            functools.partial(counting, kind) if kind.startswith("cubin") else None)
        for kind in LINKS
    ] + [
        # With the search for nvJitLink, and without loading nvrtc.
        Row("first link of a cubin: handle / nvJitLink alone", "ms", 1.2, first, counting_first),
        # What is chosen for each link is looked for once.
        Row("link with 2 toolkits: handle / nvJitLink alone", "us", 1.02,
            functools.partial(linking, "cubin of 51 kernels", "12.9")),
        Row("link cubin of 51 kernels: Python / C", "us", 1.3,
            functools.partial(from_python, "cubin of 51 kernels")),
    ] + [
        Row(f"link {kind}: isolated / in the process", "ms", limit,
            functools.partial(isolating, kind))
        for kind, limit in (("cubin", 15), ("ptx", 4), ("ltoir", 4))
    ],
}
