# SPDX-License-Identifier: MIT
"""growth_of_python.py FILE: reads it as `lazycuda retarget` does; prints the KiB that this took."""
import pathlib
import resource
import sys

from lazycuda import elf, load, mentions, repoint


def most():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


path, before = pathlib.Path(sys.argv[1]), most()
if path.read_bytes()[:1] != b"\177":
    mentions.of_text(path.read_bytes())
else:
    image = elf.read(path)
    for look in (lambda: list(image.symbols()), lambda: image.needed, lambda: image.needs, lambda: image.defines,
                 lambda: mentions.of_constants(image), lambda: repoint.has_static_runtime(image),
                 image.constant_ranges, lambda: load._why_not(path, path.parent, ())):
        try:
            look()
        except elf.ElfError:
            pass
print(most() - before)
