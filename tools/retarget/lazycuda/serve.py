# SPDX-License-Identifier: MIT
"""Stubs under the names by which a wheel's files need the real libraries: the files stay as they
are, and ld.so comes to a stub last.

Some stubs may not bear a real name.  That of the driver would hide the driver, which ld.so finds
after every run path; those of the parts of cuDNN lack what the real parts have for each other.
Files that need these have the name of the stub put in.
"""
import collections
import pathlib
import posixpath
import re
from typing import NamedTuple

from . import elf, names, needs, packages, repoint
from .parts import about
from .rewrite import rewrite, strip

ORIGIN = ("$ORIGIN", "${ORIGIN}")
# A pattern, or what an f-string makes.
ANY_NUMBER = re.compile(r"\.so\Z|\.so.*[*?{\[]")


class Served(repoint.Stub):
    """A stub under a name of the real library."""

    def __init__(self, stub, name, path):
        self.__dict__.update(stub.__dict__)
        self.__dict__.pop("exports", None)
        self.name = name
        self.last = True
        self.exact = bool(path)     # each name's default version is the one of this SONAME
        if path:
            self.path, self.image = path, elf.read(path)

    def name_for(self, needed):
        return names.base(needed)

    def tells_apart(self, name, majors):
        return not self.exact and super().tells_apart(name, majors)


class Home(NamedTuple):
    """A folder for stubs."""
    prefix: str         # of members that pip installs there: "", or mine-1.0.data/platlib/
    folder: str         # in site-packages

    def member(self, name):
        return self.prefix + posixpath.normpath(posixpath.join(self.folder or ".", name))


