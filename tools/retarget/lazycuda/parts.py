# SPDX-License-Identifier: MIT
"""The ELF files of a wheel, and what each becomes."""
import fnmatch
import os
import posixpath
import shutil

from . import elf, load, names, repoint
from .repoint import Refused
from .rewrite import rewrite


class Part:
    """One ELF file of a wheel."""

    def __init__(self, wheel, name, path, stage):
        self.name = name
        self.installed = wheel.installed(name)
        self.path = path
        self.new = None             # where it is, once it is changed
        self.removed = False
        self.left = False           # as it is, for the user said so
        self.work = None            # None: it needs none of the real libraries
        self.search_path = None
        wheel.extract(name, path, stage)
        try:
            self.image = elf.read(path)
        except elf.ElfError:
            self.image = None       # for another kind of machine: nothing of ours
        self.library = self._library()

    def _library(self):
        """"cudart" if it is that real library itself, "builtins" for nvrtc's."""
        if not self.image or not repoint.is_library(self.image, self.name):
            return None
        if names.is_builtins(self.name):
            return "builtins"
        return names.real(self.image.soname or self.name).library

    @property
    def answers_to(self):
        """Names in DT_NEEDED that mean this file."""
        return {names.base(self.name), self.image.soname}

    @property
    def needed(self):
        image = elf.read(self.new) if self.new else self.image
        return {names.base(name) for name in image.needed} if image else set()

    def look(self, stubs):
        """Decide; raises Refused."""
        if not self.image or self.library:
            return
        self.work = repoint.look(self.image, stubs)
        if self.work and self.installed is None:
            raise Refused("PLACE", "is not installed into site-packages: nothing tells where the "
                                   "stubs will lie from there; --leave leaves it as it is")

    def is_left(self, patterns):
        return any(fnmatch.fnmatchcase(self.name, pattern) for pattern in patterns)

    @property
    def real_needs(self):
        """The real libraries that it needs, by the names it has for them."""
        return [name for name in self.image.needed if names.real(name)] if self.image else []

    def change(self, home, patchelf):
        """Carry it out; `home` is the folder of the stubs in site-packages."""
        relative = posixpath.relpath(home or ".", posixpath.dirname(self.installed) or ".")
        self.new = self.path.with_suffix(".new")
        self.search_path = rewrite(self.path, self.new, self.work, patchelf,
                                   "$ORIGIN" if relative == "." else f"$ORIGIN/{relative}")


def extract(wheel, folder):
    """Every ELF file of a wheel, in its order."""
    found = []
    with wheel.stage("reading", wheel.members) as stage:
        for name, info in wheel.members.items():
            if info.file_size >= 64 and elf.is_elf(wheel.start(name)):
                found.append(Part(wheel, name, folder / f"{len(found)}.old", stage))
            else:
                stage.add(info.file_size)
    return found


def each(parts, action):
    """Do something with every part that changes; what is refused names it."""
    for part in parts:
        try:
            action(part)
        except elf.ElfError as error:
            raise Refused("UNREADABLE", f"{part.name} {error}") from None
        except Refused as refused:
            raise Refused(refused.code, f"{part.name} {refused}") from None


def remove_libraries(parts):
    """Mark bundled real libraries that were needed and are no more.  nvrtc's
    builtins stay as long as an nvrtc does."""
    replaced = {names.base(name) for part in parts if part.work for name in part.work.replace}
    needed = set().union(*(part.needed for part in parts))
    libraries = [part for part in parts if part.library and not part.answers_to & needed]
    for part in libraries:
        part.removed = part.library != "builtins" and bool(part.answers_to & replaced)
    nvrtc = [part.removed for part in parts if part.library == "nvrtc"]
    for part in libraries:
        if part.library == "builtins" and nvrtc and all(nvrtc):
            part.removed = True


def _place(source, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(source, target)
    except OSError:
        shutil.copy(source, target)


def load_all(parts, stubs, site, run):
    """Lay all out in `site` as pip does and load what was changed: {name: None
    or why not}.  `stubs` maps places in site-packages to files."""
    for part in parts:
        if part.installed and not part.removed:
            _place(part.new or part.path, site / part.installed)
    for place, path in stubs.items():
        if (site / place).exists():
            (site / place).unlink()
        _place(path, site / place)
    said = {}

    def try_one(part):
        said[part.name] = load.check(site / part.installed, run=run)
    each([part for part in parts if part.work], try_one)
    return said
