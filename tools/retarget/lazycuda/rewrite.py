# SPDX-License-Identifier: MIT
"""Changes a copy of one ELF file and looks at the result."""
import itertools
import os
import shutil
import stat
import struct

from . import elf
from .patchelf import ADVICE
from .repoint import Refused

# Bytes that are compared at once.
CHUNK = 1 << 20
STT_SECTION = 3


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
    entries = image.dynamic_room()
    with open(target, "r+b") as stream:
        for tag, flag in ((elf.DT_FLAGS_1, elf.DF_1_NOW), (elf.DT_FLAGS, elf.DF_BIND_NOW)):
            index = _place(entries, tag)
            if index is None:
                continue
            old, value = entries[index]
            entries[index] = tag, (value if old == tag else 0) | flag
            stream.seek(image.dynamic_offset + elf.DYNAMIC.size * index)
            stream.write(elf.DYNAMIC.pack(*entries[index]))


def strip(source, target):
    """Make `target` of a stub without its symbols for a linker and a debugger: strip(1) does the same,
    but is not everywhere, nor its bytes everywhere the same.  False, and no file, if it has none."""
    image = elf.read(source)
    sections = image.sections()
    kept = [section for section in sections if section.flags & elf.SHF_ALLOC or not section.type]
    # Those that are kept keep their indices.
    if kept != sections[:len(kept)] or not len(kept) <= image.names_index < len(sections) or \
            elf.SHT_SYMTAB not in {section.type for section in sections}:
        return False
    end = max(segment.offset + segment.file_size for segment in image.segments)
    names = sections[image.names_index]
    kept.append(names._replace(offset=end))
    data = bytearray(image.data[:end]) + image.data[names.offset:names.offset + names.size]
    data += bytes(-len(data) % 8)
    struct.pack_into("<Q", data, elf.SECTIONS, len(data))
    struct.pack_into("<HH", data, elf.SECTION_COUNT, len(kept), len(kept) - 1)
    with open(target, "wb") as stream:
        stream.write(data + b"".join(elf.SECTION.pack(*section) for section in kept))
    shutil.copymode(source, target)
    return True


# ---- whether a file was changed as meant, and in nothing else ----

class Spoilt(Exception):
    """What is another in a file that should not be."""


def _fail(message):
    raise Spoilt(message)


def _expected_needed(before, work):
    kept = [name for name in before.needed if name not in work.remove]
    return sorted([work.replace.get(name, name) for name in kept] + work.add)


def _check_dynamic(before, after, work, search_path, soname):
    if sorted(after.needed) != _expected_needed(before, work):
        _fail(f"DT_NEEDED is {', '.join(after.needed)}")
    if after.soname != (soname or before.soname):
        _fail(f"its SONAME is {after.soname}")
    wanted = search_path or before.search_path
    if after.search_path != wanted:
        _fail(f"its search path is {after.search_path[1]!r}")
    renamed = [(work.replace.get(need.file, need.file), need.nodes) for need in before.needs]
    if [(need.file, need.nodes) for need in after.needs] != renamed:
        _fail("its version needs are others")
    if after.defines != before.defines:
        _fail("its version nodes are others")


def _check_symbols(before, after):
    # patchelf makes the table of names longer: a name that is where it was is the same.
    kept = after.strings.startswith(before.strings)
    was, now = before.name_reader(), after.name_reader()
    for one, other in itertools.zip_longest(before.symbol_rows(), after.symbol_rows()):
        if not one or not other:
            _fail(f"it has {'fewer' if one else 'more'} dynamic symbols than before")
        (old, old_version), (new, new_version) = one, other
        # A symbol that stands for a section goes where the section goes.
        if not (old[1:3] + old[4:] + old_version == new[1:3] + new[4:] + new_version and
                (not old[3]) == (not new[3]) and
                (kept and old[0] == new[0] or was(old[0]) == now(new[0]))) and old[1] & 0xf != STT_SECTION:
            _fail(f"its symbol {was(old[0])} is another")


def _check_segments(before, after):
    for segment in after.of_type(elf.PT_LOAD):
        align = segment.align or 1
        if (segment.offset - segment.address) % align:
            _fail(f"its segment at {segment.address:#x} is misaligned")
        if segment.offset + segment.file_size > len(after.data):
            _fail("it is cut short")
    loads = sorted((each.address, each.address + each.memory_size)
                   for each in after.of_type(elf.PT_LOAD))
    if any(end > start for (_, end), (start, _) in zip(loads, loads[1:])):
        _fail("its segments overlap")
    for old, new in zip(before.of_type(elf.PT_TLS), after.of_type(elf.PT_TLS)):
        if old[3:] != new[3:]:
            _fail("its thread-local storage is another")
    if before.interpreter != after.interpreter:
        _fail(f"its interpreter is {after.interpreter}")


def _is_same(before, start, after, other, size):
    return all(before.bytes(start + at, min(CHUNK, size - at)) == after.bytes(other + at, min(CHUNK, size - at))
               for at in range(0, size, CHUNK))


def _check_contents(before, after, constants):
    for (start, size), (other, new_size) in zip(before.tables(), after.tables()):
        if size != new_size or not _is_same(before, start, after, other, size):
            _fail("its relocations or hash tables are others")
    for start, size in constants:
        if not _is_same(before, start, after, start, size):
            _fail(f"its code or constants at {start:#x} are others")


def _check(before, after, constants, work, search_path, soname):
    """Raises Spoilt unless only what is said differs."""
    _check_segments(before, after)
    _check_dynamic(before, after, work, search_path, soname)
    _check_symbols(before, after)
    _check_contents(before, after, constants)
    if before.sections_agree() and after.sections_agree() is False:
        _fail("its section table does not agree with its dynamic segment; nm, strip and "
              "the like would see no symbols")


def rewrite(source, target, work, patchelf, path=None, at_once=True, soname=None):
    """Make `target` of `source`, with the search path (tag, text) and the SONAME, if these are given;
    returns the former.  Raises Refused if it did not become what it should.  `at_once`: have its
    functions bound when it is loaded."""
    before = elf.read(source)
    constants = before.constant_ranges()
    before.tables()     # what is wrong with them is not patchelf's fault
    if os.path.exists(target):          # made once before, as read-only as the source
        os.unlink(target)
    shutil.copyfile(source, target)
    os.chmod(target, stat.S_IMODE(os.stat(source).st_mode) | stat.S_IWUSR)
    patchelf.apply(target, work, path if path != before.search_path else None, soname)
    try:
        _mend_section_names(before, target)
        if at_once:
            _bind_at_once(target)
        after = elf.read(target)
        _check(before, after, constants, work, path, soname)
    except (Spoilt, elf.ElfError) as error:
        why = f"it {error}" if isinstance(error, elf.ElfError) else error
        advice = "--leave leaves it as it is" if f"=={patchelf.version}." in ADVICE else ADVICE
        raise Refused("SPOILT", f"{patchelf.program}, version {patchelf.version}, spoilt it: {why}; "
                                f"{advice}") from None
    if at_once and not after.is_bound_at_once:
        work.notes.append(NOT_AT_ONCE)
    shutil.copymode(source, target)
    return after.search_path[1]
