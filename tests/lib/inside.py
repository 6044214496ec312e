# SPDX-License-Identifier: MIT
"""A stub with a test linked into it."""
import re

import build


def _file(library):
    """"libnvidia-ml_stub" of nvml's."""
    return build.stub_name(library).removesuffix(".so")


def objects(library):
    """What a stub is linked from."""
    own, name_there = {}, _file(library)[len("lib"):-len("_stub")]
    for name, words in re.findall(r"^OWN_([\w-]+) := (.*)$", (build.ROOT / "Makefile").read_text(),
                                  re.M):
        own[name] = {path for pattern in re.findall(r"stubs/[\w/*]+\.c", words)
                     for path in build.ROOT.glob(pattern)}
    others = set().union(*(paths for name, paths in own.items() if name != name_there))
    sources = {*(build.ROOT / "stubs").glob("*.c"), *own[name_there]} - others
    made = [build.BUILT / "obj" / path.relative_to(build.ROOT).with_suffix(".o")
            for path in sorted(sources)]
    return [build.BUILT / "obj" / "generated" / f"{_file(library)}.o", *made]


def stub(library, *more):
    """The stub with more in it, say a source that sees all that is inside."""
    return build.compile(
        f"{_file(library)}.so", "-std=gnu11", "-D_GNU_SOURCE", "-O1", "-shared", "-fPIC",
        "-Wall", "-Wextra", "-Werror", "-I", build.ROOT / "stubs", "-Wl,-z,relro,-z,now,-z,nodelete",
        f"-Wl,-soname,{_file(library)}.so",
        f"-Wl,--version-script={build.ROOT}/stubs/generated/{_file(library)}.map",
        *build.sanitizer_flags(more, build.CC), *objects(library), *more, "-ldl")
