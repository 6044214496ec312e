# SPDX-License-Identifier: MIT
"""Promise 2: for every name and every caller, on fakes of several versions: the
same interface is forwarded, any other is refused, what is not there is absent.

What to expect is worked out here from symbols.txt alone.
"""
import re

import pytest

import build
import elf
import symbols
from fakes import answer, fake

VERSIONS = ["11.7", "11.8", "12.0", "12.2", "12.9", "13.0", "13.5"]


def preference(family):
    """The family's own name first, then the newest suffix."""
    def key(function):
        return (function.name != family, [-int(n) for n in re.findall(r"\d+", function.name)])
    return key


def expected(library, listed, name, major, version):
    """What a caller compiled for `major` gets on `version`: a set of possible
    returns, more than one where the caller's version is not known well enough."""
    callers = [(f, v) for f in listed.functions if f.name == name
               for v in f.range.versions() if v[0] == major]
    results = set()
    for function, caller in callers:
        wanted = listed.meaning(function, caller)
        there = [f for f in listed.functions if f.family == function.family and version in f.range]
        same = [f for f in there if listed.meaning(f, version) == wanted]
        text = ".".join(map(str, version))
        if same:
            # The name itself or, as all nvJitLink's suffixes do, its family's best.
            best = min(same, key=preference(function.family))
            results |= {answer(library, f.name, text) for f in same if f.name in (best.name, name)}
        elif any(f.name == name for f in there):
            results.add(listed.errors["refused"])
        else:
            results.add(listed.errors["absent"])
            if there:   # the name shares its slot with one that is refused
                results.add(listed.errors["refused"])
    return results


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("library", build.LIBRARIES)
def test_every_caller_gets_its_interface_or_an_error(world, library, version):
    listed = symbols.read().libraries[library]
    wanted = symbols.version(version)
    if listed.soname(wanted) is None:
        pytest.skip(f"CUDA {version} has no {library}")
    returns_status = {f.name for f in listed.functions if f.result == "i32"}
    others = {f.name for f in listed.functions if f.hook}
    others |= {f.name for f in listed.functions if {f.name, f.family} & adapted()}
    majors = dict(listed.nodes())
    calls = [s for s in elf.exports(build.stub(library))
             if s.node not in ("LAZYCUDA_1", None) and s.name in returns_status - others
             and not s.name.endswith("Version") and s.name not in SPECIAL]
    world.loader(fake(library, version))
    said = world.probe(f"stub:{library}", *[f"call:{s.name}@{s.node}" for s in calls])[1:]
    assert len(said) == len(calls)
    wrong = []
    for symbol, line in zip(calls, said):
        allowed = expected(library, listed, symbol.name, majors[symbol.node], wanted)
        if line["value"] not in allowed:
            wrong.append((symbol.name, symbol.node, line["value"], allowed))
    assert wrong == []


# Fakes do something of their own on these.
SPECIAL = {"cudaGetDeviceCount", "cudaSetDevice", "cudaGetLastError", "cudaPeekAtLastError",
           "nvrtcCompileProgram"}


def adapted():
    """Names that an adaptor may serve.  tests/matrix looks at those of cudart, with
    the arguments that they get, and tests/real at nvJitLink's."""
    table = (build.ROOT / "stubs/cudart/adaptors/rows.h").read_text()
    slots = re.findall(r"^\tSERVE(?:_BY)?\((\w+), ", table, re.M)
    results = (build.ROOT / "stubs/nvJitLink/nvjitlink.c").read_text()
    # A slot is named after its family, which may have several names.
    majors = "|".join(map(str, build.MAJORS))
    return {re.sub(rf"_({majors})$", "", slot) for slot in slots} | set(
        re.findall(r"^\tX\(callers, runtimes, as, (\w+),", results, re.M))
