# SPDX-License-Identifier: MIT
"""What a file needs of CUDA without saying so: functions of whoever has loaded their library before."""
import functools
import re

from . import elf, names, packages

# What the functions of CUDA's libraries begin with, but for cuFFTW's, which are FFTW's.
CUDAS = re.compile("_*(?:cu|nv|nccl|npp)")
ANY_CUDAS = re.compile(rb"\0_*(?:cu|nv|nccl|npp)")
MOST = 200          # files of a wheel that ld.so loads with one; what more have is not known


def _symbols(image, defined):
    """Those that may be CUDA's by their names."""
    try:
        found = image.symbols(defined) if ANY_CUDAS.search(image.strings) else []
    except elf.ElfError:        # as is said if the file needs CUDA
        found = []
    return [symbol for symbol in found if CUDAS.match(symbol.name)]


@functools.lru_cache(maxsize=None)
def bare(image):
    """The names that a file imports without a version, and that may be CUDA's."""
    return [symbol.name for symbol in _symbols(image, False) if not (symbol.weak or symbol.version)]


def cuda_told(image, stubs):
    """The major of CUDA that alone has all such names; None."""
    found = set(packages.MAJORS)
    for name in bare(image):
        for stub in stubs.values():
            majors = set().union(*(packages.majors(symbol.version or "")
                                   for symbol in stub.exports.get(name, ())))
            found &= majors or found
    return found.pop() if len(found) == 1 else None


class Company:
    """The files of a wheel, of which ld.so loads some with one."""

    def __init__(self, files=()):
        """`files`: (the names to which a file answers, its image)"""
        self.images = [image for _, image in files]
        self.by_name, self.needing = {}, {}
        for answers_to, image in files:
            for name in answers_to:
                self.by_name.setdefault(name, []).append(image)
            for name in image.needed:
                self.needing.setdefault(names.base(name), []).append((image, answers_to))
        self.names = {id(image): answers_to for answers_to, image in files}

    @functools.lru_cache(maxsize=None)
    def _loaded_with(self, image):
        """What needs the file, what that needs, and so on; and it."""
        above, todo = {id(image): image}, [image]
        while todo and len(above) < MOST:
            for name in self.names.get(id(todo.pop()), ()):
                more = {id(each): each for each, _ in self.needing.get(name, ()) if id(each) not in above}
                above.update(more)
                todo += more.values()
        found, todo = dict(above), list(above.values())
        while todo and len(found) < MOST:
            for name in todo.pop().needed:
                more = {id(each): each for each in self.by_name.get(names.base(name), ()) if id(each) not in found}
                found.update(more)
                todo += more.values()
        return list(found.values())

    def needed(self, image):
        """The names in DT_NEEDED of all that is loaded with it."""
        return {name for each in self._loaded_with(image) for name in each.needed}

    def libraries(self, image):
        """The libraries of CUDA among these, real ones and stubs."""
        return {names.stub(name) or names.library(name) for name in self.needed(image)} - {None}

    def strangers(self, image):
        """Whether some of these may have functions of CUDA, or need what has."""
        return len(self._loaded_with(image)) >= MOST or not all(
            names.base(name) in self.by_name or names.stub(name) or names.library(name) or
            names.is_without_cuda(name) for name in self.needed(image))

    @functools.cached_property
    def defined(self):
        return {symbol.name for image in self.images for symbol in _symbols(image, True)}


def unmet(image, stubs, company):
    """{name: the libraries that have it} of what a file imports and nothing that it needs brings, nor
    any file of its wheel has."""
    wanted = bare(image)
    if not wanted:
        return {}
    needed = company.libraries(image)
    order = sorted(stubs, key=lambda each: (each not in needed, len(each), each))
    found = {}
    for name in wanted:
        owners = [library for library in order if name in stubs[library].exports]
        if owners and owners[0] not in needed and name not in company.defined:
            found[name] = owners
    return found
