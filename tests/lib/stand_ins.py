# SPDX-License-Identifier: MIT
"""Libraries for what a wheel needs and is neither there nor ours: cuBLAS and its siblings,
torch.  Those of NVIDIA have the C functions that are imported; each fails."""
import re
import sys

import build
import elf

REAL = re.compile(
    r"lib(cudart|nvrtc|nvJitLink|nvrtc-builtins|cuda|nvidia-ml)([-.][0-9a-f]{8})?\.so")
OURS = re.compile(r"lib(cudart|nvrtc|nvJitLink|cuda|nvidia-ml)_stub")
# What the names of the functions begin with, where they have no version that tells.
PREFIX = {"cublas": "cublas(?!Lt)", "cublasLt": "cublasLt", "cufft": "cufft",
          "curand": "curand", "cusolver": "cusolver", "cusparse": "cusparse"}
FAILURE = 100       # no success of any
CHECK = """
import ctypes, sys
for name in sys.argv[1:]:
    try:
        ctypes.CDLL(name)
    except OSError as error:
        print(name if "cannot open" in str(error) else "")
"""


def _functions(library, imports):
    """[(name, version)] of what those files want of a library."""
    prefix = PREFIX.get(library[len("lib"):].partition(".")[0])
    return sorted({(symbol.name, symbol.node) for symbol in imports if symbol.node == library or
                   prefix and not symbol.node and re.match(prefix, symbol.name)})


def _make(folder, library, functions):
    source, script = folder / "functions.c", folder / "functions.map"
    source.write_text("".join(f"int {name}(void) {{ return {FAILURE}; }}\n"
                              for name in dict.fromkeys(name for name, _ in functions)))
    script.write_text(f"{library} {{ global: *; }};\n")
    versions = [f"-Wl,--version-script={script}"] if any(node for _, node in functions) else []
    build.output(*build.CC, "-w", "-fno-builtin", "-shared", "-fPIC", f"-Wl,-soname,{library}",
                 *versions, "-o", folder / library, source)


def stand_in(world, files, installed, but=()):
    """Make them in a folder that the loader of this world looks into; their names.  `but`: files that
    are there and do not count."""
    there = {path.name for folder in installed for path in folder.rglob("*.so*")}.difference(but)
    needed = {}
    for file in files:
        for name in elf.dynamic(file).get("NEEDED", ()):
            if name not in there and not REAL.match(name) and not OURS.match(name):
                needed.setdefault(name, []).extend(elf.imports(file))
    missing = [name for name in world.run(sys.executable, "-I", "-c", CHECK, *needed).lines if name]
    folder = world.folder("stand-ins")
    for name in missing:
        _make(folder, name, _functions(name, needed[name]))
    world.search(folder)
    return missing
