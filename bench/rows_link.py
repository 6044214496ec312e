# SPDX-License-Identifier: MIT
"""What a link costs through the handle, next to the same link through
nvJitLink alone: `lines(KIND, ...)` of bench/link.c, for bench/bench.py."""
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIB = ROOT / "build" / "lib"
# By name: the kind, how many kernels, and how many times as many rounds it takes
# for a figure as of the others: of cubins a link is short.
KINDS = {
    "ptx": ("ptx", 1, 1),
    "cubin": ("cubin", 1, 20),
    "cubin of 51 kernels": ("cubin", 51, 5),
    "ltoir": ("ltoir", 1, 1),
}


def program(compile):
    """`compile` is bench.py's."""
    return compile("link", f"-I{ROOT / 'include'}", ROOT / "bench/link.c",
                   *[LIB / f"cuda13/lib{name}_stub.so" for name in ("nvrtc", "nvJitLink")],
                   LIB / "liblazycuda_link.so", f"-Wl,-rpath,{LIB}", "-ldl")


def link_cost(name, folder, compile, run, arch="sm_90", rounds=60):
    """[(nanoseconds through the handle, alone)] of links of one of KINDS taken
    in turn, with the nvrtc and nvJitLink in a folder."""
    kind, kernels, times = KINDS[name]
    nvrtc, library = (next(folder.glob(f"lib{name}.so.*")) for name in ("nvrtc", "nvJitLink"))
    said = run(program(compile), kind, kernels, arch, library, rounds * times,
               LD_LIBRARY_PATH=str(folder),
               LAZYCUDA_NVRTC=str(nvrtc), LAZYCUDA_NVJITLINK=str(library))
    return [tuple(map(float, line.split())) for line in said.splitlines()]
