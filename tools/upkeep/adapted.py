#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the tables of docs/reference/adapted.md, which calls are adapted, from that of adaptors.

    tools/upkeep/adapted.py            write them
    tools/upkeep/adapted.py --check    exit 1 if the page does not have them

Run by `make generate` and `make check-generated`.
"""
import difflib
import pathlib
import re
import sys

import generated_page

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/reference/adapted.md"
TABLE = (ROOT / "stubs/cudart/adaptors/rows.h").read_text()
STUB = (ROOT / "build/generated/libcudart_stub.c").read_text()
LIST = (ROOT / "symbols.txt").read_text()

BY_PROC_ADDRESS = ("the driver's `cuGetProcAddress`, for the newest version of the caller's major",
                   "a name that stands for a newer interface than the driver has is not found")
FOR_DEVICE = ("during the call the device is the thread's current one; afterwards the thread's own device "
              "is, and the driver's context that was current before")
# {function, without _ptsz: (what it is done with, what differs)}
DONE = {
    "cudaGetDriverEntryPoint": BY_PROC_ADDRESS,
    "cudaGetDriverEntryPointByVersion": ("the driver's `cuGetProcAddress`, for that version",
                                         BY_PROC_ADDRESS[1]),
    "cudaInitDevice": ("`cudaSetDevice`, `cudaSetDeviceFlags`, `cudaFree(NULL)`", FOR_DEVICE),
    "cudaKernelSetAttributeForDevice": (
        "12: the driver's `cuKernelSetAttribute`; 11: `cudaFuncSetAttribute`", FOR_DEVICE),
    "cudaMemcpyBatchAsync": (
        "`cudaMemcpyAsync` of each, in order",
        "hints are dropped; the order `DuringApiCall` is refused; when one fails, those before "
        "it have been made, and `failIdx` is its index"),
    "cudaProfilerInitialize": ("the driver's `cuProfilerInitialize`",
                               "refused where the driver has none any more"),
    "cudaStreamGetDevice": ("the driver's `cuStreamGetCtx` and `cuCtxGetDevice`", "nothing"),
    "cudaStreamGetId": ("the driver's `cuStreamGetId`", "refused with a driver of CUDA 11"),
}


def done_with(name, needs):
    """(what it is done with, what differs), or None: `needs` is the same with another interface."""
    name = name.removesuffix("_ptsz")
    if name == "cudaGetDriverEntryPoint" and "ByVersion" in needs:
        return None
    return None if needs.startswith("cudaMemcpyBatch") else DONE.get(name)


def toolkits():
    words = re.search(r"^toolkits (.*)$", LIST, re.M)[1].split()
    return [tuple(map(int, word.split("."))) for word in words]


def slots():
    """{slot: {(name, major)}}, what callers mean by each slot."""
    found = {}
    for slot, name, node in re.findall(r'^LC_EXPORT\((\w+), (\w+), "@+", "([^"]+)"\)', STUB, re.M):
        major = int(re.search(r"\.so\.(\d+)", node)[1])
        found.setdefault(slot, set()).add((name, major))
    return found


def providers():
    """{slot: [(first, last)]}, the versions whose library fills the slot."""
    names = re.findall(r"^\tstruct lc_provider (\w+)\[\d+\];$", STUB, re.M)
    version = r"LC_VERSION\((\d+), (\d+)\)"
    row = re.compile(rf"\{{ N\(\w+\), 0x\w+, {version}, (?:{version}|LC_ANY_LATER) \}}")
    blocks = re.findall(r"^\t\{\n((?:\t\t\{ N\(\w+\), 0x\w+, LC_VERSION.*\n)+)\t\},$", STUB, re.M)
    assert len(names) == len(blocks), "gen writes another form"
    return {name: [((int(m[1]), int(m[2])), (int(m[3]), int(m[4])) if m[3] else (999, 0))
                   for m in row.finditer(block)] for name, block in zip(names, blocks)}


def filled(ranges, version):
    return any(first <= version <= last for first, last in ranges)


def spans(versions, known):
    """"11.7-12.2, 13.0-": runs of known versions."""
    runs = []
    for version in versions:
        if runs and known.index(version) == known.index(runs[-1][1]) + 1:
            runs[-1][1] = version
        else:
            runs.append([version, version])
    text = ["{}.{}".format(*first) + ("-" if last == known[-1] else
            "" if first == last else "-{}.{}".format(*last)) for first, last in runs]
    return ", ".join(text)


def check_row(number, names, callers):
    """A new toolkit may have given a slot another name."""
    for name in names:
        if name not in callers:
            near = sorted(difflib.get_close_matches(name, callers))
            sys.exit(f"stubs/cudart/adaptors/rows.h:{number}: there is no slot {name}"
                     + (f", but {', '.join(near)}" if near else ""))


def page():
    known, callers, ranges = toolkits(), slots(), providers()
    rows, served = [], {}
    for number, line in enumerate(TABLE.splitlines(), 1):
        row = re.match(r"\tSERVE(?:_BY)?\((\w+), (\w+)", line)
        if not row:
            continue
        slot, needs = row[1], row[2]
        check_row(number, (slot, needs), callers)
        here = [version for version in known
                if not filled(ranges.get(slot, []), version)
                and filled(ranges.get(needs, []), version)
                and version not in served.get(slot, ())]
        served.setdefault(slot, set()).update(here)
        by_name = {}
        for name, major in callers[slot]:
            by_name.setdefault(name, []).append(str(major))
        target = sorted({name for name, _ in callers[needs]}, key=len)[0]
        for name, majors in by_name.items():
            if not here:    # an earlier row of the slot serves all of these
                continue
            found = done_with(name, needs)
            rows.append((bool(found), f"`{name}`", ", ".join(sorted(majors)), spans(here, known),
                         *(found or (f"`{target}`",))))

    when = "compiled for → on a runtime of"
    return generated_page.fill(PAGE, {
        "adapted": table(("function", when, "calls"), [row for row in rows if not row[0]]),
        "done_with": table(("function", when, "done with", "what differs"), [row for row in rows if row[0]])})


def together(rows):
    """[(function, {(columns): {majors: [versions]}})], a function and its _ptsz in one row."""
    found = {}
    for _, name, majors, versions, *columns in rows:
        of = found.setdefault(name, {}).setdefault(tuple(columns), {})
        of.setdefault(majors, []).append(versions)
    return found


def table(head, rows):
    lines = {}
    for name, columns in together(rows).items():
        name = name.strip("`")
        for (one, *others), majors in columns.items():
            when = "; ".join(f"{who} → {', '.join(sorted(where, key=version_of))}"
                             for who, where in sorted(majors.items()))
            one = one.replace("_ptsz`", "`") if name.endswith("_ptsz") else one
            base = name.removesuffix("_ptsz")
            lines.setdefault((base, "" if one == f"`{base}`" else one, *others, when), []).append(name)
    return generated_page.markdown(head, [
        (f"`{base}`{' +' if len(names) > 1 else ''}", when, *columns)
        for (base, *columns, when), names in sorted(lines.items())])


def version_of(text):
    return [int(number) for number in re.findall(r"\d+", text)]


if __name__ == "__main__":
    generated_page.finish(PAGE, page(), "the table of adaptors gives", __doc__)
