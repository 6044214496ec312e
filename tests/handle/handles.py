# SPDX-License-Identifier: MIT
"""Scripts of this folder, the libraries they run on, and fakes for them."""
import json
import pathlib
import re
import sys

import build
import containers
import elf
import fakes
import made_up
import samples
from samples import Sample

HERE = pathlib.Path(__file__).resolve().parent


def script(world, name, *words, **options):
    """What a program in Python that calls the library says."""
    return world.run(sys.executable, HERE / f"{name}.py", *words, **options,
                     PYTHONPATH=build.PYTHON,
                     LAZYCUDA_LINK_LIBRARY=build.STUBS / "liblazycuda_link.so").lines


def link(world, *words, **options):
    """What came of a link: handle.py."""
    return json.loads(script(world, "handle", *words, **options)[-1])


def install(world, toolkit, *names):
    """As pip lays it out, found by the loader's path."""
    for name in names or ("nvrtc", "nvJitLink"):
        file = toolkit.file(name)
        if file is not None and str(file.parent) not in world.env.get("LD_LIBRARY_PATH", ""):
            world.search(file.parent)


# ---- fakes ----

# A sanitizer is to see what they read and write, too.
FLAGS = build.sanitizer_flags((), build.CC)


def fake(name, version, source=None):
    """A fake nvrtc or nvJitLink: one that does what faults.py tells it, or of a source."""
    source = source or HERE / f"fake_{name.lower()}.c"
    own = fakes.soname(name, version)
    names = fakes.exports(name, version)
    text = source.read_text() + (HERE / f"fake_{name.lower()}.c").read_text()
    mine = set(re.findall(r"\b(?:nvJitLink|nvrtc)[A-Z]\w+(?=\()", text))
    mine |= {word for pair in re.findall(r"^PAIR\((\w+)", text, re.M)
             for word in (pair, pair + "Size")}
    absent = "".join(f"ABSENT({word})\n" for word in sorted(set(names) - mine))
    exported = " ".join(f"{word};" for word in sorted((set(names) | {"fake"})))
    script = build.text(f"{own} {{ global: {exported} local: *; }};\n", "map")
    cubin = ", ".join(map(str, made_up.cubin(linked=True)))
    major, minor = version.split(".")
    return build.compile(
        own, "-std=gnu11", "-g", "-O1", "-w", "-shared", "-fPIC", *FLAGS, f"-DMAJOR={major}",
        f"-DMINOR={minor}", f"-DNAMES=\"{build.text(absent, 'absent')}\"",
        f"-DCUBIN=\"{build.text(cubin, 'cubin')}\"",
        f"-Wl,-soname,{own}", f"-Wl,--version-script={script}", source)


def fake_driver():
    return build.compile("libcuda.so.1", "-std=gnu11", "-g", "-O1", "-Wall", "-Wextra", "-shared",
                         "-fPIC", *FLAGS, "-Wl,-soname,libcuda.so.1", HERE / "fake_driver.c")


def install_fakes(world):
    world.loader(fake("nvJitLink", "13.0"), fake("nvrtc", "13.0"), fake_driver(),
                 fakes.builtins("13.0"))


# ---- images ----

def readelf(path):
    """The header of an ELF file, as readelf names its fields."""
    return {name.strip(): value.strip() for name, _, value in
            (line.partition(":") for line in elf.readelf("-h", path).splitlines())}


def symbols(path):
    """Names of the functions that a cubin defines."""
    rows = [line.split() for line in elf.readelf("-s", path).splitlines()]
    return {row[-1] for row in rows if len(row) >= 8 and row[3] == "FUNC" and "UND" not in row}


PTX = ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry kernel() { ret; }\n"


def ptx_in(world):
    (world.root / "k.ptx").write_text(PTX)
    return world.root / "k.ptx"


# Real code.

SOURCES = {"kernel.cu": samples.SOURCES["k"], "helper.cu": samples.SOURCES["h"]}


def pair(version, kind, arch="sm_80"):
    """The kernel and its helper."""
    made = [Sample(version, kind, arch, unit) for unit in "kh"]
    samples.make(made)
    return [sample.path for sample in made]


KINDS = {"ptx": made_up.PTX, "cubin": made_up.CUBIN, "ltoir": made_up.LTOIR}


def fatbin(world, name, *entries):
    """A container of files, nothing compressed."""
    made = world.root / name
    made.write_bytes(made_up.fatbin(*[
        made_up.entry(KINDS[path.suffix[1:]], path.read_bytes() + b"\0" * (path.suffix == ".ptx"))
        for path in entries]))
    return made


def inputs(world, version, kind):
    """Two files of that kind, a kernel and the function it calls; of an archive one."""
    if kind in KINDS:
        return pair(version, kind)
    if kind == "source":
        paths = [world.root / name for name in SOURCES]
        for path in paths:
            path.write_text(SOURCES[path.name])
        return paths
    made = [fatbin(world, f"{path.stem}.fatbin", path, other) for path, other in
            zip(pair(version, "ptx"), pair(version, "cubin"))]
    if kind == "fatbin":
        return made
    objects = [containers.host_object(path) for path in made]
    return objects if kind == "object" else [containers.archive(*objects)]


def check_image(path):
    header = readelf(path)
    assert header["Type"].startswith("EXEC")
    assert header["Machine"] == "NVIDIA CUDA architecture"
    assert "kernel" in symbols(path)
