#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which file serves each stub of this process, once a module is imported: JSON.

    what_serves.py SITE MODULE first|last [FILE...]

SITE is a site-packages.  Each FILE below it is opened after the import, as a module opens its
parts when they are needed.  Then a function of each stub's library is called, in the order of
their names or the other way round; it needs neither a driver nor a device.  whole_wheels.py runs
this.
"""
import ctypes
import importlib
import json
import os
import re
import sys

# Functions that tell a version, of one or two pointers, or of a number and a pointer.
TWO_POINTERS = {"cudart": "cudaRuntimeGetVersion", "nvrtc": "nvrtcVersion",
                "nvJitLink": "nvJitLinkVersion", "cufile": "cuFileGetVersion",
                "cupti": "cuptiGetVersion", "nccl": "ncclGetVersion",
                "nvshmem_host": "nvshmem_info_get_version"}
PROPERTY = {name: f"{name}GetProperty" for name in
            ("cublas", "cublasLt", "cudnn", "cufft", "curand", "cusolver", "cusparse", "cusparseLt",
             "nvjpeg")}
STUB = re.compile(r"/lib([^/]+)_stub[^/]*$")
REAL = re.compile(r"/lib(?:cu|nv|nccl)[^/]*\.so[.0-9]*$")


class Status(ctypes.Structure):
    """The beginning of lazycuda.h's lazycuda_status."""
    _fields_ = [("size", ctypes.c_size_t), ("library", ctypes.c_char_p), ("state", ctypes.c_int),
                ("cause", ctypes.c_int), ("major", ctypes.c_int), ("minor", ctypes.c_int),
                *[(name, ctypes.c_char_p) for name in ("version", "path", "found_by", "reason")]]


def mapped():
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
        lines = [line.split(None, 5) for line in maps]
    return sorted({line[5].strip() for line in lines if len(line) == 6 and ".so" in line[5]})


def call(name, stub):
    first, second = (ctypes.c_int * 4)(), (ctypes.c_int * 4)()
    if name in PROPERTY:
        getattr(stub, PROPERTY[name])(0, second)
    elif name in TWO_POINTERS:
        getattr(stub, TWO_POINTERS[name])(first, second)
    else:
        stub.lazycuda_load(name.encode())


def status(name, stub):
    """[CUDA's major, or 0 where nothing tells it, the file or None, what is said]"""
    stub.lazycuda_get_status.restype = ctypes.POINTER(Status)
    found = stub.lazycuda_get_status(name.encode())[0]
    said = (found.reason or b"").decode()
    unclear = "nothing tells whether it belongs to" in said
    told = re.search(r"belongs to CUDA (\d+)|is in CUDA (\d+) alone", said)
    major = 0 if unclear else int(told[1] or told[2]) if told else found.major
    path = found.path and os.path.realpath(os.fsdecode(found.path))
    return [major, path, said.split("\n")[0]]


def main(site, module, order, *files):
    sys.path.insert(0, site)
    importlib.import_module(module)
    for file in files:
        ctypes.CDLL(os.path.join(site, file))
    paths = {STUB.search(path)[1]: path for path in mapped() if STUB.search(path)}
    stubs = {name: ctypes.CDLL(path) for name, path in sorted(paths.items())}
    # Those of the driver's libraries are of no CUDA, and lmdeploy has a stub of its own.
    stubs = {name: stub for name, stub in stubs.items()
             if name not in ("cuda", "nvidia-ml") and hasattr(stub, "lazycuda_load")}
    for name in sorted(stubs, reverse=order == "last"):
        call(name, stubs[name])
    print(json.dumps({"served": {name: status(name, stub) for name, stub in stubs.items()},
                      "mapped": [os.path.realpath(path) for path in mapped()
                                 if REAL.search(path) and not STUB.search(path)]}))


if __name__ == "__main__":
    main(*sys.argv[1:])