class Serving:
    """Which stub serves which name, in one wheel."""

    def __init__(self, stubs, compat, options, parts, required, opened):
        self.stubs = dict(stubs)
        self.required = required    # the wheel brings all stubs by what it requires
        self.options = options
        self.parts = parts
        self.company = needs.Company([(part.answers_to, part.image) for part in parts if part.image])
        self.paths = {}             # {library: {SONAME: {major of CUDA: file}}}
        for major, folder in compat.items():
            for path in folder.glob("lib*.so*"):
                real = names.real(path.name)
                if real:
                    self.paths.setdefault(real.library, {}).setdefault(path.name, {})[major] = path
        self.made = {}
        self.opened = opened        # names that the wheel's Python code opens
        self.stripped = []          # names of stubs that had symbols
        # Libraries of which some file needs what the stub lacks: a stub with the real name would come
        # before the library that this file finds elsewhere.
        self.renamed = set()
        # Names that a file of the wheel has: its own way, unless a stub takes the place of that file.
        # A copy of the driver's library is of another version than the kernel's part of it.  No SONAME
        # counts: ld.so finds a file by its name.
        self.bundled = {names.base(part.name) for part in parts if part.is_stub or (
            part.library and part.library not in names.DRIVER and not options.drops_libraries)}
        self.copies = {names.base(part.name) for part in parts if part.library} - self.bundled
        self._keep({library for library, stub in stubs.items() if stub.left})

    def may_have_name(self, library):
        """Whether a stub may bear the library's real name."""
        return library not in self.renamed and library not in names.DRIVER and \
            packages.opened_by(f"lib{library}.so") != "cudnn"

    def rename(self, library):
        """Has files name the stub of a library instead, and be left where that does not serve."""
        self.renamed.add(library)
        self._keep({library})

    def _keep(self, libraries):
        """Copies of these stay, and those that these need."""
        todo = [part for part in self.parts if part.library in libraries]
        while todo:
            part = todo.pop()
            if part.library not in names.DRIVER and names.base(part.name) in self.copies:
                self.bundled.add(names.base(part.name))
                self.copies.remove(names.base(part.name))
                todo += [other for other in self.parts if other.library and
                         other.answers_to & part.needed]

    def cuda(self, *parts):
        """The major of CUDA that files were made for, by what they need, or what others do; else by the
        names that they import of libraries that they do not need."""
        for group in (parts, self.parts):
            needed = [names.real(name) for each in group for name in each.real_needs]
            counted = collections.Counter(major for real in needed for major in packages.majors(
                f"lib{real.library}.so.{real.major}"))
            if counted:
                return max(counted, key=lambda major: (counted[major], major))
        told = (needs.cuda_told(part.image, self.stubs) for part in parts or self.parts if part.image)
        return next(filter(None, told), None)

    def soname(self, library, number=None, cuda=None):
        """A SONAME of the library: with this number, or of this CUDA; None."""
        found = [(names.real(name).major or 0, name) for name, by in self.paths.get(library, {}).items()
                 if (cuda in by if number is None else names.real(name).major == number)]
        return max(found)[1] if found else None

    def compat(self, soname):
        """The newest CUDA whose compat folder has a stub of that name; None."""
        return max((major for by in self.paths.values() for major in by.get(soname, ())), default=None)

    def stub(self, library, needed, cuda):
        """The stub that a name of the library leads to."""
        base, real = names.base(needed), names.real(needed)
        soname = self.soname(library, real.major)
        by = self.paths.get(library, {}).get(soname, {})
        path = by.get(cuda) or next(iter(by.values()), None)
        if self.stubs[library].given:
            path = None         # --stub names the file
        if (base, path) not in self.made:
            self.made[base, path] = Served(self.stubs[library], base, path)
            self.made[base, path].first = self.options.prefer == "stub" or base in self.copies
        return self.made[base, path]

    def stubs_for(self, part):
        """{library: Stub} for the names that a file has for the libraries; for others those of
        its CUDA."""
        cuda, mine = self.cuda(part), dict(self.stubs)
        wanted = {library: self.soname(library, cuda=cuda) for library in mine}
        for name in [*part.image.needed, *(need.file for need in part.image.needs)]:
            real = names.real(name)
            if real:
                wanted[real.library] = name
        for library, name in wanted.items():
            if name and self.may_have_name(library):
                mine[library] = self.stub(library, name, cuda)
        return mine

    def from_outside(self, part):
        """Whether stubs are to lie where a file finds them: those that take the place of files of the
        wheel lie there already."""
        return any(change.stub not in self.copies for change in part.work.changes)

    def files(self, parts, work, folder, find_patchelf):
        """{member: file} of all stubs that the wheel gets."""
        wanted = collections.defaultdict(dict)          # {Home: {name: Stub}}
        found, cudas = {}, {}
        own = {part.home for part in work if not part.wanted_path}
        for part in work:
            stubs = self.stubs_for(part)
            for change in part.work.changes:
                if change.stub not in self.copies:
                    plain = self.stubs[change.library]
                    wanted[part.home][change.stub] = plain if change.stub == plain.name else \
                        stubs[change.library] if change.needed is None else \
                        self.stub(change.library, change.needed, self.cuda(part))
            cudas[part.home] = self.cuda(part)
        for home, served in wanted.items():
            opened = self._opened(served) if home in own else []
            for name, (stub, needs) in self.with_others(served, cudas[home]).items():
                needs += [each for each in opened if each not in needs] if stub.library == "cudart" else []
                found[home.member(name)] = self._make(stub, name, needs, folder, find_patchelf)
        for part in parts:
            if part.stub:
                stub = self.stub(part.library, part.stub, self.cuda(part))
                found[part.name] = self._make(stub, part.stub, [], folder, find_patchelf)
        return found

    def _make(self, stub, name, needs, folder, find_patchelf):
        """A file with the stub under that name, which needs these."""
        path, made = stub.path, pathlib.Path(folder, f"{len(list(folder.iterdir()))}.stub")
        if strip(path, made):
            self.stripped.append(name)
            path, made = made, made.with_suffix(".named")
        if stub.image.soname == name and not needs:
            return path
        with about(stub):
            rewrite(path, made, repoint.Work([], {}, needs, [], []), find_patchelf(),
                    (elf.DT_RUNPATH, "$ORIGIN") if needs else None, at_once=False, soname=name)
        return made

    def _opened(self, served):
        """Those of these names that Python code of the wheel opens, as torch's does: the stub of the
        runtime has them there where the wheel's own CUDA is missing."""
        stems = {packages.stem(name) for name in self.opened if ANY_NUMBER.search(name)} - {None}
        return [name for name in sorted(served) if served[name].library != "cudart" and
                (name in self.opened or packages.stem(name) in stems)]

    def with_others(self, served, cuda):
        """{name: (Stub, names that it is to need)} of stubs and of those that the real libraries
        need in their turn."""
        stubs, needs, todo = dict(served), {}, list(served)
        while todo:
            name = todo.pop()
            needs[name] = []
            # A wheel may have files for several CUDAs: libcublas.so.11 needs libcublasLt.so.11.
            majors = packages.majors(name) or {cuda}
            own = cuda if cuda in majors else max(majors)
            for library in packages.IN_TURN.get(stubs[name].library, ()) if stubs[name].last else ():
                other = next((each for each, stub in stubs.items() if stub.library == library and
                              own in packages.majors(each)), None) or self.soname(library, cuda=own)
                if other and library in self.stubs and not self.stubs[library].left and \
                        self.may_have_name(library):
                    needs[name].append(other)
                    if other not in stubs and other not in self.bundled:
                        stubs[other] = self.stub(library, other, cuda)
                        todo.append(other)
        return {name: (stubs[name], needs[name]) for name in needs}


