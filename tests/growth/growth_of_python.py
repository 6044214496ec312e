# SPDX-License-Identifier: MIT
"""growth_of_python.py FILE...: reads each as `lazycuda retarget` does; prints the KiB that the last one took."""
import os
import pathlib
import resource
import sys
import tempfile

from lazycuda import archive, elf, load, mentions, metadata, needs, parts, repoint


def most():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def read_wheel(path, folder):
    named = folder / "a-1-py3-none-any.whl"
    named.symlink_to(path)
    wheel = archive.Wheel(named)
    found, _, _ = parts.read(wheel, folder, lambda part: None)
    company = needs.Company([(part.answers_to, part.image) for part in found])
    for part in found:
        needs.unmet(part.image, {}, company)
        company.strangers(part.image)
    metadata.relax(wheel.read(wheel.member("METADATA")), {"nccl": None}, (11, 12, 13))
    archive.write(wheel, folder / "new", {}, [], False)
    archive.wrong_rows(wheel)


def read(path):
    data = path.read_bytes()
    if data[:2] == b"PK":
        with tempfile.TemporaryDirectory() as folder:
            return read_wheel(path, pathlib.Path(folder))
    if data[:1] != b"\177":
        return mentions.of_text(data)
    image = elf.read(path)
    for look in (lambda: list(image.symbols()), lambda: image.needed, lambda: image.needs, lambda: image.defines,
                 lambda: mentions.of_constants(image), lambda: repoint.has_static_runtime(image),
                 image.constant_ranges, lambda: load._why_not(path, path.parent, ())):
        try:
            look()
        except elf.ElfError:
            pass


for name in sys.argv[1:]:
    before = most()
    os.getppid()        # where another count begins, for whoever counts what each takes
    read(pathlib.Path(name).resolve())
os.getppid()
print(most() - before)
