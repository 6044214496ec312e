# SPDX-License-Identifier: MIT
"""Device code of compilers that are not NVIDIA's, and cubins that ptxas assembles from it.

    written(compiler, form, option="O2")    [Written] that are so, made if they are not there yet

A form is "ptx", a version of ptxas, or "linked" for the cubins that a compiler makes itself and are
not relocatable.  What a compiler does not compile, or ptxas does not assemble, is left out.
"""
import collections
import concurrent.futures
import functools
import importlib.util
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

import pytest

import build
import toolkits
from other_sources import SOURCES, WITHOUT_KERNEL
from samples import HERE, STORE

FETCHED = build.BUILD / "compilers"
NVCC = build.BUILD / "nvcc"
TABLES = {FETCHED: "compilers.txt", NVCC: "nvcc.txt"}
ARCHITECTURES = ("sm_80", "sm_90a", "sm_100f", "sm_120")
RDC = ("-fgpu-rdc",)
# With which clang writes something else; the first for every architecture.
OPTIONS = {"O2": ("-O2", *RDC), "g": ("-O2", "-g", *RDC), "whole": ("-O2",),
           "old-ptx": ("-O2", *RDC, "--cuda-feature=+ptx70")}
# How the host's half of a file is compiled.
FOR_HOST = ("-x", "cuda", "-nocudainc", "-nocudalib", "-Wno-unknown-cuda-version")
LANGUAGES = {
    "cuda": ["-x", "cuda", "--cuda-device-only", "-nocudainc", "-nocudalib",
             "-Wno-unknown-cuda-version", "-Xclang", "-target-feature", "-Xclang", "+ptx70"],
    "c": ["-x", "c", "--target=nvptx64-nvidia-cuda", "-nostdinc", "-nogpulib"],
    "cl": ["-x", "cl", "--target=nvptx64-nvidia-cuda", "-nostdinc", "-nogpulib", "-cl-std=CL2.0",
           "-cl-no-stdinc"],
}


def fetched(folder, name, parts=None):
    """Why it is not in a folder of build, or None; what can be fetched is."""
    table = toolkits.ROOT / "tools" / "upkeep" / TABLES[folder]
    if not toolkits.fetch.wheels_of(folder, [name], parts, platform.machine(), table):
        return f"{table.name} has no {name} for {platform.machine()}"
    return "; ".join(toolkits.fetch.fetch(folder, [name], parts, table=table)) or None


def said(*command, **options):
    """What a program prints, or None if it fails or is not there."""
    try:
        done = build.run(*map(str, command), **options)
    except OSError:
        return None
    return None if done.returncode else done.stdout


@functools.lru_cache(maxsize=None)
def ptxas_of(program):
    """(version, program), or None where it cannot be run."""
    text = said(program, "--version")
    return text and (re.search(r"release ([\d.]+)", text)[1], program)


def why_no_ptxas():
    """Why there is no ptxas of NVIDIA's wheels, or None."""
    return fetched(NVCC, "12.9", ["ptxas"]) or fetched(NVCC, "13.5", ["nvcc"])


def ptxas_of_toolkits():
    """{version: program}, of the newest 12 and 13."""
    programs = [NVCC / version / platform.machine() / "nvidia" / place / "bin" / "ptxas"
                for version, place, parts in (("12.9", "cuda_nvcc", ["ptxas"]),
                                              ("13.5", "cu13", ["nvcc"]))
                if not fetched(NVCC, version, parts)]
    return dict(filter(None, map(ptxas_of, programs)))


class Written(collections.namedtuple("Written", "compiler form arch unit option")):
    @property
    def kind(self):
        return "ptx" if self.form == "ptx" else "cubin"

    @property
    def path(self):
        """None: it cannot be made."""
        return made(self)

    @property
    def target(self):
        """The architecture that its PTX is for."""
        return self.compiler.target(self.arch)

    @property
    def left(self):
        """That no ptxas assembles it, either, as far as one was tried."""
        each = [one for one in REFUSED if one[::2] == self[::2] and one[3:] == self[3:]] if (
            self.form == "ptx") else []
        return "ptxas refuses it" if each and len(each) == len(self.compiler.ptxas()) else None

    def partner(self):
        """What has to be linked with it, so that there is a kernel and nothing lacks."""
        if self.unit in ("calls", "called"):
            return self._replace(unit="called" if self.unit == "calls" else "calls")
        return self._replace(unit="small") if self.unit in WITHOUT_KERNEL else None

    def __str__(self):
        return f"{self.compiler.name} {self.form} {self.arch} {self.option} {self.unit}"


REFUSED = set()     # by ptxas


@functools.lru_cache(maxsize=None)
def made(shape):
    """Its file, or None."""
    name = f"{str(shape).replace(' ', '-')}.{shape.kind}"
    try:
        if shape.form in ("ptx", "linked"):
            return shape.compiler.make(shape, name)
        ptx = made(shape._replace(form="ptx"))
        return ptx and build.compile(name, "-c", f"-arch={shape.arch}", ptx,
                                     cc=[str(shape.compiler.ptxas()[shape.form])])
    except build.CompileError:
        if shape.form != "ptx":
            REFUSED.add(shape)
        return None


