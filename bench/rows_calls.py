# SPDX-License-Identifier: MIT
"""What a call costs once the library is there, or is known not to be."""
import functools
import os
import re

import measure
from measure import BENCH, LIB, MAJORS, ROOT, WORK, Row, compile

ROUNDS = 10_000         # of which instructions are counted


class Function:
    def __init__(self, name, parameters, arguments, passed=""):
        self.name = name
        self.flags = [f"-DNAME={name}", f"-DPARAMETERS={parameters}", f"-DARGUMENTS={arguments}"]
        self.passed = passed


SYNCHRONIZE = Function("cudaDeviceSynchronize", "(void)", "()", "()")
VERSION = Function("nvrtcVersion", "(int *a, int *b)", "(&numbers[0], &numbers[1])", "(a, b)")
ADVISE_12 = Function("cudaMemAdvise", "(const void *, size_t, int, int)", "(numbers, 1, 1, 0)")
ADVISE_13 = Function("cudaMemAdvise", "(const void *, size_t, int, struct location)",
                     "(numbers, 1, 1, place)")
PROPERTIES_12 = Function("cudaGetDeviceProperties_v2", "(void *, int)", "(numbers, 0)")
LEAST = Function("least_properties", "(int *, int)", "(numbers, 0)")
ENTRY_POINT_12 = Function("cudaGetDriverEntryPoint",
                          "(const char *, void *, unsigned long long, int *)",
                          '("", numbers, 0, numbers)')
ABSENT_13 = Function("cudaFree", "(void *)", "(0)")
DRIVER_SYNCHRONIZE = Function("cuCtxSynchronize", "(void)", "()")
DRIVER_VERSION = Function("cuDriverGetVersion", "(int *a)", "(numbers)", "(a)")
NVML_VERSION = Function("nvmlSystemGetNVMLVersion", "(char *a, unsigned b)",
                        "((char *)numbers, 96)")
NVML_SHUTDOWN = Function("nvmlShutdown", "(void)", "()")


# ---- programs ----

def program(function, way, *more):
    return compile(f"calls-{function.name}-{way}", "-fPIE", "-pthread", *function.flags,
                   BENCH / "calls.c", *more, "-ldl")


def direct(function, library, *more):
    return program(function, f"direct-{library.name}", *more, library,
                   f"-Wl,-rpath,{library.parent}")


def stubbed(function, stub, major):
    """Linked as a caller of that major is; the stub itself lies one folder up."""
    return program(function, f"stub-{major}", LIB / f"cuda{major}/lib{stub}_stub.so",
                   f"-Wl,-rpath,{LIB}")


def wrapped(function, library):
    made = compile(f"libwrapper-{library.name}.so", "-shared", "-fPIC", *function.flags,
                   f"-DPASSED={function.passed}", f'-DLIBRARY="{library}"',
                   BENCH / "wrapper.c", "-ldl")
    return program(function, f"wrapper-{library.name}", made, f"-Wl,-rpath,{WORK}")


def pointed(function, library):
    return program(function, f"pointer-{library.name}", f'-DPOINTER="{library}"')


# ---- comparisons ----

def in_turn(prepare, threads=1, files=(), **options):
    """`prepare` gives programs A and B and what leads the stub to the library."""
    a, b, env = prepare()
    return measure.rounds_in_turn(lambda: measure.Worker(a, threads, *files, **env),
                                  lambda: measure.Worker(b, threads, *files, **env), **options)


def on_one_processor(prepare, files=lambda: []):
    with measure.one_processor():
        return in_turn(prepare, files=files())


@functools.lru_cache(maxsize=None)
def count(program, env):
    """Instructions of a round.  A stub without its library looks, some times in each tick of the
    clock, for what was loaded since: that is not counted, since much more of the time goes by in a
    round here than it does without callgrind, and most on a busy machine."""
    return measure.callgrind("loop", program, given=str(ROUNDS), apart="look_in",
                             **dict(env)) / ROUNDS


def counted(prepare):
    a, b, env = prepare()
    return [count(program, tuple(env.items())) for program in (a, b)]


def row(name, limit, more, prepare):
    return Row(name, "ns", limit, functools.partial(on_one_processor, prepare),
               functools.partial(counted, prepare), more)


# ---- forwarded ----

# A round of the loop takes a branch for the call, one in the PLT, one to return
# and one to go round; the stub adds one.  A pointer needs no PLT.
WAYS = (("direct", direct, 5 / 4, 1), ("null-checked wrapper", wrapped, 1, 0),
        ("dlsym() and pointer", pointed, 5 / 3, 2))


def of_tiny(way):
    library = measure.tiny()
    return (stubbed(SYNCHRONIZE, "cudart", 13), way(SYNCHRONIZE, library),
            {"LAZYCUDA_CUDART": str(library)})


def of_real(way, version):
    library = measure.real(version)["nvrtc"]
    return (stubbed(VERSION, "nvrtc", version.partition(".")[0]), way(VERSION, library),
            {"LAZYCUDA_NVRTC": str(library)})


