# SPDX-License-Identifier: MIT
"""What has to change in one ELF file, decided without touching it."""
from typing import Dict, List, NamedTuple

from . import elf, names

# In the runtime's own code, which is in the file if it was linked statically.
STATIC_RUNTIME = b"/cudart.shm."


# Every stub has it, for functions of its own.
PRIVATE_NODE = "LAZYCUDA_1"


class Refused(Exception):
    """A typed no: `code` stays the same from release to release."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


class Change(NamedTuple):
    """What becomes of one name of a real library."""
    library: str
    needed: str         # libcudart.so.12
    stub: str           # libcudart_stub.so, or libcudart_stub.so.0
    imports: int        # names that the file imports of this library


class Work(NamedTuple):
    changes: List[Change]
    replace: Dict[str, str]     # in DT_NEEDED and in the version needs
    add: List[str]              # to DT_NEEDED
    remove: List[str]           # from DT_NEEDED
    notes: List[str]

    @property
    def stubs(self):
        return sorted({change.stub for change in self.changes})


class Stub:
    """What one stub has."""

    def __init__(self, path):
        self.path = path.resolve()
        self.image = elf.read(path)
        # What DT_NEEDED is to say, and what a copy is to be called.
        self.name = self.image.soname or path.name
        self.library = names.stub(self.name)
        if not self.library or "/" in self.name:
            raise elf.ElfError(f"is no stub: its SONAME is {self.name}")
        self.own = self.library in names.OWN
        self.majors = sorted({found.major for found in map(names.node, self.nodes)
                              if found})
        self.exports: Dict[str, List[elf.Symbol]] = {}
        for symbol in self.image.symbols():
            if symbol.defined:
                self.exports.setdefault(symbol.name, []).append(symbol)
        # What names of its functions begin with, where no version tells that they are its.
        self.unversioned = bool(names.witness(self.library))
        self.kinds = ({names.kind(name) for name in filter(names.is_function, self.exports)} -
                      {None} if self.unversioned else set())

    @property
    def nodes(self):
        return self.image.defines.values()

    def has(self, name, version):
        """Whether ld.so binds such a reference to this stub."""
        found = self.exports.get(name, [])
        if version:
            return any(symbol.version == version for symbol in found)
        # Without a version: what is in the first node, else the default one.
        shown = [symbol for symbol in found if not symbol.hidden]
        return any(symbol.index <= 2 for symbol in found) or len(shown) == 1


def _learn(path):
    """What the stub of `lazycuda stub` at a path stands for; its library."""
    image = elf.read(path)
    real = next((each for each in image.opens() if each["feature"] != "driver"), None)
    functions = [symbol.name for symbol in image.symbols()
                 if symbol.defined and names.is_function(symbol.name)]
    if not real or not functions or PRIVATE_NODE not in image.defines.values():
        raise elf.ElfError("is not a stub of lazycuda")
    names.learn(real["feature"], image.soname or path.name, real["soname"],
                {*image.defines.values()} - {PRIVATE_NODE, image.soname}, functions[0])
    return real["feature"]


def _read_own(paths, stubs):
    for path in paths:
        try:
            library = _learn(path)
            if library in stubs:
                raise Refused("NO_STUBS", f"{path}: there is another stub of {library}")
            stubs[library] = Stub(path)
        except OSError as error:
            raise Refused("NO_STUBS", f"{path}: {error.strerror}")
        except elf.ElfError as error:
            raise Refused("NO_STUBS", f"{path} {error}")


def _find_stub(folder, name):
    """Where a system has none but what programs need to run, it is libcudart_stub.so.0 alone."""
    numbered = [path for path in folder.glob(f"{name}.*") if path.suffix[1:].isdecimal()]
    if (folder / name).exists() or not numbered:
        return folder / name
    return max(numbered, key=lambda path: int(path.suffix[1:]))


def read_stubs(folder, own=()):
    """{library: Stub} of a folder, and of the paths of stubs that `lazycuda stub` made."""
    names.OWN.clear()
    stubs = {}
    for library, name in names.STUBS.items():
        path = _find_stub(folder, name)
        try:
            stubs[library] = Stub(path)
        except OSError as error:
            raise Refused("NO_STUBS", f"{path}: {error.strerror}; --stubs says where the stubs are")
        except elf.ElfError as error:
            raise Refused("NO_STUBS", f"{path} {error}")
    _read_own(own, stubs)
    return stubs


def _majors(stub):
    *others, last = map(str, stub.majors)
    return f"{', '.join(others)} and {last}" if others else last


def _check_major(found, needed, stub):
    if stub.own and found.major not in {None, *names.majors(stub.library)}:
        raise Refused("MAJOR", f"needs {needed}: {stub.name} stands for "
                               f"{', '.join(names.OWN[stub.library].sonames)}")
    if not stub.own and found.major is not None and found.major not in stub.majors:
        code = "CUDA_10" if found.major < min(stub.majors) else "CUDA_TOO_NEW"
        raise Refused(code, f"needs {needed}, of CUDA {found.major}: "
                            f"{stub.name} stands for CUDA {_majors(stub)}")


def _find(image, stubs):
    """{name of a real library in the file: its library}, those that DT_NEEDED
    has first."""
    found = {}
    for name in [*image.needed, *(need.file for need in image.needs)]:
        real = names.real(name)
        if real:
            _check_major(real, name, stubs[real.library])
            found[name] = real.library
    return found


def _check_nodes(image, found, stubs):
    for need in image.needs:
        for name, *_ in need.nodes if need.file in found else ():
            stub = stubs[found[need.file]]
            if name not in stub.nodes:
                node = names.node(name)
                if node:
                    _check_major(node, f"the version {name}", stub)
                raise Refused("NO_NODE", f"needs the version {name} of {need.file}, "
                                         f"which {stub.name} does not have")


def _owners(symbol, image, libraries, stubs):
    """The libraries that an import is of.  Without a version it is of those that have the name.
    The driver's names never have one, and newer drivers have more of them: what is of their
    kind, and nothing else that is needed may have, is the driver's, too."""
    node = names.node(symbol.version)
    if node or symbol.version:
        return [node.library] if node and node.library in libraries else []
    owners = [library for library in libraries if symbol.name in stubs[library].exports]
    if owners or any(names.kind(symbol.name) and names.claims(file, symbol.name)
                     for file in image.needed if not names.real(file)):
        return owners
    return [library for library in libraries if names.kind(symbol.name) in stubs[library].kinds]


