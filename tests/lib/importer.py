# SPDX-License-Identifier: MIT
"""Shared objects that import what a test says."""
import subprocess

import build


def importer(folder, *names, library="cudart", major=12, link=None, text="", name="module.so"):
    """A module that imports these names, through an import library unless
    `link` says something else; `text` is among its constants."""
    source = folder / f"{name}.c"
    lines = [f"extern void {one}(void);" for one in names]
    lines += [f"void (*const imported[])(void) = {{ {', '.join(names)} }};"] if names else []
    lines += [f"const char *constant(void) {{ return \"{text}\"; }}"]
    source.write_text("\n".join(lines))
    link = [build.import_library(library, major)] if link is None else link
    made = folder / name
    subprocess.run([*build.CC, "-w", "-O1", "-fno-builtin", "-shared", "-fPIC", "-Wl,--no-as-needed",
                    "-o", made, source, *link], check=True)
    source.unlink()
    return made


def real(folder, soname, *names, node=None):
    """A library of that SONAME to link to."""
    source = folder / "real.c"
    source.write_text("\n".join(f"void {name}(void) {{}}" for name in names))
    made = folder / soname
    script = []
    if node:
        (folder / "real.map").write_text(f"{node} {{ global: *; }};\n")
        script = [f"-Wl,--version-script={folder / 'real.map'}"]
    build.output(*build.CC, "-w", "-shared", "-fPIC", f"-Wl,-soname,{soname}", *script, "-o", made,
                 source)
    return made


def patch(file, *arguments):
    subprocess.run(["patchelf", *arguments, file], check=True)
    return file
