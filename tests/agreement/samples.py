# SPDX-License-Identifier: MIT
"""Device code made by real compilers: two translation units, of which one calls
what the other defines, as PTX, cubin and LTO-IR of any version and architecture.

    make([Sample("12.4", "ptx", "sm_80", "k"), ...])    compiles what is not there yet
    Sample("12.4", "ptx", "sm_80", "k").path

They lie in build/tests/agreement/samples, below a digest of compiler and
sources, so that a second run compiles nothing.
"""
import collections
import concurrent.futures
import functools
import hashlib
import os
import pathlib
import subprocess
import sys

import build
import toolkits

HERE = pathlib.Path(__file__).resolve().parent
STORE = build.BUILD / "tests" / "agreement"
KINDS = ("ptx", "cubin", "ltoir")

DECLARED = 'extern "C" __device__ int helper(int);\n'
DEFINED = 'extern "C" __device__ __noinline__ int helper(int x) { return 3 * x + 1; }\n'
KERNEL = 'extern "C" __global__ void kernel(int *out) { *out = helper(threadIdx.x); }\n'
# A kernel, the function it calls, and both in one.
SOURCES = {"k": DECLARED + KERNEL, "h": DEFINED, "kh": DEFINED + KERNEL}

# The versions that know it, as (first, last); with "-rdc=true" and "-dlto" the same.
COMPILES = {
    "sm_50": ("11.7", "12.9"), "sm_52": ("11.7", "12.9"), "sm_53": ("11.7", "12.9"),
    "sm_60": ("11.7", "12.9"), "sm_61": ("11.7", "12.9"), "sm_62": ("11.7", "12.9"),
    "sm_70": ("11.7", "12.9"), "sm_72": ("11.7", "12.9"), "sm_75": ("11.7", None),
    "sm_80": ("11.7", None), "sm_86": ("11.7", None), "sm_87": ("11.7", None),
    "sm_88": ("13.0", None), "sm_89": ("11.8", None),
    "sm_90": ("11.8", None), "sm_90a": ("12.0", None),
    "sm_100": ("12.8", None), "sm_100a": ("12.8", None), "sm_100f": ("12.9", None),
    "sm_101": ("12.8", "12.9"), "sm_101a": ("12.8", "12.9"), "sm_101f": ("12.9", "12.9"),
    "sm_103": ("12.9", None), "sm_103a": ("12.9", None), "sm_103f": ("12.9", None),
    "sm_107": ("13.4", None), "sm_107a": ("13.4", None), "sm_107f": ("13.4", None),
    "sm_110": ("13.0", None), "sm_110a": ("13.0", None), "sm_110f": ("13.0", None),
    "sm_120": ("12.8", None), "sm_120a": ("12.8", None), "sm_120f": ("12.9", None),
    "sm_121": ("12.9", None), "sm_121a": ("12.9", None), "sm_121f": ("12.9", None),
}


def key(version):
    return tuple(map(int, version.split(".")))


def versions(library):
    """Every one that is here, oldest first."""
    return [version for version in toolkits.known()
            if toolkits.Toolkit(version).file(library) and version in toolkits.requested()]


def compiles(version, arch):
    """Whether nvrtc of this version knows the architecture."""
    first, last = COMPILES[arch]
    return key(first) <= key(version) and (last is None or key(version) <= key(last))


class Sample(collections.namedtuple("Sample", "version kind arch unit linked",
                                    defaults=(False,))):
    """`linked`: a cubin that is not relocatable."""

    @property
    def path(self):
        name = f"{self.unit}-{self.arch}{'-linked' if self.linked else ''}.{self.kind}"
        return STORE / "samples" / f"{self.version}-{compiler_digest(self.version)}" / name

    @property
    def options(self):
        if self.kind == "ltoir":
            return ["-dlto", f"-arch={self.arch}"]
        return [f"-arch={self.arch}"] + ([] if self.linked else ["-rdc=true"])

    @property
    def source(self):
        return SOURCES[self.unit]

    def __str__(self):
        return f"{self.version} {self.kind} {self.arch} {self.unit}"


def library_digest(version):
    """A folder's name for what one nvrtc makes."""
    library = toolkits.Toolkit(version).file("nvrtc")
    return f"{version}-{build.digest(library, library.stat().st_mtime_ns)[:12]}"


@functools.lru_cache(maxsize=None)
def compiler_digest(version):
    text = library_digest(version) + repr(sorted(SOURCES.items()))
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def in_its_folder(library):
    """The environment for a child that loads this library: those of 13 find
    their other half in no other way."""
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith(("LD_", "CUDA_", "LAZYCUDA_"))}
    return kept | {"LD_LIBRARY_PATH": str(library.parent)}


def compile_all(version, samples):
    """All of one compiler; it is loaded once."""
    library = toolkits.Toolkit(version).file("nvrtc")
    folder = samples[0].path.parent
    with build.locked(folder / "lock"):
        samples = [sample for sample in samples if not sample.path.exists()]
        lines = []
        for sample in samples:
            source = folder / f"{sample.unit}.cu"
            source.write_text(sample.source)
            lines.append("\t".join([str(source), f"{sample.path}.new", sample.kind,
                                    *sample.options]) + "\n")
        # nvrtc 11.8 has crashed once in a whole run, and did not with the same input again.
        for _ in range(2):
            done = subprocess.run([sys.executable, HERE / "producer.py", library],
                                  input="".join(lines), text=True, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, env=in_its_folder(library))
            if done.returncode >= 0:
                break
        said = done.stdout.splitlines()
        assert said == ["ok"] * len(samples), f"nvrtc {version}: {done}" + "; ".join(
            f"{sample}: {line}" for sample, line in zip(samples, said) if line != "ok")
        for sample in samples:
            pathlib.Path(f"{sample.path}.new").rename(sample.path)


def make(samples):
    wanted = collections.defaultdict(list)
    for sample in dict.fromkeys(samples):
        if not sample.path.exists():
            wanted[sample.version].append(sample)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda item: compile_all(*item), wanted.items()))
