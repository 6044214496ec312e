# SPDX-License-Identifier: MIT
"""Shared objects that import what a test says."""
import shutil
import subprocess

import build

SONAMES = {"cuda": "libcuda.so.1", "nvml": "libnvidia-ml.so.1"}     # of the driver's libraries


def importer(folder, *names, library="cudart", major=12, link=None, text="", name="module.so"):
    """A module that imports these names, through an import library unless
    `link` says something else; `text` is among its constants."""
    lines = [f"extern void {one}(void);" for one in names]
    lines += [f"void (*const imported[])(void) = {{ {', '.join(names)} }};"] if names else []
    lines += [f"const char *constant(void) {{ return \"{text}\"; }}"]
    link = [build.import_library(library, major)] if link is None else link
    return put(folder, build.compile(name, "-w", "-O1", "-fno-builtin", "-shared", "-fPIC",
                                     "-Wl,--no-as-needed", build.text("\n".join(lines), "c"),
                                     link=link))


def real(folder, soname, *names, node=None, variables=()):
    """A library of that SONAME to link to."""
    script = [build.text(f"{node} {{ global: *; }};\n", "map")] if node else []
    source = build.text("\n".join([*(f"void {name}(void) {{}}" for name in names),
                                   *(f"int {name};" for name in variables)]), "c")
    return put(folder, build.compile(soname, "-w", "-shared", "-fPIC", f"-Wl,-soname,{soname}",
                                     *[f"-Wl,--version-script={file}" for file in script], source))


def put(folder, file):
    """A copy that the test may do with what it likes."""
    return shutil.copy(file, folder / file.name)


def patch(file, *arguments):
    subprocess.run(["patchelf", *arguments, file], check=True)
    return file


def check_loads(world, file, **env):
    """It is loaded, with every symbol bound."""
    opened, = world.probe(f"open:{file}", LD_BIND_NOW="1", **env)
    assert opened["error"] is None, opened


def needing(folder, library, *names, soname=None, **options):
    """A module that imports these names from something of that library of the driver's name."""
    return importer(folder, *names, **options, link=[real(folder, soname or SONAMES[library], *names)])
