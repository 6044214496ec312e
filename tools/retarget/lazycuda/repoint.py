# SPDX-License-Identifier: MIT
"""What has to change in one ELF file, decided without touching it."""
import functools
import os.path
import re
from typing import Dict, List, NamedTuple

from . import elf, known, names, needs, packages, variables

# In the runtime's own code, which is in the file if it was linked statically.
STATIC_RUNTIME = b"/cudart.shm."


STT_OBJECT = 1
# Every stub has it, for functions of its own.
PRIVATE_NODE = "LAZYCUDA_1"
# The name of an installed stub, which has a number on a system.
INSTALLED = re.compile(r"lib(.+)_stub\.so(?:\.\d+)?\Z")


class Refused(Exception):
    """A refusal: `code` stays the same from release to release; `library` is set if the refusal
    is about one library alone, and `variable` if it is about one of its variables."""

    def __init__(self, code, message, library=None, variable=None):
        super().__init__(message)
        self.code = code
        self.library = library
        self.variable = variable


class Change(NamedTuple):
    """What becomes of one name of a real library."""
    library: str
    needed: str         # libcudart.so.12; None: the file does not say that it needs the library
    stub: str           # libcudart_stub.so, or libcudart_stub.so.0
    imports: int        # names that the file imports of this library
    first: bool = False         # the stub is found before it, or has taken its place


class Work(NamedTuple):
    changes: List[Change]
    replace: Dict[str, str]     # in DT_NEEDED and in the version needs
    add: List[str]              # to DT_NEEDED
    remove: List[str]           # from DT_NEEDED
    notes: List[str]

    @property
    def libraries(self):
        return {change.library for change in self.changes}

    @property
    def rewrites(self):
        """Whether the file has to say anything else than it does."""
        return bool(self.add or self.remove or any(
            old != new for old, new in self.replace.items()))


def _is_variable(symbol):
    return symbol.info & 0xf == STT_OBJECT


class Stub:
    """What one stub has."""

    def __init__(self, path, image, library):
        # Path.resolve() raises no OSError for links in a circle; who reads the file meets one.
        self.path = type(path)(os.path.realpath(path))
        self.image = image
        self.library = library
        # What DT_NEEDED is to say, and what a copy is to be called.
        self.name = self.image.soname or path.name
        self.given = False      # by --stub
        self.left = False       # files that need the library are left as they are
        self.last = False       # the real library is found before it, where there is one
        self.first = False      # it is in the place of the real library
        self.optional = True    # files that need more of the library than the stub has are left
        self.unversioned = bool(names.KNOWN[library].witnesses)

    def name_for(self, _needed):
        """What a name of the real library becomes in a file."""
        return self.name

    @functools.cached_property
    def exports(self) -> Dict[str, List[elf.Symbol]]:
        found: Dict[str, List[elf.Symbol]] = {}
        for symbol in self.image.symbols(defined=True):
            found.setdefault(symbol.name, []).append(symbol)
        return found

    @functools.cached_property
    def prefixes(self):
        """What the names of its functions begin with, by which a name without a version is its:
        "cu" of the driver's, "cuFile" of cuFile's."""
        by_kind: Dict[str, List[str]] = {}
        for name in filter(names.is_function, self.exports):
            if names.kind(name):
                by_kind.setdefault(names.kind(name), []).append(name)
        return [os.path.commonprefix(each) for each in by_kind.values()]

    def claims(self, name):
        """How many letters of a name without a version tell that it is this library's."""
        return max((len(prefix) for prefix in self.prefixes
                    if name.startswith(prefix) and name[len(prefix):][:1].isupper()), default=0)

    @functools.cached_property
    def variables(self):
        return {name for name, found in self.exports.items()
                if names.is_function(name) and any(_is_variable(symbol) and symbol.size for symbol in found)}

    @property
    def nodes(self):
        return self.image.defines.values()

    @property
    def cudas(self):
        """The majors of CUDA whose libraries it stands for; [] if nothing tells them."""
        if self.library in packages.WITH_ANY:
            return []
        return sorted(set().union(*map(packages.majors, names.KNOWN[self.library].sonames)))

    def majors(self, cudas):
        """Those in the SONAMEs that it stands for, of these CUDAs; of all if none is."""
        sonames = names.KNOWN[self.library].sonames
        return {names.real(soname).major for soname in
                [each for each in sonames if packages.majors(each) & cudas] or sonames}

    def has(self, name, version):
        """Whether ld.so binds such a reference to this stub."""
        found = self.exports.get(name, [])
        if version:
            return any(symbol.version == version for symbol in found)
        # Without a version: what is in the first node, else the default one.  A hidden name that is
        # in none is for dlsym(): its interface differs between majors.
        shown = [symbol for symbol in found if not symbol.hidden]
        return any(symbol.index == 2 for symbol in found) or len(shown) == 1 or \
            any(symbol.index < 2 for symbol in shown)

    def tells_apart(self, name, majors):
        """Whether callers of these majors mean another function than a name without a version
        leads to: the default version may be for callers of another major alone."""
        found = self.exports.get(name, [])
        shown = {symbol.value for symbol in found if not symbol.hidden}
        return any(node and node.major in majors and symbol.value not in shown
                   for symbol in found for node in [names.real(symbol.version or "")])


