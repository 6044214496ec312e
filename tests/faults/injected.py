# SPDX-License-Identifier: MIT
"""Stubs in which every call of libc can be made to fail."""
import functools
import pathlib
import re

import build
import inside

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE / "inject.c"

def wrapped():
    """The functions that inject.c stands in for."""
    text = SOURCE.read_text()
    return set(re.findall(r"^(?:PASS|TAKE|GIVE|FORMATS)\((\w+)", text, re.M)
               + [f"__{name}_chk" for name in re.findall(r"^CHECKED\((\w+)", text, re.M)]
               + re.findall(r"^[a-z].*?\b__wrap_(\w+)\(.*\)$", text, re.M))


def needed(objects):
    """What they need of libc, as they name it: "open", "dlopen@GLIBC_2.2.5"."""
    names = {line.split()[-1] for line in build.output("nm", *objects).splitlines() if line}
    defined = {line.split()[-1] for line in build.output(
        "nm", "--defined-only", *objects).splitlines() if line}
    return {name for name in names - defined if re.match(r"[a-z_]", name)
            and not name.startswith(("lc_", "_GLOBAL_", "/", "__asan", "__ubsan", "__tsan",
                                     "__sanitizer_"))
            and not name.endswith(":")}


@functools.lru_cache(maxsize=None)
def injector():
    """The library that the stubs call.  It has its functions under the versions
    that the stubs ask libc for."""
    nodes = {"FAULTS": {"faults", "fault_count", "injection", "held"}}
    versioned = {}
    for library in build.STUBBED:
        for name in needed(inside.objects(library)):
            bare, _, version = name.partition("@")
            if version:
                versioned[bare] = version
    for name in wrapped():
        nodes.setdefault(versioned.get(name, "FAULTS"), set()).add(f"__wrap_{name}")
    script = "".join(f"{node} {{ global: {'; '.join(sorted(names))}; local: *; }};\n"
                     for node, names in sorted(nodes.items()))
    return build.shared(SOURCE, f"-Wl,--version-script={build.text(script, 'map')}")


def wraps(names):
    return [f"-Wl,--wrap={name}" for name in sorted(names) if name.partition("@")[0] in wrapped()]


@functools.lru_cache(maxsize=None)
def stub(library):
    return inside.stub(library, *wraps(needed(inside.objects(library))), injector())