def _check_symbols(image, found, stubs):
    """Counts imports by library.  Every import must be there, in its version."""
    libraries = set(found.values())
    imports, unversioned = dict.fromkeys(libraries, 0), []
    for symbol in image.symbols():
        if symbol.defined:
            continue
        for library in _owners(symbol, image, libraries, stubs):
            imports[library] += 1
            if not symbol.version and not stubs[library].unversioned:
                unversioned.append(symbol.name)
            if not symbol.weak and not stubs[library].has(symbol.name, symbol.version):
                _refuse_symbol(symbol, stubs[library])
    return imports, unversioned


def _refuse_symbol(symbol, stub):
    if symbol.version:
        raise Refused("NO_NAME", f"imports {symbol.name} of {symbol.version}, which "
                                 f"{stub.name} does not have")
    if stub.unversioned or symbol.name not in stub.exports:
        raise Refused("NO_NAME", f"imports {symbol.name}, which {stub.name} does not have")
    if stub.own:
        raise Refused("UNVERSIONED", f"imports {symbol.name} without a version: nothing tells for "
                                     "which major")
    raise Refused("UNVERSIONED",
                  f"imports {symbol.name} without a version, and it has another interface in "
                  f"each CUDA: nothing tells which one is meant. Stubs made with `make CUDA_ABI="
                  f"{stub.majors[-1]}` (or another major) decide it: --stubs")


def has_static_runtime(image):
    return STATIC_RUNTIME in image.data


def _notes(image, unversioned):
    notes = []
    if unversioned:
        some = ", ".join(unversioned[:3]) + (", ..." if len(unversioned) > 3 else "")
        notes.append(f"imports without a version ({some}): they are the same in every CUDA")
    if has_static_runtime(image):
        notes.append("has the CUDA runtime linked statically as well: that copy is out of reach")
    return notes


def is_library(image, name):
    """Whether a file is one of the real libraries itself, or nvrtc's builtins."""
    if names.is_builtins(name):
        return True
    real = names.real(image.soname or name)
    witness = real and names.witness(real.library)
    if witness:
        return any(symbol.defined and symbol.name == witness for symbol in image.symbols())
    return bool(real and any(map(names.node, image.defines.values())))


def needs_stub(image):
    return any(map(names.stub, image.needed))


def look(image, stubs):
    """The Work on a file; None if it needs none of the real libraries."""
    found = _find(image, stubs)
    if not found:
        return None
    machine = next(iter(stubs.values())).image.machine
    if image.machine != machine:
        raise Refused("MACHINE", f"is for {image.machine}, and the stubs are for {machine}: "
                                 "--stubs says where others are")
    _check_nodes(image, found, stubs)
    imports, unversioned = _check_symbols(image, found, stubs)
    notes = _notes(image, unversioned)
    add = []
    for library in sorted(set(found.values())):
        stub = stubs[library].name
        mine = [name for name in found if found[name] == library]
        if stub not in image.needed and not set(mine) & set(image.needed):
            add.append(stub)
            notes.append(f"has a version need of {mine[0]} but no DT_NEEDED: {stub} added")
    builtins = [name for name in image.needed if names.is_builtins(name)]
    for name in builtins:
        notes.append(f"needed {name}, which nvrtc opens for itself: removed")
    changes = [Change(library, name, stubs[library].name, imports[library])
               for name, library in found.items()]
    return Work(changes, {change.needed: change.stub for change in changes}, add, builtins, notes)
