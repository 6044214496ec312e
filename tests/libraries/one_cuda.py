# SPDX-License-Identifier: MIT
"""Real libraries of one function each, laid out as pip does with the RECORDs of their packages."""
import hashlib
import os
import subprocess

import build
import library_lists

SITE = "venv/lib/python3/site-packages"


def library(name, own, needs=(), size=0):
    """A real library with all its names, which needs others that need not be there."""
    made = library_lists.read(name)
    soname = made.sonames[own]
    source = "".join(f"int {one}(void) {{ return {own}; }}\n" for one in made.names(own))
    source += f"const char padding[{size + 1}] = {{ 1 }};\n"
    key = hashlib.sha256(repr((soname, needs, source)).encode()).hexdigest()[:16]
    folder = build.BUILD / "tests" / "one_cuda" / key
    file = folder / soname
    if file.exists():
        return file
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "library.c").write_text(source)
    (folder / "library.map").write_text(f"{soname} {{ global: *; }};\n")
    for need in needs:
        subprocess.run([*build.CC, "-shared", f"-Wl,-soname,{need}", "-x", "c", os.devnull, "-o",
                        folder / need], check=True)
    part = folder / f"{soname}.{os.getpid()}"
    subprocess.run([*build.CC, "-shared", "-fPIC", f"-Wl,-soname,{soname}",
                    f"-Wl,--version-script={folder / 'library.map'}", folder / "library.c",
                    "-Wl,--no-as-needed", *[folder / need for need in needs],
                    "-Wl,-rpath,$ORIGIN", "-o", part], check=True)
    part.replace(file)
    return file


def put(world, folder, *files):
    """With what they need beside them, as a toolkit has it."""
    for file in files:
        world.put(folder, *[one for one in file.parent.iterdir() if ".so." in one.name and
                            one.suffix != f".{os.getpid()}"])
    return world.root / folder


def installed(world, file, folder, package, version="9.1.0.70", size=None, site=SITE):
    """As pip does: the file, and the RECORD of the package that has it."""
    target = put(world, f"{site}/{folder}", file) / file.name
    record(world, f"{folder}/{file.name}", package, version,
           target.stat().st_size if size is None else size, site)
    return target


def record(world, path, package, version, size, site=SITE):
    info = world.folder(f"{site}/{package}-{version}.dist-info")
    (info / "RECORD").write_text(f"nvidia/__init__.py,,\n{path}.1,sha256=aa,1\n"
                                 f"{path},sha256=bb,{size}\n"
                                 f"{info.name}/METADATA,sha256=cc,7\n")
