# SPDX-License-Identifier: MIT
"""Options, debugging, comments in PTX, and what libraries accept and spoil: the plan against the real
library."""
import itertools

import build
import linkers
import samples
from verdicts import Comparison, Reason, case
from samples import Sample, key

ARCH = "sm_80"


def compilers():
    """(linker, its own compiler, one before it): the one before may be of 11,
    whose LTO-IR nobody takes."""
    for version in linkers.versions():
        before = [p for p in linkers.producers() if key(p) < key(version)]
        if version in linkers.producers() and before:
            yield version, version, before[-1]


def sample(producer, name, linked=False):
    """("ptx", a sample) by "k.ptx"."""
    unit, kind = name.split(".")
    return kind, Sample(producer, kind, ARCH, unit, linked)


def cases_of(links):
    """Cases from (name, version, [(kind, sample)], keywords); compiles what they need."""
    links = list(links)
    samples.make([one for _, _, inputs, _ in links for _, one in inputs])
    return [case(f"{name} on {version}", version, ARCH,
                 [(kind, one.path) for kind, one in inputs], **keywords)
            for name, version, inputs, keywords in links]


# ---- sets of inputs ----

def spoiled():
    """What later libraries accept and spoil."""
    for version, new, old in compilers():
        for producer in (new, old):
            linked = sample(producer, "kh.cubin", linked=True)
            yield f"linked cubin of {producer}", version, [linked], {}
            yield (f"linked cubin of {producer} beside PTX", version,
                   [sample(new, "h.ptx"), linked], {})
            yield (f"linked cubin of {producer} beside LTO-IR", version,
                   [sample(new, "h.ltoir"), linked], {"lto": True})
        yield "nothing", version, [], {}
        yield "nothing, -lto", version, [], {"lto": True}


def comments():
    """PTX with a word in a comment that is not ASCII: what 12.8 to 13.3 refuse is
    given to them in ASCII."""
    for version, new, _ in compilers():
        k, h = (Sample(new, "ptx", ARCH, unit) for unit in "kh")
        samples.make([k, h])
        text = k.path.read_bytes().rstrip(b"\0")
        for name, changed in (("line", "// größe\n".encode() + text),
                              ("block", text + "\n/* größe \"*/\n".encode()),
                              ("Latin-1", text.replace(b".target", b"/*\xe4*/ .target"))):
            yield case(f"{name} of PTX on {version}", version, ARCH,
                       [("ptx", build.text(changed + b"\0", "ptx")), ("ptx", h.path)], contained=True)


def counts(what, cases, *refused):
    """How many agree, after a comparison of all cases."""
    comparison = Comparison(what)
    comparison.add(cases, refused)
    comparison.finish()
    return comparison.counts


def test_comments_in_any_language():
    linkers.need(linkers.versions())
    assert not counts("comments in any language", list(comments()))["agree no"]


def test_spoiled():
    linkers.need(linkers.versions())
    counts("what libraries spoil", cases_of(spoiled()))


# ---- options ----

OPTIONS = (
    "-maxrregcount=32", "-time", "-time=-", "-verbose", "-O0", "-O1", "-O2", "-O3", "-g", "-lineinfo",
    "-ftz=1", "-ftz=0", "-ftz=true", "-prec-div=0", "-prec-div=1", "-prec-sqrt=0", "-fma=0",
    "-fma=1", "-kernels-used=kernel", "-kernels-used=kernel -variables-used=nothing",
    "-optimize-unused-variables", "-Xptxas=-v", "-Xptxas=-O1", "-split-compile=2",
    "-split-compile-extended=2", "-jump-table-density=50", "-no-cache",
    "-device-stack-protector", "-Ofc=0", "-Ofc=1", "-Ofc=min", "-Ofc=mid", "-Ofc=max", "-nvvm-latest", "-no-such-option", "nonsense",
    "-O4", "-maxrregcount=0", "-Xnvvm=-opt=3", "-G", "-v", "-maxrregcount", "-Xptxas=", "-kernels-used=",
)


def options():
    for version, new, _ in compilers():
        for kind in samples.KINDS:
            for option in OPTIONS:
                yield (f"{option} with {kind}", version, [sample(new, f"{unit}.{kind}") for unit in "kh"],
                       {"lto": kind == "ltoir", "options": option.split(), "kind": kind,
                        "option": option})


OPTIONS_REFUSED = (
    Reason("-O in 12.0 to 12.2", "with LTO-IR every one of them fails there",
           lambda plan, facts: plan.code == "OPTION_UNSUPPORTED" and
           facts["option"].startswith("-O") and key(facts["version"]) < (12, 3)),
    Reason("-kernels-used and -variables-used in 12.1", "with LTO-IR they crash it",
           lambda plan, facts: plan.code == "OPTION_UNSUPPORTED" and
           "-used=" in facts["option"] and facts["version"] == "12.1"),
    Reason("-ftz=true", "documented: 0 or 1; with LTO-IR anything else fails",
           lambda plan, facts: plan.code == "BAD_OPTION" and facts["option"] == "-ftz=true"),
)


def test_options():
    linkers.need(linkers.versions())
    counts("options", cases_of(options()), *OPTIONS_REFUSED)


# ---- debugging ----

def debugged():
    """PTX, with and without the word, the section and 64-bit addresses, and other code."""
    word, section = ", debug", "\n.section .debug_info\n{\n.b8 1\n}\n"
    optioned = [(), ("-g",), ("-O3",), ("-O0", "-g"), ("-g", "-O3"), ("-Xptxas=-O3", "-g"),
                ("-Xptxas=-g", "-O3"), ("-lineinfo", "-O3")]
    for version in linkers.versions():
        if key(version) < (12, 3):
            continue                # which takes -O for some kinds alone
        made = []
        for bits, debug, more in itertools.product((64, 32), ("", word), ("", section)):
            path = build.text(f".version 8.0\n.target {ARCH}{debug}\n.address_size {bits}\n"
                              f".visible .entry kernel() {{ trap; }}\n{more}\0", "ptx")
            made.append((f"PTX of {bits} bits{debug}{more and ' with a section'}", "ptx", path, False))
        others = [Sample(version, kind, ARCH, "kh") for kind in ("cubin", "ltoir")]
        samples.make(others)
        made += [(f"{one.kind}", one.kind, one.path, one.kind == "ltoir") for one in others]
        for (name, kind, path, lto), options in itertools.product(made, optioned):
            for output in ("cubin", "ptx") if lto else ("cubin",):
                yield case(f"{name} with {options} to {output} on {version}", version, ARCH, [(kind, path)],
                           options=options, lto=lto, output=output)


def test_debugging():
    linkers.need(linkers.versions())
    found = counts("debugging", list(debugged()))
    # Nothing of it is for the linker alone to see.
    assert found["agree no"] and not found["left"]
