# SPDX-License-Identifier: MIT
"""Retargets one ELF file that is in no wheel."""
import pathlib
import shutil
import tempfile

from . import elf, load, names, report, repoint
from .repoint import Refused
from .rewrite import rewrite, search_path, strip


def _stubs(work, image, available):
    """The stubs that it will need, with those that it needed before."""
    libraries = {change.library for change in work.changes} | set(map(names.stub, image.needed))
    return [available[library] for library in sorted(libraries - {None})]


def _load(new, path, stubs, options):
    """Loads it from a folder that has only the stubs beside it; other libraries
    are found as the system finds them."""
    with tempfile.TemporaryDirectory(prefix="lazycuda-") as folder:
        folder = pathlib.Path(folder)
        shutil.copy(new, folder / path.name)
        for stub in stubs:
            shutil.copy(stub.path, folder / stub.name)
        return load.check(folder / path.name, {stub.library for stub in stubs},
                          {stub.name for stub in stubs}, folder, ["."])


def retarget(path, said, options, output):
    """Adds to what is to be said; raises Refused or ElfError."""
    image = elf.read(path)
    available = options.read_stubs()
    said["notes"] += options.stub_notes
    left = options.leaves(path.name, str(path))
    if not left and repoint.is_library(image, path.name):
        raise Refused("LIBRARY", "is one of the real libraries itself")
    unserved = {}
    work = None if left else repoint.look(image, available, unserved)
    said["libraries"] = report.of_libraries([(str(path), image, work, unserved)])
    patchelf = options.find_patchelf() if work else None
    if repoint.has_static_runtime(image):
        said["notes"].append("has the CUDA runtime linked statically: out of reach; link with "
                             "`nvcc -cudart none` and an import library")
    if note := repoint.stubs_inside(image):
        said["notes"].append(note)
    if not work:
        said["outcome"] = "already" if repoint.needs_stub(image) else "nothing"
        return
    stubs = _stubs(work, image, available)
    new = output(path.name)
    place = search_path(image, "$ORIGIN") if options.bundle else None
    looks_in = rewrite(path, new, work, patchelf, place)
    why, nobodys = _load(new, path, stubs, options)
    if nobodys and not image.is_bound_at_once:
        work.notes.append(f"is still bound lazily; no library that it needs has {repoint.some(nobodys)}, so it "
                          "loads with all names bound only after a file that has them")
        rewrite(path, new, work, patchelf, place, at_once=False)
    said.update({**report.of_file(str(path), work, looks_in, why),
                 "libraries": said["libraries"], "notes": said["notes"] + work.notes})
    if options.bundle:
        stripped = []
        for stub in stubs:
            beside = output(stub.name)
            if strip(stub.path, beside):
                stripped.append(stub.name)
            else:
                shutil.copy(stub.path, beside)
            said["added"].append(stub.name)
        said["notes"] += report.of_stripped(stripped)
    said["outcome"] = "retargeted"
