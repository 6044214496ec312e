# SPDX-License-Identifier: MIT
"""A stub with a test linked into it."""
import re

import build


def objects(library):
    """What a stub is linked from."""
    own, file = {}, build.stub_name(library).removesuffix(".so")
    for name, words in re.findall(r"^OWN_([\w-]+) := (.*)$", (build.ROOT / "Makefile").read_text(),
                                  re.M):
        own[name] = {path for pattern in re.findall(r"stubs/[\w/*]+\.c", words)
                     for path in build.ROOT.glob(pattern)}
    mine = own.pop(file.removeprefix("lib").removesuffix("_stub"))
    sources = {*(build.ROOT / "stubs").glob("*.c"), *mine} - set().union(*own.values())
    made = [build.BUILT / "obj" / path.relative_to(build.ROOT).with_suffix(".o")
            for path in sorted(sources)]
    return [build.BUILT / "obj" / "generated" / f"{file}.o", *made]


def stub(library, *more):
    """The stub with more in it, say a source that sees all that is inside."""
    file = build.stub_name(library)
    return build.compile(
        file, "-std=gnu11", "-D_GNU_SOURCE", "-O1", "-shared", "-fPIC",
        "-Wall", "-Wextra", "-Werror", "-I", build.ROOT / "stubs", "-Wl,-z,relro,-z,now,-z,nodelete",
        f"-Wl,-soname,{file}",
        f"-Wl,--version-script={build.ROOT}/stubs/generated/{file.removesuffix('.so')}.map",
        *build.sanitizer_flags(more, build.CC), *objects(library), *more, "-ldl")
