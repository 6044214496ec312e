# SPDX-License-Identifier: MIT
"""Has ld.so load a file, with every symbol bound, as `ldd -r` does: that runs none of the file's code,
and tells of its imports even where other libraries are missing.
"""
import os
import re
import subprocess
import sys

from . import elf, names
from .repoint import Refused, some

SECONDS = 120
# What Python itself has, for every module of its own.
PYTHONS = re.compile("_?Py")


def _environment(search):
    """LD_LIBRARY_PATH is kept, for other libraries that a file needs; all else
    that changes how the dynamic linker works is not."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LD_")}
    folders = filter(None, [*map(str, search), os.environ.get("LD_LIBRARY_PATH")])
    return {**kept, "LD_LIBRARY_PATH": ":".join(folders),
            "LD_TRACE_LOADED_OBJECTS": "1", "LD_WARN": "yes", "LD_BIND_NOW": "1"}


def _linker():
    """(machine, path) of the dynamic linker that runs this Python."""
    try:
        image = elf.read(sys.executable)
    except (OSError, elf.ElfError):
        return None, None
    path = (image.interpreter or b"").decode()
    return image.machine, path if "ld-linux" in path else None


def _is_ours(line, ours):
    """Whether what ld.so says is about a stub, by the names of its file or of its versions."""
    words = [word.strip("`'(),:") for word in line.split()]
    real = {each.library for each in map(names.real, words) if each}
    return any(map(names.stub, words)) or bool(ours & {*real, *map(names.node, words)})


def _unmet(image, said):
    """Files that it wants versions of without needing them: something else has
    to load these first, and until then ld.so gives up with an assertion."""
    if "_dl_check_map_versions" not in said:
        return []
    return [need.file for need in image.needs
            if need.file not in image.needed and not names.stub(need.file)]


def _trace(linker, file, image, search, ours, reached):
    """Libraries that ld.so does not find; if it finds all, names that none of them has."""
    try:
        done = subprocess.run(
            [linker, str(file)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env=_environment(search), timeout=SECONDS)
    except subprocess.TimeoutExpired:
        raise Refused("LOAD", f"ld.so was still busy with it after {SECONDS} seconds") from None
    said = done.stdout.decode(errors="replace")
    missing, nobodys = _unmet(image, said), []
    for line in said.splitlines():
        found = re.match(r"\s*(.+) => not found", line)
        if found and found[1] in reached:
            raise Refused("LOAD", f"{found[1]} is not found from where it lies")
        if found:
            missing.append(found[1])
        elif ("not defined" in line or "not found" in line or "undefined symbol" in line) \
                and _is_ours(line, ours) and not any(_is_ours(name, ours) for name in missing):
            raise Refused("LOAD", f"ld.so: {line.strip()}")
        # Of another release of a library than the one here, of glibc say.
        missing += re.findall(r"version `\S+'(?= not found \(required by)", line)
        undefined = re.match(r"undefined symbol: ([^\s,]+)(?:, version \S+)?\s+\((.*)\)$", line)
        if undefined and undefined[2] == str(file) and not PYTHONS.match(undefined[1]):
            nobodys.append(undefined[1])
    if done.returncode and not missing:
        raise Refused("LOAD", f"ld.so: {(said.strip() or f'status {done.returncode}').splitlines()[-1]}")
    # Several files may need one.
    return list(dict.fromkeys(missing)), [] if missing else nobodys


def check(file, ours, reached, root, search=()):
    """(None: ld.so finds all that it needs, or why that could not be tried; what it imports and nothing
    that it needs has) of a file below the folder `root`.  Raises Refused if it is the file's fault that
    it cannot be loaded.  `ours` are the libraries whose stubs it needs, `reached` those names of stubs
    that it has to find from where it lies, `search` folders to find stubs in."""
    machine, linker = _linker()
    image = elf.read(file)
    if image.machine != machine:
        return f"it is for {image.machine}, and this Python for {machine}", []
    if not linker:
        return "this Python does not run on glibc", []
    try:
        missing, nobodys = _trace(linker, file, image, search, ours, reached)
    except Refused as refused:
        # Files below `root`, which will be gone, are named as they lie in it.
        raise Refused(refused.code, re.sub(rf"{re.escape(str(root))}/([^\s:()]+)", lambda found:
                                           os.path.normpath(found[1]), str(refused))) from None
    return (f"not here: {', '.join(missing)}" if missing else
            f"nothing that it needs has {some(nobodys)}" if nobodys else None), nobodys
