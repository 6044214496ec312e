# SPDX-License-Identifier: MIT
"""Relocatable cubins of every shape that compilers write, and what becomes of a link of each.

A shape is a source with something of its own, for one architecture, with an option that changes
what is written.  Those of compilers that are not NVIDIA's are PTX, and cubins that each ptxas
assembles from it (other_compilers.py).
"""
import collections
import hashlib

import linkers
import samples
import toolkits
from shape_sources import SOURCES, UNDEFINED, WITHOUT_KERNEL
from verdicts import Comparison, case

LINKED = ("11.8", "12.9", "13.0", "13.3", "13.4", toolkits.known()[-1])
ARCHITECTURES = ("sm_80", "sm_90a", "sm_100f", "sm_120")
OPTIONS = {"plain": (), "lineinfo": ("-lineinfo",), "debug": ("-G",),
           "ptxas-g": ("--ptxas-options=-g",), "ptxas-O0": ("--ptxas-options=-O0",)}


class Shape(collections.namedtuple("Shape", "version arch unit option")):
    """A samples.Sample of a unit of shape_sources."""
    kind = "cubin"

    @property
    def source(self):
        return SOURCES[self.unit]

    @property
    def options(self):
        return ["-rdc=true", f"-arch={self.arch}", *OPTIONS[self.option]]

    @property
    def path(self):
        text = hashlib.sha256(repr((self.source, self.options)).encode()).hexdigest()[:12]
        return (samples.STORE / "shapes" / samples.library_digest(self.version) /
                f"{self.unit}-{self.option}-{self.arch}-{text}.cubin")

    @property
    def left(self):
        """What only a linker can see, or None."""
        return UNDEFINED.get(self.unit)

    def partner(self):
        """What has to be linked with it, so that there is a kernel and nothing lacks."""
        if self.unit in ("calls", "called"):
            return self._replace(unit="called" if self.unit == "calls" else "calls")
        return self._replace(unit="small") if self.unit in WITHOUT_KERNEL else None

    def __str__(self):
        return f"{self.version} {self.arch} {self.option} {self.unit}"


def shapes(version):
    return [Shape(version, arch, unit, option) for unit in SOURCES for option in OPTIONS
            for arch in ARCHITECTURES if samples.compiles(version, arch)]


def compare(name, written, linker):
    """A comparison of all that one compiler makes, on one linker."""
    comparison = Comparison(f"shapes of {name} on {linker}")
    comparison.add([case(f"{shape} on {linker}", linker, shape.arch, [
        (one.kind, one.path) for one in (shape, shape.partner()) if one], shape=shape, left=shape.left)
        for shape in written])
    return comparison


def pairs():
    return [(version, linker) for version in linkers.producers() for linker in linkers.versions()
            if {version, linker} <= {*LINKED} and samples.key(version) <= samples.key(linker)]


def forms(compiler):
    """What there is of a compiler: (form, its name, the linkers that may read it)."""
    def readers(version):
        return [linker for linker in LINKED if samples.key(version) <= samples.key(linker)]

    ptxas = sorted(compiler.ptxas(), key=samples.key)
    for version in ptxas:
        yield version, f"{compiler.name}, ptxas {version}", readers(version)
    yield "ptx", f"PTX of {compiler.name}", LINKED
    if compiler.links:
        yield "linked", f"linked cubins of {compiler.name}", LINKED


def newest(versions):
    """The newest of each major."""
    return list({one.partition(".")[0]: one for one in sorted(versions, key=samples.key)}.values())
