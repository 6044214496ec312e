# SPDX-License-Identifier: MIT
"""The ELF files of a wheel, and what each becomes."""
import os
import posixpath
import shutil
from typing import List, NamedTuple

from . import elf, load, names, repoint
from .repoint import Refused
from .rewrite import nobody_has, rewrite


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
        self.unserved = {}          # {library: why its stub is no help}
        self.search_path = None
        wheel.extract(name, path, stage)
        try:
            self.image = elf.read(path)
            self.library = self._library()
            _ = self.needed         # which raises where a name cannot be read
        except elf.ElfError:
            # For another kind of machine, or damaged: nothing of ours.
            self.image = self.library = None

    def _library(self):
        """"cudart" if it is that real library itself, "nvrtc" also if it is nvrtc's builtins."""
        if not self.image or not repoint.is_library(self.image, self.name):
            return None
        return self.opener or names.real(self.image.soname or self.name).library

    @property
    def opener(self):
        """The library that opens it for itself, or None."""
        return repoint.opened_by(self.image, self.name)

    @property
    def answers_to(self):
        """Names in DT_NEEDED that mean this file."""
        return {names.base(self.name), self.image.soname if self.image else None} - {None}

    @property
    def needed(self):
        image = elf.read(self.new) if self.new else self.image
        return {names.base(name) for name in image.needed} if image else set()

    def look(self, stubs):
        """Decide; raises Refused."""
        if not self.image or self.library:
            return
        self.work = repoint.look(self.image, stubs, self.unserved)
        if self.work and self.installed is None:
            raise Refused("PLACE", "is not installed into site-packages: nothing tells where the "
                                   "stubs will lie from there; --leave leaves it as it is")

    @property
    def real_needs(self):
        """The real libraries that it needs, by the names it has for them."""
        return [name for name in self.image.needed if names.real(name)] if self.image else []

    def change(self, home, patchelf, at_once=True):
        """Carry it out; `home` is the folder of the stubs in site-packages."""
        relative = posixpath.relpath(home or ".", posixpath.dirname(self.installed) or ".")
        self.new = self.path.with_suffix(".new")
        self.search_path = rewrite(self.path, self.new, self.work, patchelf,
                                   "$ORIGIN" if relative == "." else f"$ORIGIN/{relative}", at_once)


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


def _is_gone(library, parts):
    """Whether each copy of it that was in the wheel is removed."""
    copies = [part.removed for part in parts if part.library == library and not part.opener]
    return bool(copies) and all(copies)


def remove_libraries(parts):
    """Mark bundled real libraries that were needed and are no more, and what those needed
    in turn.  What a library opens for itself, as nvrtc its builtins, stays as long as it does."""
    replaced = {names.base(name) for part in parts if part.work for name in part.work.replace}
    gone = True
    while gone:
        there = [part for part in parts if not part.removed]
        needed = set().union(*(part.needed for part in there))
        gone = [part for part in there if part.library and not part.answers_to & needed and
                (_is_gone(part.opener, parts) if part.opener else part.answers_to & replaced)]
        for part in gone:
            part.removed = True
            replaced |= part.needed


class Copy(NamedTuple):
    """A bundled real library that stays, though files of the wheel call its stub."""
    name: str
    library: str
    needed_by: List[str]
    stubbed: List[str]          # those that call the stub


def copies_beside_stubs(parts):
    """The libraries that a process that loads all these files may have twice: a stub takes its own
    choice unless another copy was loaded before."""
    there = [part for part in parts if not part.removed]
    for part in there:
        if part.library and not part.opener:
            needed_by = [each.name for each in there if each.needed & part.answers_to]
            stubbed = [each.name for each in there if each.work and part.library in
                       {change.library for change in each.work.changes}]
            if needed_by and stubbed:
                yield Copy(part.name, part.library, needed_by, stubbed)


def _place(source, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.exists():
        target.unlink()
    try:
        os.link(source, target)
    except OSError:
        shutil.copy(source, target)


def _in_none(names_of, parts):
    """Those of these names that no file of the wheel has: what one has is loaded before, as
    libonnxruntime_providers_shared.so is for the others."""
    left = set(names_of)
    for part in parts if left else ():
        if part.image and not part.removed:
            left -= {symbol.name for symbol in part.image.symbols() if symbol.defined}
    return [name for name in names_of if name in left]


def load_all(parts, stubs, site, run, lazily):
    """Lay all out in `site` as pip does and load what was changed: {name: None
    or why not}.  `stubs` maps places in site-packages to files; `lazily` changes a part again,
    so that it stays bound lazily."""
    def place(part):
        _place(part.new or part.path, site / part.installed)

    for part in parts:
        if part.installed and not part.removed:
            place(part)
    for name, path in stubs.items():
        _place(path, site / name)
    said = {}

    def try_one(part):
        said[part.name], nobodys = load.check(site / part.installed, run=run, root=site)
        if not part.image.is_bound_at_once and _in_none(nobodys, parts):
            part.work.notes.append(nobody_has(_in_none(nobodys, parts)))
            lazily(part)
            place(part)
    each([part for part in parts if part.work], try_one)
    return said
