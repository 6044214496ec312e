# SPDX-License-Identifier: MIT
"""How rows are measured: programs, samples taken in turn, instruction counts."""
import collections.abc
import contextlib
import dataclasses
import functools
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BENCH = ROOT / "bench"
BUILD = ROOT / os.environ.get("BUILD", "build")
TOOLKITS = ROOT / "build" / "toolkits"
WORK = BUILD / "bench"
LIB = BUILD / "lib"
PYTHON = BUILD / "share/lazycuda/python"
STUBS = [LIB / f"lib{name}_stub.so" for name in ("cudart", "nvrtc", "nvJitLink")]
DRIVER_STUBS = [LIB / f"lib{name}_stub.so" for name in ("cuda", "nvidia-ml")]
OBJECTS = 1000
CC = os.environ.get("CC", "cc")

sys.path.append(str(ROOT / "tools" / "upkeep"))
import fetch  # noqa: E402

MAJORS = tuple(fetch.newest().values())
NEWEST = MAJORS[-1]

quick = False       # a few short samples, and nothing is fetched: to try the rows out


class Unmeasured(Exception):
    """Why a row could not be measured."""


@dataclasses.dataclass(frozen=True)
class Row:
    """Two things compared."""
    name: str
    unit: str                   # of the samples of A and of B
    limit: float                # what A / B is at most
    pairs: collections.abc.Callable     # [(a, b)], samples taken in turn
    # The instructions of A and of B, and how many A has more than B at most.
    instructions: collections.abc.Callable = None
    more: float = None


# ---- programs ----

def environment(**more):
    """The environment without what leads to a CUDA library, and with `more`."""
    return {name: value for name, value in os.environ.items()
            if not name.startswith(("LAZYCUDA_", "LD_", "CUDA_", "CONDA_"))} | more


def run(*command, cwd=None, **env):
    return subprocess.run([str(word) for word in command], env=environment(**env), check=True,
                          text=True, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL,
                          cwd=cwd).stdout


@functools.lru_cache(maxsize=None)
def compile(target, *arguments):
    run(CC, "-std=gnu11", "-D_GNU_SOURCE", "-O2", "-g", "-Wall", "-Wextra", "-o", WORK / target,
        *arguments)
    return WORK / target


def tool(name):
    if not shutil.which(name):
        raise Unmeasured(f"there is no {name}")
    return name


@functools.lru_cache(maxsize=None)
def real(version):
    """{"cudart": file, ...} of a real toolkit."""
    folder = TOOLKITS / version / os.uname().machine / "nvidia"
    failures = [] if quick else fetch.fetch(TOOLKITS, [version], ["cudart", "nvrtc", "nvjitlink"])
    found = {name: next(iter(folder.glob(f"*/lib/lib{name}.so.*")), None)
             for name in ("cudart", "nvrtc", "nvJitLink")}
    if not found["cudart"] or not found["nvrtc"]:
        raise Unmeasured(failures[0] if failures else f"there is no CUDA {version} in {TOOLKITS}")
    return found


def tiny():
    """A runtime of CUDA 13 whose functions do next to nothing."""
    script = WORK / "tiny.map"
    script.write_text("libcudart.so.13 { global: *; };\n")
    return compile("libcudart.so.13", "-shared", "-fPIC", "-Wl,-soname,libcudart.so.13",
                   f"-Wl,--version-script={script}", BENCH / "tiny.c")


def tiny_driver():
    return compile("libcuda.so.1", "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1",
                   BENCH / "tiny_driver.c")


def debian(name):
    """A library of Debian's driver, where .ci/run has unpacked it."""
    found = sorted((ROOT / "build" / "libcuda1").glob(
        f"usr/lib/{os.uname().machine}-*/nvidia/current/{name}.so.*.*"))
    if not found:
        raise Unmeasured(f"there is no {name}.so of Debian's in build/libcuda1")
    return found[0]


@functools.lru_cache(maxsize=None)
def empty(name):
    """A library that holds nothing: loading any library costs at least as much."""
    return compile(name, "-shared", "-fPIC", BENCH / "empty.c")


@functools.lru_cache(maxsize=None)
def objects():
    """OBJECTS libraries, each a file of its own."""
    folder = WORK / "objects"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return [shutil.copy(empty("libempty0.so"), folder / f"{i}.so")
            for i in range(often(OBJECTS))]


@functools.lru_cache(maxsize=None)
def callers(count, *names):
    """So many modules that import these names from the runtime's stub."""
    source, folder = WORK / "caller.c", WORK / f"callers{len(names)}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    source.write_text("".join(f"int {name}();\n" for name in names) +
                      f"void *calls[] = {{ {', '.join(names)} }};\n")
    module = compile("caller.so", "-shared", "-fPIC", "-fno-builtin", source,
                     LIB / "cuda12" / "libcudart_stub.so")
    return [shutil.copy(module, folder / f"{i:04}.so") for i in range(count)]


# ---- samples ----

def often(count):
    return min(count, 2) if quick else count


def interleaved(sample_a, sample_b, count=15):
    """[(a, b)], after one unmeasured round."""
    sample_a(), sample_b()
    return [(sample_a(), sample_b()) for _ in range(often(count))]


def processor_time(*command, **env):
    """Seconds of the processor that a program took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(*command, **env)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


class Worker:
    """A program that reads a number of rounds and says how many nanoseconds they
    took, again and again."""

    def __init__(self, program, *arguments, **env):
        self.process = subprocess.Popen([str(word) for word in (program, *arguments)],
                                        env=environment(**env), text=True, bufsize=1,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def sample(self, rounds):
        """Nanoseconds of one round."""
        self.process.stdin.write(f"{rounds}\n")
        said = self.process.stdout.readline()
        if not said:
            raise RuntimeError(f"{self.process.args[0]} ended with {self.process.wait()}")
        return float(said) / rounds

    def rounds_in(self, nanoseconds):
        """How many rounds take that long."""
        rounds = 100
        while not quick and (taken := rounds * self.sample(rounds)) < nanoseconds:
            rounds *= 2 + int(nanoseconds / (taken + nanoseconds / 8))
        return rounds

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


@contextlib.contextmanager
def one_processor():
    """What is started here shares one: A and B run at the same speed."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(allowed)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


def rounds_in_turn(start_a, start_b, milliseconds=2, processes=3, count=25):
    """[(a, b)] of two Workers.  Several of each: where the dynamic loader puts a
    library has a share in how fast it is."""
    pairs = []
    for _ in range(often(processes)):
        with start_a() as a, start_b() as b:
            rounds = [worker.rounds_in(milliseconds * 1e6) for worker in (a, b)]
            pairs += interleaved(lambda: a.sample(rounds[0]), lambda: b.sample(rounds[1]), count)
    return pairs


# ---- instructions ----

def callgrind(function, *command, given="", before=(), apart=None, **env):
    """Instructions spent in a function and in all that it calls but `apart`; with no function,
    in the whole program.  `before` begins the command."""
    output = WORK / "callgrind.out"
    only = [f"--toggle-collect={one}" for one in (function, apart) if one]
    done = subprocess.run(
        [str(word) for word in (*before, tool("valgrind"), "--tool=callgrind",
                                f"--callgrind-out-file={output}", *only, *command)],
        env=environment(**env), input=given, text=True, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return int(re.search(r"^(?:totals|summary): (\d+)", output.read_text(), re.M)[1])
