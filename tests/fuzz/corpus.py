#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the corpus that fuzzing begins with, a few KB of made-up files.

    tests/fuzz/corpus.py [FOLDER]
"""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "inspection"))

import made_up as c  # noqa: E402

SHORT_PTX = c.ptx(body=".extern .func f;\n.visible .global .u32 x = 1;\n")
FATBIN = c.fatbin(c.entry(c.PTX, SHORT_PTX, flags=c.PLAIN | c.LZ4, options=b"-c", version=(8, 0)),
                  c.entry(c.LTOIR, c.ltoir(), name=b"n", version=(1, 64)))

INSPECT = {
    "ptx": c.ptx(),
    "cubin": c.cubin(code=b"\0" * 8),
    "ltoir": c.ltoir(),
    "source": b'/* x */ #include "a.h"\nextern "C" __global__ void k() { char c = \'"\'; }\n',
    "fatbin": FATBIN,
    "zstd": c.fatbin(c.entry(c.CUBIN, c.cubin(code=b"\0" * 8), flags=c.PLAIN | c.ZSTD),
                     c.entry(c.LTOIR, c.ltoir(), flags=c.PLAIN | c.ZSTD | c.OBFUSCATED)),
    "object": c.elf([("__nv_relfatbin", FATBIN + bytes(8) + FATBIN)]),
    "stripped": c.elf(type=3, headers=False, segments=[(1, 120, 8 + len(FATBIN))]) +
    bytes(8) + FATBIN,
    "archive": c.archive(c.member(b"/", bytes(4)), c.member(b"//", b"a_long_name.o/\n"),
                         c.member(b"/0", c.elf([(".nv_fatbin", FATBIN)])),
                         c.member(b"#1/4", b"bsd\0" + SHORT_PTX)),
}

VERSIONS = ["13.2", "12.9.86", ">=13.2,<14", "~=12.4, !=12.6,==12.*", "sm_90a", "compute_100f",
            "lto_75", "-arch=sm_80", "-lto", "-O3", "-maxrregcount=64", "-split-compile=2",
            "-kernels-used=a,b", "-Xptxas=-v", "-ftz=1", "-Ofc=min"]


def main(folder):
    for target, files in (("inspect", INSPECT),
                          ("versions", {str(i): text.encode() for i, text in enumerate(VERSIONS)})):
        (folder / target).mkdir(parents=True, exist_ok=True)
        for name, data in files.items():
            (folder / target / name).write_bytes(data)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "corpus")
