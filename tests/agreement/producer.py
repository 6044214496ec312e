# SPDX-License-Identifier: MIT
"""Compiles with one nvrtc:

    producer.py LIBNVRTC < JOBS

A job is a line of tab-separated fields, SOURCE OUTPUT ptx|cubin|ltoir|optixir|tileir OPTION..., where
SOURCE and OUTPUT are files.  Prints a line for each, "ok" or what failed.
"""
import ctypes
import pathlib
import sys


def produce(library, source, output, kind, *options):
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    words = (ctypes.c_char_p * len(options))(*[word.encode() for word in options])
    result = library.nvrtcCreateProgram(ctypes.byref(program), pathlib.Path(source).read_bytes(),
                                        source.encode(), 0, None, None) or \
        library.nvrtcCompileProgram(program, len(options), words)
    if result:
        return f"nvrtcCompileProgram: {result}"
    # CUDA 11 calls LTO-IR NVVM.
    what = {"ptx": "PTX", "cubin": "CUBIN", "optixir": "OptiXIR", "tileir": "TileIR"}.get(
        kind, "LTOIR" if hasattr(library, "nvrtcGetLTOIR") else "NVVM")
    if library[f"nvrtcGet{what}Size"](program, ctypes.byref(size)) or size.value < 2:
        return "nothing came out"
    made = ctypes.create_string_buffer(size.value)
    if library[f"nvrtcGet{what}"](program, made):
        return "nothing came out"
    # The size of PTX counts its NUL, which a file of PTX does not have.
    pathlib.Path(output).write_bytes(made.raw[:size.value - (kind == "ptx")])
    library.nvrtcDestroyProgram(ctypes.byref(program))
    return "ok"


if __name__ == "__main__":
    nvrtc = ctypes.CDLL(sys.argv[1])
    for line in sys.stdin:
        print(produce(nvrtc, *line.rstrip("\n").split("\t")), flush=True)