def _read(path):
    """The Stub at a path, of the library that its note tells; None: it is no stub.  Raises OSError or
    ElfError."""
    image = elf.read(path)
    soname = image.soname or path.name
    if PRIVATE_NODE not in image.defines.values() or "/" in soname:
        return None
    nodes = {node for node in image.defines.values() if not node.startswith("LAZYCUDA_")} - {soname}
    # With nodes of its own it needs no witness, and an older library has not all functions.
    # The names are read where they are asked for, as they take most of the time.
    witnesses = set() if nodes else {symbol.name for symbol in image.symbols(defined=True) if
                                     names.is_function(symbol.name)}
    try:
        real = next(each for each in image.notes(elf.NOTE_DLOPEN) if each["feature"] != "driver")
        names.learn(real["feature"], soname, real["soname"], nodes, witnesses)
    except (StopIteration, LookupError, TypeError):     # its note is damaged
        return None
    return Stub(path, image, real["feature"])


def _find_stubs(folder):
    """The paths of the stubs in a folder.  A system with no more than what programs need to run has
    libcudart_stub.so.0 alone."""
    found = {}
    for path in sorted(folder.glob("lib*_stub.so*"),
                       key=lambda path: (path.suffix == ".so" and path.exists(), len(path.name), path.name)):
        name = INSTALLED.match(path.name)
        if name:
            found[name[1]] = path
    return sorted(found.values())


def read_stubs(folder, given, notes):
    """{library: Stub} of a folder, and of the paths `given` of stubs that `lazycuda stub` made, which
    come before those.  A file in the folder that has the name of a stub and cannot be read may be
    anybody's: `notes` say so."""
    names.KNOWN.clear()
    notes.clear()       # of an attempt that failed
    stubs = {}
    for path, asked in [*((path, False) for path in _find_stubs(folder)), *((path, True) for path in given)]:
        try:
            stub = _read(path)
        except (OSError, elf.ElfError) as error:
            why = f"{path} is not a usable stub: {getattr(error, 'strerror', None) or f'it {error}'}"
            if asked:
                raise Refused("NO_STUBS", why)
            notes.append(why)
            continue
        if asked and (not stub or stub.library in stubs and stubs[stub.library].given):
            raise Refused("NO_STUBS", f"{path}: there is another stub of {stub.library}" if stub else
                          f"{path} is not a stub of lazycuda")
        if stub:                # else it is somebody else's
            stub.given, stub.optional = asked, not asked
            stubs[stub.library] = stub
    if "cudart" not in stubs:
        raise Refused("NO_STUBS", "; ".join([f"there is no stub of cudart in {folder}",
                                             "--stubs says where the stubs are", *notes]))
    return stubs


def _find(image, stubs, unserved, bundled):
    """{name of a real library in the file: its library}, those in DT_NEEDED
    first."""
    found = {}
    for name in [*image.needed, *(need.file for need in image.needs)]:
        real = names.real(name)
        if real and names.base(name) not in bundled and not stubs[real.library].left and \
                real.library not in unserved:
            found[name] = real.library
    return found


def _check_nodes(image, found, stubs):
    for need in image.needs:
        for name, *_ in need.nodes if need.file in found else ():
            stub = stubs[found[need.file]]
            if name not in stub.nodes:
                raise Refused("NO_NODE", f"needs the version {name} of {need.file}, "
                                         f"which {stub.name} does not have", stub.library)


def _owners(symbol, libraries, bare, others, stubs):
    """The libraries to which an import belongs; without a version, those that have the name.  The
    file names no version of the `bare` libraries, as of the driver's, and newer releases of these
    have more names: so a name that begins like theirs is theirs, too, unless something else that
    the file needs may have it."""
    if symbol.version:
        return list({names.node(symbol.version)}.intersection(libraries))
    owners = [library for library in libraries if symbol.name in stubs[library].exports]
    most = max((stubs[library].claims(symbol.name) for library in bare), default=0)
    if owners or not most or any(_may_have(file, symbol.name, stubs) for file in others):
        return owners
    return [library for library in bare if stubs[library].claims(symbol.name) == most]


def _may_have(file, name, stubs):
    """Whether a library that is left may have a function, by its stub's exports or its own name."""
    real = names.real(file)
    return names.claims(file, name) or bool(real and name in stubs[real.library].exports)