def written(compiler, form, **only):
    """Those that could be made, and what has to be linked with them."""
    shapes = [one for one in compiler.shapes(form)
              if all(getattr(one, name) == value for name, value in only.items())]
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        list(pool.map(made, shapes))
    return [one for one in shapes if one.path and (not one.partner() or one.partner().path)]


class Clang:
    links = False

    def __init__(self, command):
        self.command = command
        version = re.search(r"clang version ([\d.]+)", said(*command, "--version") or "")
        if not version:
            pytest.skip(f"{command[0]} does not run, or is no clang")
        self.name = f"clang {version[1].rstrip('.')}"
        # Some say it on stderr, some on stdout.
        done = subprocess.run([*command, "--target=nvptx64", "-print-supported-cpus"], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        # Those of families its backend knows, and its driver does not.
        self.architectures = set(re.findall(r"\bsm_\d+a?\b", done.stdout))
        if "sm_80" not in self.architectures:
            pytest.skip(f"{self.name} does not write PTX for sm_80")
        self.options = [one for one, words in OPTIONS.items() if self.takes(words)]

    def takes(self, options):
        return said(*self.command, *LANGUAGES["cuda"], "--cuda-gpu-arch=sm_80", *options,
                    "-fsyntax-only", os.devnull) is not None

    @functools.lru_cache(maxsize=None)
    def ptxas(self):
        return ptxas_of_toolkits()

    def target(self, arch):
        """This architecture, or the newest that it knows and whose PTX serves this one."""
        if arch in self.architectures:
            return arch
        older = [int(one[3:]) for one in self.architectures if one[3:].isdigit()]
        return f"sm_{max(one for one in older if one <= int(re.sub(r'[^0-9]', '', arch)))}"

    def shapes(self, form):
        return [Written(self, form, arch, unit, option) for unit in SOURCES
                for option in self.options for arch in ARCHITECTURES
                if option == self.options[0] or arch == "sm_80"]

    def make(self, shape, name):
        language, text = SOURCES[shape.unit]
        options = [word for word in OPTIONS[shape.option]
                   if language == "cuda" or not word.startswith(("-fgpu", "--cuda"))]
        cpu = [f"--cuda-gpu-arch={shape.target}"] if language == "cuda" else [
            "-Xclang", "-target-cpu", "-Xclang", shape.target]
        return build.compile(name, *LANGUAGES[language], *options, *cpu, "-S",
                             build.text(text, "device"), cc=self.command)


class Triton:
    """One process compiles all, and says for which architectures that was."""
    links = True

    def __init__(self, site):
        self.site = site
        text = said(sys.executable, HERE / "triton_kernels.py", env=self.environment())
        if not text:
            pytest.skip("triton cannot be imported by this Python")
        self.name = f"triton {text.split()[0]}"
        source = HERE / "triton_kernels.py"
        self.folder = STORE / f"triton-{text.split()[0]}-{build.digest(source, source.stat().st_mtime_ns)[:12]}"

    def environment(self, **more):
        kept = {name: value for name, value in os.environ.items()
                if not name.startswith(("TRITON_", "PYTHON"))}
        return {**kept, "PYTHONPATH": str(self.site), **more}

    @functools.lru_cache(maxsize=None)
    def ptxas(self):
        """Those that come with it, and later ones."""
        programs = sorted((self.site / "triton" / "backends" / "nvidia" / "bin").glob("ptxas*"))
        own = dict(filter(None, map(ptxas_of, programs)))
        return {**ptxas_of_toolkits(), **own}

    def shapes(self, form):
        self.write()
        names = [path.stem.split("-") for path in sorted(self.folder.glob("*.ptx"))]
        return [Written(self, form, arch, unit, "-".join(option)) for unit, *option, arch in names]

    @staticmethod
    def target(arch):
        return arch

    def make(self, shape, _name):
        path = self.folder / f"{shape.unit}-{shape.option}-{shape.arch}.{shape.kind}"
        return path if path.exists() else None

    def write(self):
        with build.locked(self.folder / "lock"), tempfile.TemporaryDirectory() as cache:
            if (self.folder / "made").exists():
                return
            done = build.run(sys.executable, HERE / "triton_kernels.py", self.folder,
                             env=self.environment(TRITON_CACHE_DIR=cache))
            assert done.returncode == 0, done.stderr
            (self.folder / "made").write_text(done.stdout)


# ---- what there is; who asks for another is skipped ----

def clang_of_machine():
    if not shutil.which("clang"):
        pytest.skip("there is no clang (Debian: apt install clang)")
    return Clang(["clang"])


def clang_of_zig():
    """That of tests/requirements.txt, with which the default tests do."""
    found = importlib.util.find_spec("ziglang")
    if not found:
        pytest.skip("there is no ziglang (pip could not install tests/requirements.txt)")
    return Clang([str(pathlib.Path(found.origin).parent / "zig"), "clang"])


def newer_clang():
    why = fetched(FETCHED, "clang")
    if why:
        pytest.skip(why)
    return Clang([str(FETCHED / "clang" / platform.machine() / "ziglang" / "zig"), "clang"])


def triton():
    why = fetched(FETCHED, "triton")
    if why:
        pytest.skip(why)
    return Triton(FETCHED / "triton" / platform.machine())


FINDERS = (clang_of_machine, clang_of_zig, newer_clang, triton)
