#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What lazycuda costs, as ratios measured in one run.

    bench/bench.py [--json FILE]        `make bench`

Each row compares two things whose samples were taken in turn, A B A B ..., so
that a machine whose speed drifts slows both.  Instructions are counted by
`valgrind --tool=callgrind` and do not depend on the machine's mood.  A row
that cannot be measured here says why.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
WORK = BUILD / "bench"
LIB = BUILD / "lib"
STUBS = [LIB / f"lib{name}_stub.so" for name in ("cudart", "nvrtc", "nvJitLink")]
TOOLKIT = "13.5"
CC = os.environ.get("CC", "cc")

sys.path.insert(0, str(ROOT / "tools"))
import fetch  # noqa: E402
import rows_inspection as inspection  # noqa: E402
import rows_link as link  # noqa: E402
import rows_plan as plan  # noqa: E402


class Unmeasured(Exception):
    """Why a row could not be measured."""


def run(*command, **env):
    environment = {key: value for key, value in os.environ.items()
                   if not key.startswith(("LAZYCUDA_", "LD_", "CUDA_"))}
    return subprocess.run([str(word) for word in command], env=environment | env, check=True,
                          text=True, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL).stdout


def compile(target, *arguments):
    run(CC, "-O2", "-o", WORK / target, *arguments)
    return WORK / target


def interleaved(sample_a, sample_b, count=15):
    """[(a, b)], after one unmeasured round."""
    sample_a(), sample_b()
    return [(sample_a(), sample_b()) for _ in range(count)]


def ratio(pairs):
    """Minimum and median of the ratio pair by pair, and the two medians."""
    ratios = [a / b for a, b in pairs]
    return {"min": min(ratios), "median": statistics.median(ratios),
            "a": statistics.median(a for a, _ in pairs),
            "b": statistics.median(b for _, b in pairs)}


def real_libraries():
    """The three libraries of a real toolkit."""
    failures = fetch.fetch(BUILD / "toolkits", [TOOLKIT], ["cudart", "nvrtc", "nvjitlink"])
    if failures:
        raise Unmeasured(failures[0])
    folder = BUILD / "toolkits" / TOOLKIT / os.uname().machine / "nvidia/cu13/lib"
    return [folder / f"lib{name}.so.13" for name in ("cudart", "nvrtc", "nvJitLink")]


# --- rows ---

def tiny_library():
    script = WORK / "tiny.map"
    script.write_text("libcudart.so.13 { global: *; };\n")
    return compile("libcudart.so.13", "-shared", "-fPIC", "-Wl,-soname,libcudart.so.13",
                   f"-Wl,--version-script={script}", ROOT / "bench/tiny.c")


def callers():
    library = tiny_library()
    source = ROOT / "bench/calls.c"
    direct = compile("calls-direct", "-fPIE", source, library, f"-Wl,-rpath,{WORK}")
    stubbed = compile("calls-stub", "-fPIE", source, LIB / "cuda13/libcudart_stub.so",
                      f"-Wl,-rpath,{LIB}")
    return direct, stubbed, {"LAZYCUDA_CUDART": str(library)}


def forwarded_time():
    direct, stubbed, env = callers()
    rounds = 20_000_000
    pairs = interleaved(lambda: float(run(stubbed, rounds, **env)) / rounds,
                        lambda: float(run(direct, rounds, **env)) / rounds, 25)
    return ratio(pairs) | {"unit": "ns", "limit": "1.05"}


def instructions(program, rounds, env):
    output = WORK / "callgrind.out"
    if not shutil.which("valgrind"):
        raise Unmeasured("valgrind is not installed")
    run("valgrind", "--tool=callgrind", "--log-file=/dev/null",
        f"--callgrind-out-file={output}", program, rounds, **env)
    return int(re.search(r"^(?:totals|summary): (\d+)", output.read_text(), re.M)[1])


def forwarded_instructions():
    """Instructions of one call, through the stub and direct; the stub's share
    is the difference."""
    direct, stubbed, env = callers()
    cost = [(instructions(program, 101_000, env) - instructions(program, 1_000, env)) / 100_000
            for program in (stubbed, direct)]
    return {"a": cost[0], "b": cost[1], "min": cost[0] - cost[1], "median": cost[0] - cost[1],
            "unit": "instructions", "limit": "+1 (+2 with endbr64)", "difference": True}


def adapted(what, rounds):
    """The same call made by a caller of 12, adapted, and by one of 13, direct;
    what an adaptor adds is the difference."""
    library = tiny_library()
    source = ROOT / "bench/adapted.c"
    direct = compile("adapted-13", "-fPIE", "-DCALLER=13", source, library, f"-Wl,-rpath,{WORK}")
    stubbed = compile("adapted-12", "-fPIE", "-DCALLER=12", source,
                      LIB / "cuda12/libcudart_stub.so", f"-Wl,-rpath,{LIB}")
    env = {"LAZYCUDA_CUDART": str(library)}
    pairs = interleaved(lambda: float(run(stubbed, what, rounds, **env)) / rounds,
                        lambda: float(run(direct, what, rounds, **env)) / rounds)
    added = [a - b for a, b in pairs]
    return ratio(pairs) | {"min": min(added), "median": statistics.median(added), "unit": "ns",
                           "difference": True}


