# SPDX-License-Identifier: MIT
"""Real libraries of one function each, laid out as pip does with the RECORDs of their packages."""
import build
import library_lists

SITE = "venv/lib/python3/site-packages"
NEEDS = {}      # {library: those that are to lie beside it}


def stub(world, name):
    """In a wheel of that site-packages."""
    file = library_lists.stub(name)
    return world.put(f"{SITE}/wheel", file) / file.name


def made(soname, source="", *flags, needs=(), node=True):
    """A library of that SONAME, whose names have it as their version node, or another, if any; `needs`
    are files."""
    if node:
        script = build.text(f"{soname if node is True else node} {{ global: *; }};\n", "map")
        flags += (f"-Wl,--version-script={script}",)
    return build.compile(soname, "-w", "-shared", "-fPIC", f"-Wl,-soname,{soname}", "-Wl,--no-as-needed",
                         *flags, build.text(source, "c"), link=(*needs, "-ldl"))


def library(name, own, needs=()):
    """A real library with all its names, which needs others."""
    listed = library_lists.read(name)
    beside = [made(one, node=False) for one in needs]
    file = made(listed.sonames[own], "".join(f"int {one}(void) {{ return {own}; }}\n"
                                             for one in listed.names(own)),
                "-Wl,-rpath,$ORIGIN", needs=beside)
    NEEDS[file] = beside
    return file


def put(world, folder, *files):
    """With what they need beside them, as a toolkit has it."""
    return world.put(folder, *files, *(one for file in files for one in NEEDS[file]))


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
