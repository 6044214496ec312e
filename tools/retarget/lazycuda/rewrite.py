# SPDX-License-Identifier: MIT
"""Changes a copy of one ELF file and looks at the result."""
import os
import shutil
import stat

from . import compare, elf
from .repoint import some


def search_path(image, folder):
    """(tag, text) of a search path with `folder` before those that the file had; of the
    kind that it had, else DT_RPATH, as auditwheel makes it."""
    tag, text = image.search_path
    if folder in text.split(":"):
        return tag, text
    return tag or elf.DT_RPATH, f"{folder}:{text}" if text else folder


def _mend_section_names(before, target):
    """Every patchelf takes another section for the one with the names of sections if
    both begin at the same place, as in NVIDIA's libraries.  Then nm, objdump and the
    like find nothing in the file."""
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


NOT_AT_ONCE = ("is still bound lazily, for want of room in its dynamic segment; what becomes global "
               "in the process may come before the stub; link it with -Wl,-z,now")


def _place(entries, tag):
    """The index for an entry of this kind: that of the one that is there, else of a spare one,
    else of one that ld.so can do without; None."""
    tags = [each for each, _ in entries]
    end = tags.index(0) if 0 in tags else len(tags)
    for wanted in (tag, elf.DT_RELACOUNT):
        if wanted in tags[:end]:
            return tags.index(wanted)
        if entries[end:end + 2] == [(0, 0), (0, 0)]:
            return end
    return None


def _bind_at_once(target):
    """Has every function looked up when the file is loaded.  Once a real library is global in
    the process, later calls of a file that is bound lazily go to that library, which does not
    know what was registered with the stub.  Either flag is enough for ld.so."""
    image = elf.read(target)
    segment = next(iter(image.of_type(elf.PT_DYNAMIC)))
    entries = list(image.dynamic_room())
    with open(target, "r+b") as stream:
        for tag, flag in ((elf.DT_FLAGS_1, elf.DF_1_NOW), (elf.DT_FLAGS, elf.DF_BIND_NOW)):
            index = _place(entries, tag)
            if index is None:
                continue
            old, value = entries[index]
            entries[index] = tag, (value if old == tag else 0) | flag
            stream.seek(segment.offset + elf.DYNAMIC.size * index)
            stream.write(elf.DYNAMIC.pack(*entries[index]))


def nobody_has(names):
    """What there is to say of a file that is left to be bound lazily."""
    return (f"is still bound lazily; no library that it needs has {some(names)}, so it loads with all "
            "names bound only after a file that has them")


def rewrite(source, target, work, patchelf, path=None, at_once=True):
    """Make `target` of `source`, with the search path (tag, text); returns that.  Raises Refused if it
    did not become what it should.  `at_once`: have its functions bound when it is loaded."""
    before = elf.read(source)
    if os.path.exists(target):          # made once before, as read-only as the source
        os.unlink(target)
    shutil.copyfile(source, target)
    os.chmod(target, stat.S_IMODE(os.stat(source).st_mode) | stat.S_IWUSR)
    patchelf.apply(target, work, path if path != before.search_path else None)
    try:
        _mend_section_names(before, target)
        if at_once:
            _bind_at_once(target)
        after = elf.read(target)
    except elf.ElfError as error:
        compare.fail(f"it {error}")
    compare.check(before, after, work, path)
    if at_once and not after.is_bound_at_once:
        work.notes.append(NOT_AT_ONCE)
    shutil.copymode(source, target)
    return after.search_path[1]
