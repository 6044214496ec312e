#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fuzz what reads untrusted bytes and text: what `make fuzz` calls.

    tests/fuzz/fuzz.py [--runs N] [--target NAME]... [--jobs N] [--folder DIR]

Each target, a C file beside this one or metadata.py, is executed N times by as
many processes as there are processors.  They begin with corpus/, and keep what
they find worth keeping below build/fuzz for the next time; inputs with which
something went wrong are in build/fuzz/TARGET/findings.

Exit status: 0 nothing was found, 1 something was, 2 it could not be tried.
"""
import argparse
import concurrent.futures
import functools
import hashlib
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import time
from typing import NamedTuple, Tuple

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FLAGS = ["-std=gnu11", "-D_GNU_SOURCE", "-g", "-O2", "-fno-omit-frame-pointer",
         "-fno-sanitize-recover=all"]
SANITIZERS = "address,undefined"
# work.c counts these.
STEPS = "-fsanitize-coverage=trace-pc"
COUNTED = ("__sanitizer_cov_trace_pc", "strlen", "strnlen", "strchr", "strrchr", "memchr", "memmem",
           "__asan_memcpy", "__asan_memset", "__asan_memmove")
# Unpacking may ask for more memory than libFuzzer grants.
LIMITS = ["-timeout=20", "-rss_limit_mb=3000", "-malloc_limit_mb=2000"]


class Target(NamedTuple):
    """Sources, and how they are compiled beside the usual."""
    sources: Tuple[str, ...]
    flags: Tuple[str, ...] = ()
    # Larger inputs only repeat what these can have.
    length: int = 4096
    # That an input may make for each of its bytes, beside 50,000: see work.c.  It is
    # 95 at most in the corpus.
    steps: int = 200


STUBS = ("stubs/base/arena.c", "stubs/base/printable.c", "stubs/base/regular.c")
BY_NAME = (*STUBS, "stubs/base/auxiliary.c", "stubs/base/by_name.c", "stubs/base/folders.c",
           "stubs/base/ldcache.c", "stubs/base/image.c", "stubs/base/mounts.c", "stubs/base/objects.c")
LINK = Target((*BY_NAME, "stubs/base/constraint.c", "stubs/base/cuda_version.c", "link/*/*.c"))

TARGETS = {
    "inspect": LINK,
    "versions": LINK,
    "object": Target((*STUBS, "stubs/base/cuda_version.c", "stubs/base/image.c",
                      "stubs/base/object.c")),
    "image": Target((*STUBS, "stubs/base/image.c", "stubs/base/verdict.c", "tools/constants.c",
                     "tools/findings.c", "tools/tables.c")),
    "packages": Target((*STUBS, "stubs/base/packages.c"), length=512),
    "ldcache": Target((*STUBS, "stubs/base/ldcache.c"), length=1024),
    "settings": Target((*STUBS, "stubs/base/constraint.c", "stubs/base/cuda_version.c",
                        "stubs/base/auxiliary.c", "stubs/base/guard.c", "stubs/loader/settings.c"),
                       ("-Dsecure_getenv=fuzz_getenv", "-Ddprintf=fuzz_dprintf"), 512),
    # A path of N folders has N folders above, each with a path as long.
    "places": Target((*STUBS, "stubs/base/auxiliary.c", "stubs/base/packages.c", "stubs/loader/places.c",
                      "stubs/loader/survey.c"),
                     ("-Dopendir=fuzz_opendir",), 512, 2000),
    "wheel": Target((*BY_NAME, "tools/zip.c", "tools/directory.c", "tools/progress.c")),
    "symbols": Target((*STUBS, "gen/[!g]*.c", "gen/model/*.c"),
                      ("-Dexit=fuzz_exit", "-Dcalloc=fuzz_calloc", "-Dfopen=fuzz_fopen",
                       "-Dvfprintf=fuzz_vfprintf", "-Dfprintf=fuzz_fprintf",
                       "-Dfputs=fuzz_fputs", "-Dfputc=fuzz_fputc"), 2048),
}
# This one is Python, and does the mutations itself.
METADATA = "metadata"


class Unable(Exception):
    """Why fuzzing cannot be tried."""


def compiler():
    found = os.environ.get("CLANG") or shutil.which("clang") or next(
        filter(None, (shutil.which(f"clang-{version}") for version in range(30, 8, -1))), None)
    if not found:
        raise Unable("clang is not installed, and it alone has libFuzzer"
                     " (Debian: apt install clang)")
    return shlex.split(found)


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode:
        raise Unable(f"{shlex.join(map(str, command))}\n{done.stderr.strip()}")


def newest(*patterns):
    return max(path.stat().st_mtime for pattern in patterns for path in ROOT.glob(pattern))


def build_objects(clang, target, folder, jobs):
    """An archive of the target's sources, of which it takes what it needs.
    Targets that are compiled alike share it."""
    key = hashlib.sha256(repr(target).encode()).hexdigest()[:8]
    archive, objects = folder / f"{key}.a", folder / key
    headers = newest("stubs/*/*.h", "link/*/*.h", "tools/*.h", "gen/*.h", "include/*.h")
    sources = sorted(path for pattern in target.sources for path in ROOT.glob(pattern))
    objects.mkdir(parents=True, exist_ok=True)

    def compile(source):
        made = objects / f"{'-'.join(source.relative_to(ROOT).with_suffix('').parts)}.o"
        if not made.exists() or made.stat().st_mtime < max(source.stat().st_mtime, headers):
            run(*clang, *FLAGS, *target.flags, f"-fsanitize=fuzzer-no-link,{SANITIZERS}",
                STEPS, "-I", ROOT / "stubs", "-I", ROOT / "build", "-c", source, "-o", made)
        return made
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        made = list(pool.map(compile, sources))
    archive.unlink(missing_ok=True)
    run("ar", "rc", archive, *made)
    return archive


def build_target(clang, name, folder, jobs):
    archive = build_objects(clang, TARGETS[name], folder, jobs)
    program = folder / name / name
    program.parent.mkdir(parents=True, exist_ok=True)
    steps = program.with_name("work.o")
    run(*clang, *FLAGS, f"-DMOST_STEPS={TARGETS[name].steps}", "-c", HERE / "work.c", "-o", steps)
    run(*clang, *FLAGS, f"-fsanitize=fuzzer,{SANITIZERS}", STEPS, "-I", ROOT / "stubs",
        "-DLLVMFuzzerTestOneInput=target", HERE / f"{name}.c", "-c", "-o",
        program.with_name("target.o"))
    run(*clang, *FLAGS, f"-fsanitize=fuzzer,{SANITIZERS}", program.with_name("target.o"), steps,
        archive, *(f"-Wl,--wrap={name}" for name in COUNTED), "-ldl", "-o", program)
    return program


def fuzz(program, runs, job):
    """(executions, coverage, what was found) of one process."""
    folder = program.parent
    findings, corpus = folder / "findings", folder / "corpus"
    for path in (findings, corpus):
        path.mkdir(exist_ok=True)
    command = [program, f"-runs={runs}", f"-seed={time.time_ns() % 2**31 + job}",
               f"-max_len={TARGETS[program.name].length}",
               "-print_final_stats=1", "-verbosity=1", *LIMITS,
               f"-artifact_prefix={findings}/", corpus, HERE / "corpus" / program.name]
    log = folder / f"job-{job}.log"
    env = {**os.environ, "ASAN_OPTIONS": "detect_leaks=1:quarantine_size_mb=16",
           "UBSAN_OPTIONS": "print_stacktrace=1"}
    with open(log, "w") as out:
        status = subprocess.run([str(word) for word in command], stdout=out, stderr=out,
                                env=env).returncode
    text = log.read_text(errors="replace")
    # A line of its own in the end, or else the last that begins with it.
    count = int((re.findall(r"^(?:stat::number_of_executed_units: |#)(\d+)", text, re.M) or [0])[-1])
    covered = max(map(int, re.findall(r" cov: (\d+)", text)), default=0)
    if not status:
        return count, covered, []
    where = re.findall(r"Test unit written to (\S+)", text)
    why = re.findall(r"^.*(?:SUMMARY|runtime error|ERROR: libFuzzer).*$", text, re.M)
    return count, covered, [f"{(why or [f'exit status {status}'])[0]}: {(where or [log])[0]}"]


def fuzz_metadata(runs, job):
    """The same of metadata.py, whose coverage nobody counts."""
    done = subprocess.run([sys.executable, "-B", HERE / "metadata.py", str(runs),
                           str(time.time_ns() % 2**31 + job)], capture_output=True, text=True)
    count = int((re.match(r"(\d+) executions", done.stdout) or [0, 0])[1])
    why = done.stderr.strip() or f"exit status {done.returncode}"
    return count, 0, [why] if done.returncode else []


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10_000_000, help="executions of each target")
    parser.add_argument("--target", action="append", choices=[*TARGETS, METADATA])
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "build" / "fuzz")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    found = False
    try:
        clang = compiler()
        for name in args.target or [*TARGETS, METADATA]:
            execute = fuzz_metadata if name == METADATA else functools.partial(
                fuzz, build_target(clang, name, args.folder, args.jobs))
            begin = time.monotonic()
            share = -(-args.runs // args.jobs)
            with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
                results = list(pool.map(lambda job: execute(share, job), range(args.jobs)))
            executions, covered, found_here = zip(*results)
            findings = [finding for some in found_here for finding in some]
            print(f"{name}: {sum(executions)} executions, {len(findings)} findings,"
                  f" {max(covered)} edges, {time.monotonic() - begin:.0f} s", flush=True)
            for finding in findings:
                print(f"  {finding}", flush=True)
            found |= bool(findings)
    except Unable as why:
        print(f"fuzz.py: {why}", file=sys.stderr)
        return 2
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
