# SPDX-License-Identifier: MIT
"""The ELF files of a wheel, and what each becomes."""
import contextlib
import os
import re
import shutil

from . import directory, elf, load, mentions, names, repoint
from .repoint import Refused
from .rewrite import rewrite
from .archive import naming


# The most bytes of ELF files that are loaded to see that they can be: the newest torch has a
# gigabyte, and its imports were looked up in the stubs.
MOST_LOADED = 64 << 20


class Part:
    """One ELF file of a wheel."""

    def __init__(self, name, path):
        self.name = name
        self.installed = directory.installed(name)
        self.prefix = name[:-len(self.installed)] if self.installed else ""
        self.path = path
        self.new = None             # where it is, once it is changed
        self.removed = False
        self.stub = None            # what takes its place, if it is a real library
        self.left = False           # as it is, for the user said so
        self.work = None            # None: it needs none of the real libraries
        self.unserved = {}          # {library: why its stub is no help}
        self.home = None            # where its stubs lie
        self.wanted_path = None     # what leads there, if nothing does
        try:
            self.image = elf.read(path)
            self.library = self._library()
            _ = self.needed, self.image.inside      # which raise where a name cannot be read
        except elf.ElfError:
            # For another kind of machine, or damaged: nothing of ours.
            self.image = self.library = None

    def _library(self):
        """"cudart" if it is that real library itself, "nvrtc" also if it is nvrtc's builtins."""
        if self.is_stub or not repoint.is_library(self.image, self.name):
            return None
        return self.opener or names.real(self.image.soname or self.name).library

    @property
    def is_stub(self):
        return bool(self.image) and repoint.PRIVATE_NODE in self.image.defines.values()

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

    @property
    def search_path(self):
        return (self.wanted_path or self.image.search_path)[1]

    @property
    def real_needs(self):
        """The real libraries that it needs, by the names it has for them."""
        return [name for name in self.image.needed if names.real(name)] if self.image else []

    def change(self, patchelf):
        """Carry it out, if anything in the file is to be another."""
        if self.wanted_path or self.work.rewrites:
            self.new = self.path.with_suffix(".new")
            rewrite(self.path, self.new, self.work, patchelf(), self.wanted_path, at_once=False)


# The file of an extension of Python, by its name.
EXTENSION = re.compile(r"\.(abi3|cpython-[^/]+)\.so\Z")
# What a message begins with whose subject is a file.
VERBS = ("has", "holds", "imports", "is", "needs")


class Member:
    """Takes a member in chunks, and keeps it if it is an ELF file or a text."""

    def __init__(self, name, path):
        self.path, self.stream, self.begun = path, None, False
        self.text = mentions.Text() if name.lower().endswith(mentions.Text.SUFFIXES) else None

    def write(self, chunk):
        if not self.begun and elf.is_elf(chunk):
            self.stream = open(self.path, "wb")
        self.begun = self.begun or bool(chunk)
        for sink in filter(None, (self.stream, self.text)):
            sink.write(chunk)


def read(wheel, folder, check):
    """Every ELF file of a wheel, in its order; what its texts name; and the names of those that name
    something and are too long to be read.  check(part) may refuse one, before larger ones are read."""
    found, texts = [], mentions.Texts(wheel.path.stat().st_size)
    with wheel.stage("reading", wheel.members) as stage:
        for name in sorted(wheel.members, key=lambda name: wheel.members[name].file_size):
            member = Member(name, folder / f"{len(found)}.old")
            with naming(member.path):
                wheel.unpack(name, stage, member)
                if member.stream:
                    member.stream.close()
                    found.append(Part(name, member.path))
                    check(found[-1])
            if member.text:
                texts.take(name, member.text)
    order = {name: index for index, name in enumerate(wheel.members)}
    found.sort(key=lambda part: order[part.name])
    texts.mentions.sort(key=lambda mention: order[mention.file])
    return found, texts.mentions, texts.unread


def _named(name, refused):
    """What is refused, with the file that it is about: "FILE needs ...", "FILE: there is ..."."""
    if refused.code == "NO_PATCHELF":
        return str(refused)
    verb = str(refused).partition(" ")[0]
    return f"{name}{' ' if verb in VERBS else ': '}{refused}"


