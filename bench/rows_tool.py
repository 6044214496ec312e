# SPDX-License-Identifier: MIT
"""What the command takes for many files."""
import pathlib

import measure
from measure import BUILD, Row

FILES = 1000
CALLS = "cudaMalloc", "cudaFree", "cudaMemcpy", "cudaMemAdvise", "cudaGetDeviceProperties_v2"


def auditing():
    files = pathlib.Path(measure.callers(FILES, *CALLS)[0]).parent
    return [(1e3 * measure.processor_time(BUILD / "bin" / "lazycuda", "audit", files), 2000)
            for _ in range(measure.often(5))]


GROUPS = {"The command": [Row(f"audit {FILES:,} files / 2 s", "ms", 1, auditing)]}
