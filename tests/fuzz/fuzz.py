#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fuzz what reads untrusted bytes and text: what `make fuzz` calls.

    tests/fuzz/fuzz.py [--runs N] [--target NAME]... [--jobs N] [--folder DIR]

Each target, a C file beside this one, is executed N times by as many processes
as there are processors.  They begin with corpus/, and keep what they find worth
keeping below build/fuzz for the next time; inputs with which something went
wrong are in build/fuzz/TARGET/findings.

Exit status: 0 nothing was found, 1 something was, 2 it could not be tried.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TARGETS = ("inspect", "versions")
FLAGS = ["-std=gnu11", "-D_GNU_SOURCE", "-g", "-O2", "-fno-omit-frame-pointer",
         "-fno-sanitize-recover=all"]
SANITIZERS = "address,undefined"
# Larger inputs only repeat what these can have; unpacking may ask for more memory.
LIMITS = ["-max_len=4096", "-timeout=20", "-rss_limit_mb=3000", "-malloc_limit_mb=2000"]


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


def build_library(clang, folder, jobs):
    """The dispatch module as an archive, of which a target takes what it needs."""
    archive = folder / "link.a"
    if archive.exists() and archive.stat().st_mtime > newest("stubs/link/*.[ch]", "stubs/*.[ch]",
                                                             "include/*.h"):
        return archive
    objects = folder / "objects"
    shutil.rmtree(objects, ignore_errors=True)
    objects.mkdir(parents=True)

    def compile(source):
        run(*clang, *FLAGS, f"-fsanitize=fuzzer-no-link,{SANITIZERS}", "-I", ROOT / "stubs", "-c",
            source, "-o", objects / f"{source.stem}.o")
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        list(pool.map(compile, [*sorted(ROOT.glob("stubs/link/*.c")), ROOT / "stubs/arena.c"]))
    archive.unlink(missing_ok=True)
    run("ar", "rc", archive, *sorted(objects.glob("*.o")))
    return archive


def build_target(clang, library, target, folder):
    program = folder / target / target
    program.parent.mkdir(parents=True, exist_ok=True)
    run(*clang, *FLAGS, f"-fsanitize=fuzzer,{SANITIZERS}", "-I", ROOT / "stubs",
        HERE / f"{target}.c", library, "-ldl", "-o", program)
    return program


def fuzz(program, runs, job):
    """(executions, what was found) of one process."""
    folder = program.parent
    findings, corpus = folder / "findings", folder / "corpus"
    for path in (findings, corpus):
        path.mkdir(exist_ok=True)
    command = [program, f"-runs={runs}", f"-seed={time.time_ns() % 2**31 + job}",
               "-print_final_stats=1", "-verbosity=1", *LIMITS,
               f"-artifact_prefix={findings}/", corpus, HERE / "corpus" / program.name]
    log = folder / f"job-{job}.log"
    env = {**os.environ, "ASAN_OPTIONS": "detect_leaks=1:quarantine_size_mb=16",
           "UBSAN_OPTIONS": "print_stacktrace=1"}
    with open(log, "w") as out:
        status = subprocess.run([str(word) for word in command], stdout=out, stderr=out,
                                env=env).returncode
    text = log.read_text(errors="replace")
    executed = re.search(r"^stat::number_of_executed_units: (\d+)", text, re.M)
    last = re.findall(r"^#(\d+)", text, re.M)
    count = int(executed[1]) if executed else int(last[-1]) if last else 0
    if not status:
        return count, []
    where = re.findall(r"Test unit written to (\S+)", text)
    why = re.findall(r"^.*(?:SUMMARY|runtime error|ERROR: libFuzzer).*$", text, re.M)
    return count, [f"{(why or [f'exit status {status}'])[0]}: {(where or [log])[0]}"]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10_000_000, help="executions of each target")
    parser.add_argument("--target", action="append", choices=TARGETS)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "build" / "fuzz")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    found = False
    try:
        clang = compiler()
        library = build_library(clang, args.folder, args.jobs)
        for target in args.target or TARGETS:
            program = build_target(clang, library, target, args.folder)
            begin = time.monotonic()
            share = -(-args.runs // args.jobs)
            with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
                results = list(pool.map(lambda job: fuzz(program, share, job), range(args.jobs)))
            executions = sum(count for count, _ in results)
            findings = [finding for _, some in results for finding in some]
            print(f"{target}: {executions} executions, {len(findings)} findings,"
                  f" {time.monotonic() - begin:.0f} s", flush=True)
            for finding in findings:
                print(f"  {finding}", flush=True)
            found |= bool(findings)
    except Unable as why:
        print(f"fuzz.py: {why}", file=sys.stderr)
        return 2
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
