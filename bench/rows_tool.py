# SPDX-License-Identifier: MIT
"""What the command takes for many files."""
import shutil

import measure
from measure import BUILD, LIB, WORK, Row, compile

FILES = 1000
CALLS = "cudaMalloc", "cudaFree", "cudaMemcpy", "cudaMemAdvise", "cudaGetDeviceProperties_v2"


def folder():
    """Modules that call a stub."""
    made = WORK / "audited"
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir()
    source = WORK / "audited.c"
    source.write_text("".join(f"int {name}();\n" for name in CALLS) +
                      f"void *calls[] = {{ {', '.join(CALLS)} }};\n")
    program = compile("audited.so", "-shared", "-fPIC", source, LIB / "cuda12/libcudart_stub.so")
    for i in range(FILES):
        shutil.copy(program, made / f"{i:04}.so")
    return made


def auditing():
    files = folder()
    return [(1e3 * measure.processor_time(BUILD / "bin" / "lazycuda", "audit", files), 2000)
            for _ in range(measure.often(5))]


GROUPS = {"The command": [Row(f"audit {FILES:,} files / 2 s", "ms", 1, auditing)]}
