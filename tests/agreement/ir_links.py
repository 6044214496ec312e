# SPDX-License-Identifier: MIT
"""LLVM IR of clang, linked: what libnvvm and nvJitLink alone make of it, and what `lazycuda link`
does, each in a process of its own.

    rows([Written of the form "ir"], "12.9")    [(shape, verdict, our code, what the real ones say)]

The verdicts are those of verdicts.py.
"""
import concurrent.futures
import functools
import os
import pathlib
import platform
import subprocess
import sys
import tempfile

import build
import link_command
import linkers
import toolkits
from samples import HERE
from verdicts import AGREE_NO, AGREE_YES, GARBAGE, LAXER, SPARED, STRICTER

TABLE = toolkits.ROOT / "tools" / "upkeep" / "nvvm.txt"
FOLDER = build.BUILD / "nvvm"


def why_not(version):
    """Why there is no libnvvm of this version, or None; what can be fetched is."""
    if not toolkits.fetch.wheels_of(FOLDER, [version], None, platform.machine(), TABLE):
        return f"{TABLE.name} has no libnvvm {version} for {platform.machine()}"
    return "; ".join(toolkits.fetch.fetch(FOLDER, [version], table=TABLE)) or None


def versions():
    return [version for version in linkers.versions()
            if version in toolkits.fetch.toolkits(TABLE) and not why_not(version)]


@functools.lru_cache(maxsize=None)
def libnvvm(version):
    return next((FOLDER / version / platform.machine()).glob("nvidia/*/**/libnvvm.so*"))


def compiled_alone(shapes, version, folder):
    """{shape: (answer, PTX)}"""
    made = {shape: folder / f"{index}.ptx" for index, shape in enumerate(shapes)}
    jobs = "".join(f"{shape.arch}\t{shape.path}\t{ptx}\n" for shape, ptx in made.items())
    done = subprocess.run([sys.executable, HERE / "nvvm_alone.py", libnvvm(version)], input=jobs,
                          text=True, stdout=subprocess.PIPE, check=True)
    answers = done.stdout.splitlines()
    assert len(answers) == len(made)
    return {shape: (said, ptx) for (shape, ptx), said in zip(made.items(), answers)}


def parts(shape):
    return [one for one in (shape, shape.partner()) if one]


def alone(shapes, version, folder):
    """{shape: "yes", or what the first that fails says}"""
    compiled = compiled_alone({one: 0 for shape in shapes for one in parts(shape)}, version, folder)
    found, jobs = {}, {}
    for shape in shapes:
        said = next((compiled[one][0] for one in parts(shape) if compiled[one][0] != "yes"), None)
        if said:
            found[shape] = said
        else:
            jobs[shape] = linkers.Job(version, [f"-arch={shape.arch}"],
                                      [("ptx", compiled[one][1]) for one in parts(shape)])
    real = linkers.run(jobs.values())
    return {**found, **{shape: real[job] for shape, job in jobs.items()}}


def ours(shape, version, image):
    """The code of `lazycuda link`; libnvvm crashes on some."""
    return link_command.code(version, shape.arch, [one.path for one in parts(shape)], image,
                             "--isolated", LAZYCUDA_NVVM=str(libnvvm(version)))


def judge(code, real):
    if code == "OK":
        return AGREE_YES if real == "yes" else LAXER
    return STRICTER if real == "yes" else SPARED if real.startswith(GARBAGE) else AGREE_NO


def rows(shapes, version):
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(
            len(os.sched_getaffinity(0))) as pool:
        folder = pathlib.Path(folder)
        real = alone(shapes, version, folder)
        codes = pool.map(lambda shape: ours(shape, version, folder / f"{id(shape)}.cubin"), shapes)
        return [(shape, judge(code, real[shape]), code, real[shape])
                for shape, code in zip(shapes, codes)]
