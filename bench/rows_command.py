# SPDX-License-Identifier: MIT
"""What the command takes for many files, and for large wheels beside a copy of them."""
import functools
import pathlib
import random
import sys
import tempfile
import zipfile

import measure
from measure import BUILD, LIB, PYTHON, WORK, Row

FILES = 1000
CALLS = "cudaMalloc", "cudaFree", "cudaMemcpy", "cudaMemAdvise", "cudaGetDeviceProperties_v2"
SIZE = 64 << 20
CODE = PYTHON / "lazycuda"
INFO = "pkg-1.0.dist-info/"


def content():
    """So many bytes, which become half as many."""
    piece = random.Random(1).randbytes(1 << 20).translate(bytes(range(16)) * 16)
    return piece * (measure.often(SIZE >> 20))


def module(large):
    """A library that needs libcudart.so.13."""
    source, data = WORK / "user.c", WORK / "user.data"
    data.write_bytes(content() if large else b"0")
    source.write_text("int cudaGetLastError(void); int use(void) { return cudaGetLastError(); }\n"
                      f'__asm__(".section .nv_fatbin,\\"a\\"\\n.incbin \\"{data}\\"\\n.text");\n')
    return measure.compile(f"user{large}.so", "-shared", "-fPIC", source, measure.tiny())


@functools.lru_cache(maxsize=None)
def wheel(large):
    """Of a small module and large files, or of a large module."""
    measure.tool("patchelf")
    path = WORK / f"pkg-1.0-{large}bench-py3-none-linux_x86_64.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as out:
        out.write(module(large), "pkg/user.so")
        if not large:
            out.writestr("pkg/data", content())
        for name in ("METADATA", "WHEEL", "RECORD"):
            out.writestr(INFO + name, "")
    return path


def copying(large, *command):
    """Samples of a command on the wheel, and of a copy."""
    path = wheel(large)
    with tempfile.TemporaryDirectory(dir=WORK) as folder:
        words = [folder if word == "OUT" else word for word in command]
        return [(1e3 * a, 1e3 * b) for a, b in measure.interleaved(
            lambda: measure.processor_time(*words, path),
            lambda: measure.processor_time("cp", path, f"{folder}/copy"), 5)]


RETARGET = sys.executable, "-B", CODE, "retarget", "--stubs", LIB, "-o", "OUT"
AUDIT = BUILD / "bin" / "lazycuda", "audit"


def auditing():
    files = pathlib.Path(measure.callers(FILES, *CALLS)[0]).parent
    return [(1e3 * measure.processor_time(*AUDIT, files), 2000) for _ in range(measure.often(5))]


GROUPS = {"The command": [Row(f"audit {FILES:,} files / 2 s", "ms", 1, auditing)], "Large wheels": [
    Row("retarget, 64 MiB stay / a copy", "ms", 40, lambda: copying(0, *RETARGET)),
    Row("retarget, a library of 64 MiB / a copy", "ms", 300, lambda: copying(1, *RETARGET)),
    Row("audit, a library of 64 MiB / a copy", "ms", 20, lambda: copying(1, *AUDIT)),
]}
