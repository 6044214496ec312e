# SPDX-License-Identifier: MIT
"""Programs that look for everything, and libraries that nobody should load."""
import pathlib
import re
import shutil
from types import SimpleNamespace

import build
from fakes import fake

HERE = pathlib.Path(__file__).resolve().parent
LIBRARIES = [*map(build.stub, build.STUBBED), build.STUBS / "liblazycuda_link.so"]
# What is loaded by its plain name.
BY_NAME = ("libcuda.so.1", "libnvidia-ml.so.1", "libzstd.so.1", "liblz4.so.1")
# Code that ZSTD and LZ4 have compressed.
CODE = [build.TESTS / "fuzz" / "corpus" / "inspect" / name for name in ("zstd", "fatbin")]
SAYS = "write(2,\"intruder\\n\",9);"


def intruder(name):
    return build.shared(HERE / "intruder.c", f'-DNAME="{name}"', f"-Wl,-soname,{name}", name=name)


def intruding_cudart():
    return fake("cudart", "12.9", constructor=SAYS)


def visitor(*flags):
    return build.program(HERE / "visitor.c", *flags)


def intruders(folder):
    """Everything that could be looked for, in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    linker = fake("nvJitLink", "12.9", constructor=SAYS.replace("intruder", "intruder linker").replace("9", "16"))
    for file in (intruding_cudart(), linker, *map(intruder, BY_NAME)):
        shutil.copy(file, folder)
    return folder


def reading(done):
    """What a visitor said; who came in meanwhile."""
    said = {}
    for line in done.lines:
        name, _, rest = line.partition(" ")
        said.setdefault(name, []).append(rest)
    return SimpleNamespace(
        cudart=said["cudart"][0].split()[0], path=said["cudart"][0].split(" ", 1)[1],
        guard=said["guard"][0], driver=int(said["driver"][0]), branch=int(said["branch"][0]),
        code=said.get("code", []), link=said.get("link", [""])[0],
        trace=[line for line in done.err.splitlines() if line.startswith("lazycuda: ")],
        intruders=re.findall(r"^intruder.*$", done.err, re.M))
