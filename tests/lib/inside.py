# SPDX-License-Identifier: MIT
"""A stub with a test linked into it."""
import build


def objects(library):
    """What a stub is linked from."""
    file = build.stub_name(library).removesuffix(".so")
    own = f"stubs/{file.removeprefix('lib').removesuffix('_stub')}"
    sources = build.room("stubs/entry", "stubs/base", "stubs/loader", own, f"{own}/adaptors")
    made = [build.BUILT / "obj" / path.relative_to(build.ROOT).with_suffix(".o")
            for path in sources]
    return [build.BUILT / "obj" / "entries" / f"{file}.o", *made]


def stub(library, *more):
    """The stub with more in it, say a source that sees all that is inside."""
    file = build.stub_name(library)
    return build.compile(
        file, "-std=gnu11", "-D_GNU_SOURCE", "-O1", "-shared", "-fPIC",
        "-Wall", "-Wextra", "-Werror", "-I", build.ROOT / "stubs", "-Wl,-z,relro,-z,now,-z,nodelete",
        f"-Wl,-soname,{file}",
        f"-Wl,--version-script={build.BUILT}/generated/{file.removesuffix('.so')}.map",
        *build.sanitizer_flags(more, build.CC), *objects(library), *more, "-ldl")