# ---- where the stubs lie ----

def _inside(entry, part):
    """The folder in site-packages of a run path's entry; None: it leads out of it."""
    origin = next((each for each in ORIGIN if entry == each or entry.startswith(each + "/")), None)
    if not origin:
        return None
    folder = posixpath.normpath(posixpath.join(posixpath.dirname(part.installed),
                                               entry[len(origin):].lstrip("/")))
    return None if folder.startswith("..") else folder


def _last_folders(part, folders):
    """The folders of the wheel to which a file's run path leads at its end."""
    found = []
    for entry in reversed([each for each in part.image.search_path[1].split(":") if each]):
        folder = _inside(entry, part)
        if folder is None or Home(part.prefix, folder) not in folders:
            break
        found.append(Home(part.prefix, folder))
    return found


# What a run path's entry adds to a file of this size is less than a stub's copy is.
PATCHED = 4 << 20


def _that_inherit(parts):
    """The names of files that ld.so also looks for by the DT_RPATH of a file that needs them, or what
    needs them, as long as they have no DT_RUNPATH."""
    by_name, found = collections.defaultdict(list), set()
    for part in parts:
        for name in part.answers_to:
            by_name[name].append(part)
    todo = [part for part in parts if part.image and part.image.search_path[0] == elf.DT_RPATH]
    while todo:
        more = {part.name: part for name in todo.pop().needed for part in by_name[name] if part.name not in found}
        found.update(more)
        todo += more.values()
    return found


def find_homes(parts, folders, default, first, asked, serving):
    """Gives each part the Home of its stubs, and the search path that leads to it: the wheel's own
    folder where the file looks last, as few as will do; else `default`, also if it is `asked` for.
    `first`: the stubs are to be found before anything else."""
    cuda, inherit = serving.cuda, _that_inherit(serving.parts)
    lasts = {part.name: [] if first else _last_folders(part, folders) for part in parts}
    if asked:
        lasts = {name: [home for home in homes if home.folder == default]
                 for name, homes in lasts.items()}
    counted = collections.Counter(home for homes in lasts.values() for home in homes)
    # libcusparse.so.12 is in CUDA 12 and 13, and two stubs have that name.
    apart = len({cuda(part) for part in parts for change in part.work.changes
                 if len(packages.majors(change.stub)) > 1}) > 1
    groups = collections.defaultdict(list)
    for part in parts:
        part.home = max(lasts[part.name], key=lambda home: (counted[home], home.folder), default=None)
        groups[part.prefix, apart and cuda(part)].append(part)
    for (prefix, _), group in groups.items():
        _share(group, lasts, Home(prefix, default))
    installed = {}
    for part in parts:
        home = part.home
        # Folders of several schemes are one once they are installed.
        part.home = installed.setdefault(home.folder, home)
        part.wanted_path = None
        if home not in lasts[part.name]:
            part.wanted_path = _search_path(part, part.name in inherit, first)


def _share(parts, lasts, default):
    """One Home for all: that of most bytes that can stay as they are.  Large files that look elsewhere
    keep their own, rather than be patched for one copy less."""
    stay = collections.defaultdict(list)            # {Home: files that need no change with it}
    for part in parts:
        if part.home and not part.work.rewrites:
            stay[part.home].append(part)
    sizes = {home: sum(len(part.image.data) for part in those) for home, those in stay.items()}
    copied = {home: len({change.stub for part in those for change in part.work.changes})
              for home, those in stay.items()}
    homes = {part.home or default for part in parts}
    shared = max(sizes or (homes if len(homes) == 1 else {default}), key=lambda home: (sizes.get(home, 0), home))
    for part in parts:
        if not part.home or part.work.rewrites or shared in lasts[part.name] or \
                sizes[part.home] <= PATCHED * copied[part.home]:
            part.home = shared


def _search_path(part, inherits, first):
    """(tag, text) of the search path with the folder of the stubs.  Last, and as DT_RUNPATH, so that
    LD_LIBRARY_PATH goes before it; but DT_RPATH where this one inherits that."""
    relative = posixpath.relpath(part.home.folder or ".", posixpath.dirname(part.installed) or ".")
    folder = "$ORIGIN" if relative == "." else f"$ORIGIN/{relative}"
    tag, text = part.image.search_path
    entries = [each for each in text.split(":") if each and each != folder]
    if not tag:
        tag = elf.DT_RPATH if inherits else elf.DT_RUNPATH
    return tag, ":".join([folder, *entries] if first else [*entries, folder])