@contextlib.contextmanager
def about(part):
    """What is refused names the part."""
    try:
        yield
    except elf.ElfError as error:
        raise Refused("UNREADABLE", f"{part.name} {error}") from None
    except Refused as refused:
        raise Refused(refused.code, _named(part.name, refused)) from None


def look(parts, serving):
    """Decide on each.  A library of which one file needs what the stub lacks is left to that file,
    and the others have the name of the stub put in."""
    while True:
        for part in parts:
            with about(part):
                part.unserved = {}
                part.work = repoint.look(part.image, serving.stubs_for(part), part.unserved,
                                         serving.bundled, serving.company)
        more = {library for part in parts for library in part.unserved
                if serving.may_have_name(library)}
        if not more:
            break
        for library in more:
            serving.rename(library)
    for part in (each for each in parts if each.installed):
        need_what_it_opens(part, parts, serving)
        if not serving.required:
            have_the_stubs(part, serving)


def have_the_stubs(part, serving):
    """A file that was linked to a stub which is neither in the wheel nor required gets it."""
    for library, stub in serving.stubs.items():
        if stub.name in part.needed and stub.name not in serving.bundled and not stub.left:
            count = sum(symbol.name in stub.exports for symbol in part.image.symbols(defined=False))
            part.work = part.work or repoint.Work([], {}, [], [], [])
            part.work.changes.append(repoint.Change(library, stub.name, stub.name, count))


def need_what_it_opens(part, parts, serving):
    """An extension of Python that names a library opens it with ctypes, which looks into no folder of
    the wheel, but finds what is in the process: the stub that other files need is needed by this, too."""
    served = {change.stub for other in parts if other.work for change in other.work.changes}
    if not (part.image and served and EXTENSION.search(part.name)):
        return
    opened = served & {name for _, _, name, _ in mentions.of_constants(part.image)} - part.needed
    for library, stub in serving.stubs_for(part).items() if opened else ():
        if stub.name in opened and serving.may_have_name(library):
            part.work = part.work or repoint.Work([], {}, [], [], [])
            part.work.changes.append(repoint.Change(library, None, stub.name, 0))
            part.work.add.append(stub.name)
            part.work.notes.append(f"opens {stub.name} by its name, and needs it now, so that it is there")


def replace_libraries(parts, serving):
    """Mark bundled real libraries whose place stubs take, and what only these needed or open, as
    nvrtc its builtins."""
    served = {names.base(change.needed) for part in parts if part.work
              for change in part.work.changes if change.needed}
    for part in parts:
        if part.library and not part.opener and part.answers_to & served & serving.copies:
            if serving.may_have_name(part.library):
                part.stub = part.image.soname or names.base(part.name)
            else:
                part.removed = not any(part.answers_to & other.needed for other in parts)
    replaced = [part for part in parts if part.stub or part.removed]
    gone = True
    while gone:
        there = [part for part in parts if not part.removed and not part.stub]
        needed = set().union(*(part.needed for part in there))
        gone = [part for part in there if part.library and not part.answers_to & needed and
                (any(part.opener == each.library for each in replaced) if part.opener else
                 any(part.answers_to & each.needed for each in replaced))]
        for part in gone:
            part.removed = True
        replaced += gone


def _place(source, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.exists():
        target.unlink()
    try:
        os.link(source, target)
    except OSError:
        shutil.copy(source, target)


def load_all(parts, stubs, site, copies):
    """Lay all out in `site` as pip does and load what needs stubs: {name: None or why not}.
    `stubs` maps places in site-packages to files; `copies` are names that files of the wheel had."""
    work = [part for part in parts if part.work]
    size = sum(part.path.stat().st_size for part in parts)
    if size > MOST_LOADED:
        return {part.name: f"the wheel has {size >> 20} MiB of ELF files: all imports were looked up "
                           "in the stubs" for part in work}
    for part in parts:
        if part.installed and not part.removed:
            _place(part.new or part.path, site / part.installed)
    for name, path in stubs.items():
        _place(path, site / name)
    said, end = {}, sum(os.times()[:4]) + load.OF_PROCESSOR + (size >> 20)
    for part in work:
        if sum(os.times()[:4]) > end:
            said[part.name] = "to load the wheel's other files took too long"
            continue
        # What took the place of a file of the wheel may be brought into the process as that was.
        reached = {change.stub for change in part.work.changes} - copies
        with about(part):
            said[part.name], _ = load.check(site / part.installed, part.work.libraries, reached, site)
    return said
