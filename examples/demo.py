#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""One binary in each world: what `make demo` shows.

Runs build/demo/demo, the same file each time, on a machine without CUDA, and with
the newest release of each CUDA.  The real libraries come from PyPI; without a
network, fake ones built from tests/fakes stand in, and the demo says what they
show and what they cannot.

Each world is the sandbox that the tests use (tests/lib/sandbox.c): a mount
namespace in which this machine's own CUDA is hidden.  Where the kernel allows
none, the worlds with CUDA are pinned by LAZYCUDA_MAJOR, and the one without is
shown only if this machine has no CUDA.

Exit status: 0 if each world did what it should, 1 if not.
"""
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
sys.path[:0] = [str(ROOT / "tools/upkeep"), str(ROOT / "tests/lib"), str(ROOT / "tests/fakes")]

import build  # noqa: E402
import fakes  # noqa: E402
import fetch  # noqa: E402

TOOLKITS = BUILD / "toolkits"
VERSIONS = tuple(fetch.newest().values())
PARTS = ("cudart", "nvrtc", "nvjitlink")
FAKE = """\
  FAKE libraries, made here.  What they show: which library is chosen, why, and that each
  call arrives in it.  What they cannot: they reach no GPU, and compile and link nothing.
"""
SKIPPED = 77


def make_program():
    libraries = [build.import_library(library, 12) for library in build.LIBRARIES]
    program = BUILD / "demo/demo"
    program.parent.mkdir(exist_ok=True)
    with build.locked(program.with_suffix(".lock")):
        # Another demo may be running the one that is there.
        part = program.with_suffix(".part")
        subprocess.run([*build.CC, "-O2", "-I", ROOT / "include", "-o", part,
                        ROOT / "examples/demo.c", *libraries, f"-Wl,-rpath,{build.STUBS}"],
                       check=True)
        part.replace(program)
    return program


def fetch_real():
    """Versions whose real libraries are there.  Says in a line why others are not."""
    failures = fetch.fetch(TOOLKITS, VERSIONS, PARTS)
    for why in fetch.summary(failures):
        print(f"demo: not all of CUDA could be fetched, and fake libraries stand in for it: {why}",
              flush=True)
    return [version for version in VERSIONS if fetch.is_there(TOOLKITS, version, PARTS)]


def real_folders(version):
    """Where the real libraries of this version lie."""
    root = TOOLKITS / version / build.ARCH
    return sorted({file.parent for file in root.glob("nvidia/*/lib/*.so*")})


def fake_folders(version):
    libraries = [library for library in build.LIBRARIES
                 if library != "nvJitLink" or not version.startswith("11.")]
    return [fakes.fake(library, version).parent for library in libraries]


def has_cuda():
    """Whether a program outside the sandbox finds a real library here."""
    done = subprocess.run([BUILD / "bin/lazycuda", "status"], stdout=subprocess.DEVNULL)
    return done.returncode == 0


def run(program, sandbox, folders, version):
    """Run it in its world.  Returns its exit status, or SKIPPED."""
    command = [program, version or "none"]
    path = {"LD_LIBRARY_PATH": ":".join(str(folder) for folder in folders)} if folders else {}
    if sandbox:
        words = [word for name, value in path.items() for word in ("--env", f"{name}={value}")]
        return subprocess.run([sandbox, *words, "--", *command], stdin=subprocess.DEVNULL).returncode
    if not folders and has_cuda():
        return SKIPPED
    pin = {"LAZYCUDA_MAJOR": version.partition(".")[0]} if version else {}
    return subprocess.run(command, stdin=subprocess.DEVNULL, env={**path, **pin}).returncode


def working_sandbox():
    sandbox = build.compile("sandbox", "-O2", build.TESTS / "lib/sandbox.c", "-ldl")
    done = subprocess.run([sandbox, "--", "true"], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True)
    if done.returncode == 0:
        return sandbox
    print(f"demo: no sandbox here ({(done.stdout + done.stderr).strip()})")
    return None


def main():
    program = make_program()
    sandbox = working_sandbox()
    real = fetch_real()
    failed = False
    for version in (None, *VERSIONS):
        print(f"\n--- {'no CUDA' if version is None else 'CUDA ' + version} ---", flush=True)
        folders = []
        if version in real:
            folders = real_folders(version)
        elif version:
            print(FAKE, end="", flush=True)
            folders = fake_folders(version)
        status = run(program, sandbox, folders, version)
        if status == SKIPPED:
            print("  skipped: this machine has CUDA, and it cannot be hidden")
        failed |= status not in (0, SKIPPED)
    return 1 if failed else 0


if __name__ == "__main__":
    os.environ.pop("LAZYCUDA_MAJOR", None)
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