def adapted_argument():
    return adapted("advise", 5_000_000) | {"limit": "+20"}


def adapted_struct():
    return adapted("properties", 100_000) | {"limit": "the native call's own time"}


def aarch64_instructions():
    objdump = shutil.which("aarch64-linux-gnu-objdump")
    if not objdump or not shutil.which("aarch64-linux-gnu-gcc"):
        raise Unmeasured("aarch64-linux-gnu-gcc is not installed")
    run("make", "-s", "-C", ROOT, "CC=aarch64-linux-gnu-gcc", "BUILD=build/aarch64",
        "build/aarch64/lib/libcudart_stub.so")
    text = run(objdump, "-d", "--no-show-raw-insn", BUILD / "aarch64/lib/libcudart_stub.so")
    function = re.search(r"<(?:lc_entry_)?cudaDeviceSynchronize(?:@[^>]*)?>:\n"
                         r"((?:\s+[0-9a-f]+:.*\n)+)", text)
    body = function[1].splitlines()
    count = next(i for i, line in enumerate(body, 1) if re.search(r":\s+br\s", line))
    return {"a": count, "b": 0, "min": count, "median": count, "unit": "instructions",
            "limit": "3", "difference": True}


def loads(index):
    real = real_libraries()
    program = compile("load", ROOT / "bench/load.c", "-ldl")
    path = {"LD_LIBRARY_PATH": str(real[0].parent)}
    pairs = interleaved(lambda: float(run(program, *STUBS, **path).split()[index]),
                        lambda: float(run(program, *real, **path).split()[index]))
    return ratio(pairs)


def load_time():
    return loads(0) | {"unit": "us", "limit": "0.04 (1/25)"}


def load_memory():
    return loads(1) | {"unit": "KiB", "limit": "0.0167 (1/60)"}


def first_call():
    """Loading the runtime and calling it once, through the stub and with a
    plain dlopen.  The millisecond that the search may take is taken off."""
    real = real_libraries()
    program = compile("load", ROOT / "bench/load.c", "-ldl")
    # A toolkit's folder is the only place that has one: what costs is the search.
    path = {"LD_LIBRARY_PATH": str(real[0].parent)}
    pairs = interleaved(
        lambda: float(run(program, "--call", "cudaRuntimeGetVersion", STUBS[0], **path).split()[0]),
        lambda: float(run(program, "--call", "cudaRuntimeGetVersion", real[0], **path).split()[0]), 25)
    return ratio(pairs) | {"unit": "us", "limit": "1.10, plus 1000 us"}


def size(stub):
    def measure():
        stripped = WORK / f"stripped-{stub.name}"
        run("strip", "-o", stripped, stub)
        kib = stripped.stat().st_size / 1024
        return {"a": kib, "b": 400, "min": kib / 400, "median": kib / 400, "unit": "KiB",
                "limit": "1"}
    return measure


def planning(kind):
    def measure():
        times = plan.plan_cost(kind, compile, run)
        return {"a": statistics.median(times), "b": 100, "min": min(times) / 100,
                "median": statistics.median(times) / 100, "unit": "us", "limit": "1"}
    return measure


def linking(kind):
    def measure():
        pairs = link.link_cost(kind, real_libraries()[0].parent, compile, run)
        return ratio([(a / 1000, b / 1000) for a, b in pairs]) | {"unit": "us", "limit": "1.02"}
    return measure


ROWS = [
    ("forwarded call: stub / direct, time", forwarded_time),
    ("forwarded call: stub - direct", forwarded_instructions),
    ("forwarded call: entry on aarch64", aarch64_instructions),
    ("adapted call, argument: 12 on 13 - 13 on 13", adapted_argument),
    ("adapted call, cudaDeviceProp: 12 on 13 - 13 on 13", adapted_struct),
    (f"loading: 3 stubs / 3 libraries of {TOOLKIT}, time", load_time),
    (f"loading: 3 stubs / 3 libraries of {TOOLKIT}, resident", load_memory),
    (f"first call: stub / dlopen of {TOOLKIT}", first_call),
] + [(f"plan: 100 inputs, {kind} / 100 us", planning(kind)) for kind in plan.KINDS] + [
    ("inspect: 500 MB library / read() of it",
     lambda: inspection.library_file(run, compile, interleaved, ratio, WORK)),
    ("inspect: 100 MB of fatbins / memcpy()", lambda: inspection.memory(run, compile, ratio)),
] + [(f"link: handle / nvJitLink alone, {kind}", linking(kind)) for kind in link.KINDS] + [(f"size: {stub.name} / 400 KiB, stripped", size(stub)) for stub in STUBS]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=pathlib.Path, help="write the rows to this file, too")
    args = parser.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    results = []
    print(f"{'':54}{'min':>8}{'median':>8}   {'A':>10} {'B':>10}  {'unit':13}{'at most'}")
    for name, measure in ROWS:
        try:
            row = measure()
        except Unmeasured as why:
            print(f"{name:54}not measured: {why}")
            results.append({"name": name, "unmeasured": str(why)})
            continue
        print(f"{name:54}{row['min']:8.3f}{row['median']:8.3f}   {row['a']:10.1f} {row['b']:10.1f}"
              f"  {row['unit']:13}{row['limit']}", flush=True)
        results.append({"name": name, **row})
    if args.json:
        args.json.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
