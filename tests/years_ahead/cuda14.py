# SPDX-License-Identifier: MIT
"""CUDA 14.0 as it might be: the newest listed toolkit, with one of each kind of change."""
import re

import snapshot
import symbols

VERSION = "14.0"
MAJOR, _ = symbols.version(VERSION)
FOLDER = "nvidia/cu14"      # below site-packages

# What became of the runtime's functions, for tests.
ARGUMENT_ADDED = "cudaEventQuery"               # and an adaptor is written
ARGUMENT_DROPPED = "cudaDeviceGetPCIBusId"
STRUCT_GREW = "cudaArrayGetSparseProperties"
FIELD_MOVED = "cudaArrayGetMemoryRequirements"
BY_VALUE = "cudaMalloc3D"
DROPPED = ("cudaCtxResetPersistingL2Cache", "cudaDeviceFlushGPUDirectRDMAWrites",
           "cudaGetDriverEntryPoint", "cudaGetDriverEntryPoint_ptsz")
NEW = ("cudaForecastCreate", "cudaForecastGet")
RENAMED = {"cudaLaunchHostFunc_v2": "cudaLaunchHostFunc",
           "cudaLaunchHostFunc_v2_ptsz": "cudaLaunchHostFunc_ptsz"}
# What comes with the driver has no majors, only new names.
NEW_OF_DRIVER = {"cuda": ("cuForecastGet", "ptr", "out u64"),
                 "nvml": ("nvmlDeviceGetForecast", "ptr", "out u32")}
ENUMERATORS = {"cudart": ("cudaErrorForecast", 1101), "nvrtc": ("NVRTC_ERROR_FORECAST", 19),
               "nvJitLink": ("NVJITLINK_ERROR_FORECAST", 19)}


def runtime(part):
    part.declare(ARGUMENT_ADDED, "ptr", "u32")
    part.declare(ARGUMENT_DROPPED, "buf i8", "i32")
    size, fields = part.structs["cudaArraySparseProperties"]
    part.structs["cudaArraySparseProperties"] = (
        size + 16, [*fields, ("tileCount", "u64", size), ("miptailCount", "u64", size + 8)])
    size, fields = part.structs["cudaArrayMemoryRequirements"]
    other = {"size": 8, "alignment": 0}
    part.structs["cudaArrayMemoryRequirements"] = (
        size, [(name, kind, other.get(name, offset)) for name, kind, offset in fields])
    size, fields = part.structs["cudaExtent"]
    part.structs["cudaExtent"] = size + 8, [*fields, ("layers", "u64", size)]
    for name in DROPPED:
        del part.functions[name]
    part.structs["cudaForecast"] = 16, [("probability", "f64", 0), ("days", "u32", 8),
                                        ("kind", "i32", 12)]
    part.declare(NEW[0], "out ptr", "in cudaForecast")
    part.declare(NEW[1], "ptr", "out cudaForecast", "out u64")
    for old, new in RENAMED.items():
        part.rename(old, new)


def compiler(part):
    del part.functions["nvrtcGetNumSupportedArchs"]
    part.declare("nvrtcGetForecast", "ptr", "out u64")


def linker(part):
    """Each minor version has names of its own, and those of its major before it."""
    for name in list(part.functions):
        suffix = re.search(r"_13_\d+$", name)
        if suffix and name.endswith("_13_5"):
            part.rename(name, name.replace("_13_5", "_14_0"))
        elif suffix:
            del part.functions[name]


def parts():
    """{library: snapshot.Part}"""
    made = snapshot.of(symbols.read().toolkits[-1])
    for name, part in made.items():
        if symbols.read().libraries[name].without_majors:
            part.declare(*NEW_OF_DRIVER[name])
            continue
        part.soname = f"lib{name}.so.14"
        word, value = ENUMERATORS[name]
        part.enumerators[word] = value
    runtime(made["cudart"])
    compiler(made["nvrtc"])
    linker(made["nvJitLink"])
    return made