def _check_symbols(image, found, stubs):
    """Counts imports by library.  Every import must be there, in its version."""
    libraries = sorted(set(found.values()))
    others = [file for file in image.needed if file not in found]
    versioned = {found[need.file] for need in image.needs if need.file in found}
    bare = [library for library in libraries if library not in versioned]
    majors = {library: {names.real(name).major for name in found if found[name] == library}
              for library in libraries}
    imports, unversioned = dict.fromkeys(libraries, 0), []
    for symbol in image.symbols(defined=False):
        for library in _owners(symbol, libraries, bare, others, stubs):
            imports[library] += 1
            stub, bare_name = stubs[library], not symbol.version
            if bare_name and not stub.unversioned:
                unversioned.append(symbol.name)
            if not (symbol.weak or stub.has(symbol.name, symbol.version)) or \
                    bare_name and stub.tells_apart(symbol.name, majors[library]):
                _refuse_symbol(symbol, stub)
    for library in libraries:
        early = variables.taken_early(image, stubs[library].variables) if stubs[library].variables else None
        if early:
            raise Refused("VARIABLE", f"imports the variable {early[0]} and {early[1]}, which "
                                      f"{stubs[library].name} cannot serve", library, early[0])
    return imports, unversioned


def _counted_on(image, found, stubs, unserved, company):
    """{library: the functions of it} that a file imports without needing the library: it has them
    through another one's needs, or somebody is to load the library before, for all to see, as
    transformer-engine does with nvrtc.  The latter only where nothing else that is needed can have
    them; a libtorch_cuda may have a NCCL in it."""
    unmet = needs.unmet(image, stubs, company)
    if not unmet:
        return {}
    stay = company.libraries(image) - {*found.values()}
    in_turn, stays = packages.in_turn(found.values()), packages.in_turn(stay)
    strangers = company.strangers(image)
    told = needs.cuda_told(image, stubs)
    cudas = {told} if told else set(packages.MAJORS).intersection(
        *filter(None, map(packages.majors, image.needed)))
    counted = {}
    for name, owners in unmet.items():
        brought = [each for each in owners if each in in_turn - stays]
        library = (brought or owners)[0]
        stub = stubs[library]
        serves = library not in unserved and not stub.left and stub.has(name, None) and \
            not stub.tells_apart(name, stub.majors(cudas))
        if brought and not serves:
            needed, other = next(each for each in found.items() if library in packages.in_turn(each[1:]))
            raise Refused("LOAD", f"imports {name} of {library}, which it has only because {needed} needs "
                          f"that; the stub of {library} does not serve it", other)
        alone = not (brought or strangers or stays.intersection(owners))
        if alone and not (serves or stub.left):
            raise Refused("UNDEFINED", f"imports {name} of {library}, which nothing that it needs has, and no "
                          f"file of its wheel; {stub.name} does not serve it without a version. "
                          "Link it against that library, or leave it as it is with --leave")
        if serves and (alone or brought and not stub.last):
            counted.setdefault(library, []).append(name)
    return counted


def _refuse_symbol(symbol, stub):
    if symbol.version:
        raise Refused("NO_NAME", f"imports {symbol.name} of {symbol.version}, which "
                                 f"{stub.name} does not have", stub.library,
                      symbol.name if _is_variable(symbol) else None)
    if stub.unversioned or symbol.name not in stub.exports:
        raise Refused("NO_NAME", f"imports {symbol.name}, which {stub.name} does not have",
                      stub.library)
    raise Refused("UNVERSIONED", f"imports {symbol.name} without a version; its interface is another in "
                  f"each of {', '.join(names.KNOWN[stub.library].sonames)}, and nothing tells which is meant",
                  stub.library)


REPOINTED, LEFT, NO_STUB = "repointed", "left", "no stub"


def fates(image, work):
    """{name of a library of CUDA that a file needs: (the library, what becomes of it)}"""
    found = {}
    for name in {*image.needed, *(work.replace if work else ())}:
        real, other = names.real(name), names.library(name)
        if real:
            found[name] = real.library, REPOINTED if work and name in work.replace else LEFT
        elif other and not (work and name in work.remove):
            found[name] = other, NO_STUB
    if work:
        found.update((change.needed, (change.library, REPOINTED)) for change in work.changes
                     if change.needed and change.needed == change.stub)
    return found


def why_no_stub(name):
    """Why a library of CUDA has no stub though others of its name may have one; None."""
    library = names.library(name)
    if library in names.KNOWN:
        return f"its stub is of {', '.join(names.KNOWN[library].sonames)} alone, and not of {name}"
    return ("only `make all-stubs`, or `make ALL_STUBS=yes install`, makes it"
            if library in known.listed else None)


def has_static_runtime(image):
    return any(STATIC_RUNTIME in constants for constants in image.constants())


