#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""One binary in four worlds: what `make demo` shows.

Runs build/demo/demo, the same file each time, on a machine without CUDA, with
CUDA 11.8, with 12.9 and with 13.5.  The real libraries come from PyPI; without
a network, fake ones built from tests/fakes stand in, and the demo says so.

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
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests/lib"), str(ROOT / "tests/fakes")]

import build  # noqa: E402
import fakes  # noqa: E402
import fetch  # noqa: E402

VERSIONS = ("11.8", "12.9", "13.5")
SKIPPED = 77


def make_program():
    libraries = [build.import_library(library, 12) for library in build.LIBRARIES]
    (BUILD / "demo").mkdir(exist_ok=True)
    subprocess.run([*build.CC, "-O2", "-I", ROOT / "include", "-o", BUILD / "demo/demo",
                    ROOT / "examples/demo.c", *libraries, f"-Wl,-rpath,{build.STUBS}"], check=True)
    return BUILD / "demo/demo"


def real_folders(version):
    """Where the real libraries of this version lie, and why they do not."""
    failures = fetch.fetch(BUILD / "toolkits", [version], ["cudart", "nvrtc", "nvjitlink"])
    if failures:
        return [], failures[0]
    root = BUILD / "toolkits" / version / build.ARCH
    return sorted({file.parent for file in root.glob("nvidia/*/lib/*.so*")}), None


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
    failed = False
    for version in (None, *VERSIONS):
        print(f"\n--- {'no CUDA' if version is None else 'CUDA ' + version} ---", flush=True)
        folders = []
        if version:
            folders, why = real_folders(version)
            if why:
                print(f"  could not be fetched ({why});\n"
                      "  FAKE libraries stand in: they answer every call with made-up numbers",
                      flush=True)
                folders = fake_folders(version)
        status = run(program, sandbox, folders, version)
        if status == SKIPPED:
            print("  skipped: this machine has CUDA, and it cannot be hidden")
        failed |= status not in (0, SKIPPED)
    return 1 if failed else 0


if __name__ == "__main__":
    os.environ.pop("LAZYCUDA_MAJOR", None)
    sys.exit(main())
