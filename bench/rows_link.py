# SPDX-License-Identifier: MIT
"""What a link costs through the handle, beside the same link through nvJitLink alone, in a
process of its own or from Python: bench/link.c, for rows_dispatch.py."""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIB = ROOT / "build" / "lib"
# By name: the kind, how many kernels, and how many times as many rounds it takes for a
# figure as exact as those of the others: a link of cubins is short.
KINDS = {
    "ptx": ("ptx", 1, 1),
    "cubin": ("cubin", 1, 20),
    "cubin of 51 kernels": ("cubin", 51, 5),
    "ltoir": ("ltoir", 1, 1),
}


def program(compile):
    """`compile` is measure.compile()."""
    return compile("link", f"-I{ROOT / 'include'}", ROOT / "bench/link.c",
                   *[LIB / f"cuda13/lib{name}_stub.so" for name in ("nvrtc", "nvJitLink")],
                   LIB / "liblazycuda_link.so", f"-Wl,-rpath,{LIB}", "-ldl")


def command(name, folder, compile, rounds, arch="sm_90", more=(), others=()):
    """What links one of KINDS so many times with the nvrtc and nvJitLink in a folder, and its
    environment: these alone are there, or those of other folders as well."""
    kind, kernels, _ = KINDS[name]
    nvrtc, library = (next(folder.glob(f"lib{name}.so.*")) for name in ("nvrtc", "nvJitLink"))
    variables = {"LD_LIBRARY_PATH": ":".join(map(str, (folder, *others)))}
    if not others:
        variables.update(LAZYCUDA_NVRTC=str(nvrtc), LAZYCUDA_NVJITLINK=str(library))
    return [program(compile), kind, kernels, arch, library, rounds, *more], variables


def link_cost(name, folder, compile, run, rounds=60, others=()):
    """[(nanoseconds through the handle, alone)] of links taken in turn."""
    words, variables = command(name, folder, compile, rounds * KINDS[name][2], others=others)
    return [tuple(map(float, line.split())) for line in run(*words, **variables).splitlines()]


def isolation_cost(name, folder, compile, run, rounds=10):
    """[(nanoseconds in a process of its own, in this one)] of links taken in turn."""
    words, variables = command(name, folder, compile, rounds, more=("isolated",))
    return [tuple(map(float, line.split())) for line in run(*words, **variables).splitlines()]


def python_command(name, folder, compile, run, work):
    """The program that links one of KINDS in C, that in Python, and their environment: both read
    how many rounds to take.  The code is left in the folder `work`."""
    words, variables = command(name, folder, compile, 0)
    kind, kernels, arch = words[1:4]
    in_c = [words[0], kind, kernels, arch, "serve", work]
    run(*in_c, **variables)
    return in_c, [sys.executable, ROOT / "bench" / "link.py", arch, work / "0", work / "1"], {
        **variables, "PYTHONPATH": str(ROOT / "tools" / "retarget"),
        "LAZYCUDA_LINK_LIBRARY": str(LIB / "liblazycuda_link.so")}


def link_instructions(name, folder, compile, run, callgrind, work, few=4, many=12):
    """(instructions of a link through the handle, alone), once both are warm.  The code is left in
    the folder `work`: in valgrind, nvrtc takes minutes."""
    words, variables = command(name, folder, compile, 0)
    run(*words[:4], "serve", work, **variables)

    def count(function, rounds):
        words, variables = command(name, folder, compile, rounds)
        words[2] = work
        return callgrind(function, *words, **variables)

    return [(count(function, many) - count(function, few)) / (many - few)
            for function in ("through_handle", "through_library")]