def stubs_inside(image):
    """What is to be said of those that are in the file itself; None."""
    if not image.inside:
        return None
    libraries, releases = (", ".join(dict.fromkeys(words)) for words in zip(*image.inside))
    return f"has stubs of {libraries} of lazycuda {releases} inside, which are left as they are"


def some(words):
    """A few of many, for a message."""
    return ", ".join(words[:3]) + (", ..." if len(words) > 3 else "")


def opened_by(image, name):
    """The real library that opens this file for itself: "nvrtc" for its builtins; None."""
    return "nvrtc" if names.is_builtins(name) else packages.opened_by(image.soname or name)


def is_library(image, name):
    """Whether a file is one of the real libraries itself, or what one opens for itself."""
    if opened_by(image, name):
        return True
    real = names.real(image.soname or name)
    witnesses = real and names.KNOWN[real.library].witnesses
    if witnesses:
        return any(symbol.name in witnesses for symbol in image.symbols(defined=True))
    return bool(real and any(map(names.node, image.defines.values())))


def needs_stub(image):
    return any(map(names.stub, image.needed))


def look(image, stubs, unserved, bundled=frozenset(), company=None):
    """The Work on a file; None if it needs none of the real libraries.  `unserved` gets
    {library: why} of optional libraries whose stubs do not serve this file; `bundled` are the
    names of libraries that come with it, and `company` the files of its wheel."""
    company = company or needs.Company([((), image)])
    while True:
        try:
            work = _look(image, stubs, unserved, bundled, company)
            more = _needed_in_turn(image, stubs, unserved)
            if not more:
                return work
            unserved.update(more)
        except Refused as refused:
            if refused.library is None or not stubs[refused.library].optional:
                raise
            unserved[refused.library] = refused


def _needed_in_turn(image, stubs, unserved):
    """{library: why} of libraries that the file needs, and so does another one that stays: without
    the real one that could not be loaded, so a stub would help nobody."""
    real = {name: names.real(name) for name in image.needed}
    needed = {each.library for each in real.values() if each}
    found = {}
    for name, each in real.items():
        other = None if each else names.of_cuda(name)
        if each and each.library not in unserved and not stubs[each.library].left:
            continue
        stays = each.library if each else other
        for library in packages.NEEDED_BY.get(stays, ()):
            if library in needed and library not in unserved and \
                    stubs[library].optional and not stubs[library].last:
                found[library] = f"also needs {name}, which stays and needs it itself"
    return found


def _others_for(machine):
    """How to come by the stubs for another CPU."""
    if machine not in elf.MACHINES.values():
        return f"lazycuda has none for {machine}"
    return (f"`pip install --no-deps --target DIR --only-binary :all: --platform manylinux2014_{machine} "
            "lazycuda` brings those, of a lazycuda that pip finds, and then --stubs DIR/lazycuda/lib "
            "takes them")


def _look(image, stubs, unserved, bundled, company):
    found = _find(image, stubs, unserved, bundled)
    machine = next(iter(stubs.values())).image.machine
    if not found and (image.machine != machine or image.is_for_musl):
        return None
    if image.machine != machine:
        raise Refused("MACHINE", f"is for {image.machine}, and the stubs are for {machine}. "
                                 f"{_others_for(image.machine)}")
    if image.is_for_musl:
        raise Refused("MUSL", "is for musl, and the stubs are for glibc; --leave leaves it as it is")
    _check_nodes(image, found, stubs)
    imports, unversioned = _check_symbols(image, found, stubs) if found else ({}, [])
    all_counted = _counted_on(image, found, stubs, unserved, company)
    if not (found or all_counted):
        return None
    add, notes = [], []
    if unversioned:
        notes.append(f"imports without a version ({some(unversioned)}): they are the same in every CUDA")
    for library in sorted(set(found.values())):
        mine = [name for name in found if found[name] == library]
        stub = stubs[library].name_for(mine[0])
        if stub not in image.needed and not set(mine) & set(image.needed):
            add.append(stub)
            notes.append(f"has a version need of {mine[0]} but no DT_NEEDED: {stub} added")
    builtins = [name for name in image.needed if names.is_builtins(name) and
                names.base(name) not in bundled]
    for name in builtins:
        notes.append(f"needed {name}, which nvrtc opens for itself: removed")
    changes = [Change(library, name, stubs[library].name_for(name), imports[library], stubs[library].first)
               for name, library in found.items()]
    replace = {change.needed: change.stub for change in changes}
    for library, counted in all_counted.items():
        stub = stubs[library].name
        changes.append(Change(library, None, stub, len(counted)))
        add.append(stub)
        notes.append(f"imports of {library} ({some(counted)}), which it does not need, and counts "
                     f"on somebody to load: {stub} added")
    return Work(changes, replace, add, builtins, notes)
