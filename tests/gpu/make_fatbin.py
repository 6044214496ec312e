# SPDX-License-Identifier: MIT
"""A fatbin, by one real nvFatbin in a process of its own:

    make_fatbin.py LIBRARY OUTPUT [OPTION...] KIND:ARCH:FILE...
"""
import ctypes
import pathlib
import sys


def fatbin(library, output, words):
    entries = [word for word in words if ":" in word]
    options = [word.encode() for word in words if ":" not in word]
    nvfatbin = ctypes.CDLL(library)
    handle, size = ctypes.c_void_p(), ctypes.c_size_t()

    def call(name, *arguments):
        status = nvfatbin[name](*arguments)
        if status:
            sys.exit(f"{name}: {status}")

    call("nvFatbinCreate", ctypes.byref(handle), (ctypes.c_char_p * len(options))(*options),
         ctypes.c_size_t(len(options)))
    given = []      # nvFatbin keeps what it is given until it is destroyed
    for entry in entries:
        kind, arch, path = entry.split(":", 2)
        bytes_ = pathlib.Path(path).read_bytes()
        given.append(ctypes.create_string_buffer(bytes_))
        # The NUL behind PTX belongs to it, whether or not the file has it.
        length = ctypes.c_size_t(len(bytes_.rstrip(b"\0")) + 1 if kind == "ptx" else len(bytes_))
        common = (handle, given[-1], length, arch.encode(), b"code")
        if kind == "cubin":
            call("nvFatbinAddCubin", *common)
        else:
            call({"ptx": "nvFatbinAddPTX", "ltoir": "nvFatbinAddLTOIR"}[kind], *common, b"")
    call("nvFatbinSize", handle, ctypes.byref(size))
    made = ctypes.create_string_buffer(size.value)
    call("nvFatbinGet", handle, made)
    pathlib.Path(output).write_bytes(made.raw)


if __name__ == "__main__":
    fatbin(sys.argv[1], sys.argv[2], sys.argv[3:])
