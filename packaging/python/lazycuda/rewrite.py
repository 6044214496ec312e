# SPDX-License-Identifier: MIT
"""Changes a copy of one ELF file and looks at the result."""
import os
import shutil
import stat

from . import compare, elf


def search_path(image, folder):
    """(tag, text) in which a file looks in `folder` first and then where it did
    before; the kind it had, or what auditwheel makes."""
    tag, text = image.search_path
    if folder in text.split(":"):
        return tag, text
    return tag or elf.DT_RPATH, f"{folder}:{text}" if text else folder


def _mend_section_names(before, target):
    """Every patchelf there is takes another section for the one that holds the
    names of sections if both begin at the same place, and then nm, objdump and
    their like find nothing in the file: NVIDIA's libraries are such."""
    after = elf.read(target)
    old, new = before.sections(), after.sections()
    if before.names_index >= len(old) or after.names_index >= len(new):
        return
    wanted = old[before.names_index]
    if wanted.type != elf.SHT_STRTAB or new[after.names_index].type == elf.SHT_STRTAB:
        return
    found = [i for i, section in enumerate(new) if (section.type, section.offset, section.size) ==
             (wanted.type, wanted.offset, wanted.size)]
    if len(found) == 1:
        layout, place = elf.NAMES_INDEX
        with open(target, "r+b") as stream:
            stream.seek(place)
            stream.write(layout.pack(found[0]))


def rewrite(source, target, work, patchelf, folder=None):
    """Make `target` of `source`; returns its search path.  Raises Refused if it
    did not become what it should."""
    before = elf.read(source)
    path = search_path(before, folder) if folder else None
    shutil.copyfile(source, target)
    os.chmod(target, stat.S_IMODE(os.stat(source).st_mode) | stat.S_IWUSR)
    patchelf.apply(target, work, path if path != before.search_path else None)
    try:
        _mend_section_names(before, target)
        after = elf.read(target)
    except elf.ElfError as error:
        compare.fail(f"it {error}")
    compare.check(before, after, work, path)
    shutil.copymode(source, target)
    return after.search_path[1]