def of_driver(way, function, stub, variable, find):
    library = find()
    return stubbed(function, stub, 13), way(function, library), {variable: str(library)}


OF_CUDA = functools.partial(of_driver, stub="cuda", variable="LAZYCUDA_CUDA")
OF_NVML = functools.partial(of_driver, stub="nvidia-ml", variable="LAZYCUDA_NVML")


FORWARDED = [row(f"does nothing: stub / {name}", limit, more, functools.partial(of_tiny, way))
             for name, way, limit, more in WAYS] + [
    row(f"nvrtcVersion() of {version}: stub / {name}", limit, more,
        functools.partial(of_real, way, version))
    for version in MAJORS for name, way, limit, more in WAYS] + [
    row(f"cuDriverGetVersion(): stub / {name}", limit, more,
        functools.partial(OF_CUDA, way, DRIVER_VERSION,
                          find=functools.partial(measure.debian, "libcuda")))
    for name, way, limit, more in WAYS] + [
    row("a driver's call that returns: stub / direct", *WAYS[0][2:],
        functools.partial(OF_CUDA, direct, DRIVER_SYNCHRONIZE, find=measure.tiny_driver)),
    row("nvmlSystemGetNVMLVersion(): stub / direct", *WAYS[0][2:],
        functools.partial(OF_NVML, direct, NVML_VERSION,
                          find=functools.partial(measure.debian, "libnvidia-ml")))]


def aarch64_entry():
    """Instructions of an entry, and of one that jumps through a slot: adrp, ldr, br."""
    objdump = measure.tool("aarch64-linux-gnu-objdump")
    compiler = measure.tool("aarch64-linux-gnu-gcc")
    # make cannot name a target whose path has spaces, as that of the tree may.
    work = os.path.relpath(WORK / "aarch64", ROOT)
    made = f"{work}/obj/entries/libnvrtc_stub.o"
    measure.run("make", "-s", "-C", ROOT, f"CC={compiler}", f"BUILD={work}", made)
    text = measure.run(objdump, "-d", "--no-show-raw-insn", ROOT / made)
    function = re.search(r"<lc\.nvrtcVersion\.[^>]*>:\n((?:\s+[0-9a-f]+:.*\n)+)", text)
    body = function[1].splitlines()
    return [(next(i for i, line in enumerate(body, 1) if re.search(r":\s+br\s", line)), 3)]


FORWARDED.append(Row("entry on aarch64 / adrp, ldr, br", "instructions", 1, aarch64_entry))


# ---- adapted, refused, missing ----

def adapted(function, like):
    """A call of 12 on a runtime of 13, and a call of 13 there."""
    library = measure.tiny()
    more = [BENCH / "least.c"] if like is LEAST else []
    return (stubbed(function, "cudart", 12), direct(like, library, *more),
            {"LAZYCUDA_CUDART": str(library)})


def refused(function, major, library=None):
    """A call that is not forwarded, and one that is answered at once."""
    tiny = measure.tiny()
    return (stubbed(function, "cudart", major), direct(SYNCHRONIZE, tiny),
            {"LAZYCUDA_CUDART": str(library or tiny)})


def missing():
    return refused(SYNCHRONIZE, 13, "/nonexistent/libcudart.so.13")


def missing_driver(function, stub, variable):
    return (stubbed(function, stub, 13), direct(DRIVER_SYNCHRONIZE, measure.tiny_driver()),
            {variable: "/nonexistent/library"})


# One jump, one function that knows why, and four words about it for the thread;
# where the library may have come meanwhile, a look at the clock.
NOT_FORWARDED = 3, 80
MISSING = 5, 95
ADAPTED = 2, 15

OTHERS = [
    row("an argument differs: 12 on 13 / 13 on 13", *ADAPTED,
        functools.partial(adapted, ADVISE_12, ADVISE_13)),
    row("cudaDeviceProp differs: 12 on 13 / the least", 2, None,
        functools.partial(adapted, PROPERTIES_12, LEAST)),
    row("refused / a call that returns", *NOT_FORWARDED,
        functools.partial(refused, ENTRY_POINT_12, 12)),
    row("absent in this version / a call that returns", *NOT_FORWARDED,
        functools.partial(refused, ABSENT_13, 13)),
    row("no library / a call that returns", *MISSING, missing),
    Row(f"no library, {measure.OBJECTS:,} objects / a call that returns", "ns", MISSING[0],
        functools.partial(on_one_processor, missing, measure.objects)),
    row("no driver / a call that returns", *MISSING, functools.partial(
        missing_driver, DRIVER_SYNCHRONIZE, "cuda", "LAZYCUDA_CUDA")),
    row("no NVML / a call that returns", *MISSING, functools.partial(
        missing_driver, NVML_SHUTDOWN, "nvidia-ml", "LAZYCUDA_NVML")),
]

GROUPS = {"A call that is forwarded": FORWARDED,
          "A call that is adapted, refused or missing": OTHERS}
