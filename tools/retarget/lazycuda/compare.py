# SPDX-License-Identifier: MIT
"""Whether a file was changed as meant, and in nothing else."""
from . import elf
from .repoint import Refused

# Bytes that are compared at once.
CHUNK = 1 << 20
STT_SECTION = 3


def fail(message):
    raise Refused("SPOILT", f"patchelf spoilt it: {message}")


def _expected_needed(before, work):
    kept = [name for name in before.needed if name not in work.remove]
    return sorted([work.replace.get(name, name) for name in kept] + work.add)


def _check_dynamic(before, after, work, search_path):
    if sorted(after.needed) != _expected_needed(before, work):
        fail(f"DT_NEEDED is {', '.join(after.needed)}")
    if after.soname != before.soname:
        fail(f"its SONAME is {after.soname}")
    wanted = search_path or before.search_path
    if after.search_path != wanted:
        fail(f"its search path is {after.search_path[1]!r}")
    renamed = [(work.replace.get(need.file, need.file), need.nodes) for need in before.needs]
    if [(need.file, need.nodes) for need in after.needs] != renamed:
        fail("its version needs are others")
    if after.defines != before.defines:
        fail("its version nodes are others")


def _check_symbols(before, after):
    one, other = before.symbols(), after.symbols()
    if len(one) != len(other):
        fail(f"it has {len(other)} dynamic symbols, and had {len(one)}")
    for old, new in zip(one, other):
        # A symbol that stands for a section goes where the section goes.
        if old != new and old.info & 0xf != STT_SECTION:
            fail(f"its symbol {old.name} is another")


def _check_segments(before, after):
    for segment in after.of_type(elf.PT_LOAD):
        align = segment.align or 1
        if (segment.offset - segment.address) % align:
            fail(f"its segment at {segment.address:#x} is misaligned")
        if segment.offset + segment.file_size > len(after.data):
            fail("it is cut short")
    loads = sorted((each.address, each.address + each.memory_size)
                   for each in after.of_type(elf.PT_LOAD))
    if any(end > start for (_, end), (start, _) in zip(loads, loads[1:])):
        fail("its segments overlap")
    for old, new in zip(before.of_type(elf.PT_TLS), after.of_type(elf.PT_TLS)):
        if old[3:] != new[3:]:
            fail("its thread-local storage is another")
    if before.interpreter != after.interpreter:
        fail(f"its interpreter is {after.interpreter}")


def _check_contents(before, after):
    for address, size in before.constant_ranges():
        for start in range(address, address + size, CHUNK):
            length = min(CHUNK, address + size - start)
            if before.bytes(start, length) != after.bytes(start, length):
                fail(f"its code or constants at {start:#x} are others")


def check(before, after, work, search_path=None):
    """Raises Refused unless only what `work` says differs."""
    try:
        _check_segments(before, after)
        _check_dynamic(before, after, work, search_path)
        _check_symbols(before, after)
        if before.relocations() != after.relocations():
            fail("its relocations are others")
        _check_contents(before, after)
    except elf.ElfError as error:
        fail(f"it {error}")
    if before.sections_agree() and after.sections_agree() is False:
        fail("its section table does not agree with its dynamic segment; nm, strip and "
              "the like would see no symbols")
