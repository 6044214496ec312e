# SPDX-License-Identifier: MIT
"""What the first calls of many stubs cost, by counts: instructions and system calls."""
import re

import measure
from measure import BENCH, LIB, NEWEST, WORK, Row, compile, run

VERSIONS = ("12.9", NEWEST)
STUBS = {
    "cudart": "cudaRuntimeGetVersion", "nvrtc": "nvrtcVersion", "nvJitLink": "nvJitLinkVersion",
    "cuda": "cuDriverGetVersion", "nvidia-ml": "nvmlInit_v2", "cublas": "cublasCreate_v2",
    "cublasLt": "cublasLtGetVersion", "cufft": "cufftGetVersion", "curand": "curandGetVersion",
    "cusolver": "cusolverGetVersion", "cusparse": "cusparseGetVersion", "cudnn": "cudnnGetVersion",
    "nccl": "ncclGetVersion", "cupti": "cuptiGetVersion", "nvjpeg": "nvjpegGetProperty",
    "nvfatbin": "nvFatbinVersion", "cutensor": "cutensorGetVersion"}


def program():
    return compile("many", BENCH / "many.c", "-ldl")


def stubs(count):
    """[(file, a function)], the runtime's first."""
    return [(LIB / f"lib{name}_stub.so", function) for name, function in STUBS.items()][:count]


def nowhere(env, bound=()):
    """What begins a command to which no CUDA is to be seen but what these variables lead to."""
    sandbox = compile("sandbox", "-U_GNU_SOURCE", measure.ROOT / "tests/lib/sandbox.c", "-ldl")
    settings = [word for name, value in env.items() for word in ("--env", f"{name}={value}")]
    return [sandbox, *bound, *settings, "--"]


def instructions(*words, bound=(), **env):
    return measure.callgrind("measured", program(), *words, before=nowhere(env, bound))


def system_calls(*words, bound=(), **env):
    log = WORK / "many.strace"
    run(*nowhere(env, bound), measure.tool("strace"), "-f", "-o", log, program(), *words)
    return len(re.search(r"/measured/begins.*?\n(.*)^.*?/measured/ends", log.read_text(),
                         re.S | re.M)[1].splitlines())


def first_calls(count, number, files=(), bound=(), **env):
    """Those of so many stubs.  They lie where they do on no machine: the folders above them are looked at, too."""
    return count(*map(str, files), *(f"/opt/lazycuda/lib/{file.name}:{function}"
                                     for file, function in stubs(number)),
                 bound=[*bound, "--bind", f"{LIB}:/opt/lazycuda/lib"], **env)


def over_plain(count, version):
    """What the first call takes more than dlopen() and the same call, at places of equal depth on any machine."""
    library = measure.real(version)["cudart"]
    bound = ["--bind", f"{library.parent}:/opt/toolkit/lib64"]
    env = {"LD_LIBRARY_PATH": "/opt/toolkit/lib64"}
    return (first_calls(count, 1, bound=bound, **env) -
            count(f"+/opt/toolkit/lib64/{library.name}:cudaRuntimeGetVersion", bound=bound, **env))


def added(objects):
    """The instructions for so many objects more, for one."""
    files = measure.objects()[:objects]
    return (first_calls(instructions, 1, files) - first_calls(instructions, 1)) / len(files)


def added_entries(count):
    """The same for entries of PYTHONPATH, each of which is a folder that is not there."""
    entries = ":".join(f"/nowhere/{i}" for i in range(count))
    return (first_calls(instructions, 1, PYTHONPATH=entries) - first_calls(instructions, 1)) / count


def added_folders(count):
    """The same for folders that are there, which each of three stubs looks into: half of them the shell's,
    half Python's."""
    folders = WORK / "folders"
    for i in range(count):
        (folders / str(i)).mkdir(parents=True, exist_ok=True)
    entries = [f"/opt/folders/{i}" for i in range(count)]
    bound = ("--bind", f"{folders}:/opt/folders")
    env = {"LD_LIBRARY_PATH": ":".join(entries[::2]), "PYTHONPATH": ":".join(entries[1::2])}
    return (first_calls(instructions, 3, bound=bound, **env) - first_calls(instructions, 3)) / count


def only(most, count, *arguments):
    """One count of ours, beside what it is to be at most."""
    return lambda: [(count(*arguments), most)]


GROUPS = {
    "First calls, by counts": [
        Row(f"{version}, over dlopen() by hand / 350,000", "instructions", 1,
            only(350_000, over_plain, instructions, version)) for version in VERSIONS
    ] + [
        Row(f"{version}, over dlopen() by hand / 54", "system calls", 1,
            only(54, over_plain, system_calls, version)) for version in VERSIONS
    ] + [
        Row(f"no library, {n} stub{'s'[:n > 1]} / {most:,}", "instructions", 1,
            only(most, first_calls, instructions, n))
        for n, most in ((1, 220_000), (3, 460_000), (9, 1_100_000), (17, 2_250_000))
    ] + [
        Row(f"no library, {n} stub{'s'[:n > 1]} / {64 + 32 * (n - 1)}", "system calls", 1,
            only(64 + 32 * (n - 1), first_calls, system_calls, n)) for n in (1, 3, 9, 17)
    ] + [
        Row(f"no library: one of {n:,} objects / 2,500", "instructions", 1,
            only(2500, added, n)) for n in (10, 100, 1000)
    ] + [
        Row(f"no library: one of {n:,} in PYTHONPATH / 10,000", "instructions", 1,
            only(10_000, added_entries, n)) for n in (40, 400, 4000)
    ] + [
        Row(f"no library: one of {n:,} folders, 3 stubs / 60,000", "instructions", 1,
            only(60_000, added_folders, n)) for n in (40, 400, 4000)
    ],
}
