# SPDX-License-Identifier: MIT
"""Has ld.so load a file, with every symbol bound, as `ldd -r` does: that tells of its imports even where
other libraries are missing.  What ld.so would map has been judged before: none of its code runs.
"""
import functools
import itertools
import os
import pathlib
import re
import resource
import signal
import stat
import subprocess
import sys
import tempfile
import time

from . import elf, inert, names
from .command import limit
from .repoint import Refused, some

SECONDS, OF_PROCESSOR = 120, 4
LIMITS = {resource.RLIMIT_CPU: OF_PROCESSOR, resource.RLIMIT_FSIZE: 8 << 20, resource.RLIMIT_CORE: 0}
MOST_PLACES = 100000        # where one file's needs are looked for
MOST_FOLDERS = 1000         # that one file may name
TOO_MANY = "needs too much that would have to be looked at before"
PATH_MAX = 4096             # no file is opened by a longer one
# Below a folder in which ld.so looks for a library, it looks in these.
BY_CPU = ("tls", "haswell", "xeon_phi", "avx512_1", "x86_64", "aarch64", "atomics")
LIBS = ("lib", "lib64", *(f"lib/{machine}-linux-gnu" for machine in elf.MACHINES.values()))
# What ld.so puts something in place of, once: not in what it has put there.
TOKEN = re.compile(r"\$(?:(ORIGIN|LIB|PLATFORM)(?!\w)|{(ORIGIN|LIB|PLATFORM)})", re.ASCII)
# What Python itself has, for every module of its own.
PYTHONS = re.compile("_?Py")


def _library_path(search):
    """LD_LIBRARY_PATH is kept, for other libraries that a file needs."""
    theirs = re.split("[:;]", os.environ.get("LD_LIBRARY_PATH", ""))
    return [*search, *map(os.path.abspath, filter(None, theirs))]


def _environment(search):
    """All else that changes how the dynamic linker works is not kept."""
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith("LD_") and name != "GLIBC_TUNABLES"}
    return {**kept, "LD_LIBRARY_PATH": ":".join(_library_path(search)),
            "LD_TRACE_LOADED_OBJECTS": "1", "LD_WARN": "yes", "LD_BIND_NOW": "1"}


# ---- what ld.so would map ----

def _expanded(text, origin):
    """What ld.so may make of a name or a folder, if a file can be opened by it."""
    if len(text) > 9 * PATH_MAX:        # no token is so much longer than what stands for it
        return set()
    libs, platforms = (values if token in text else [""] for token, values in
                       (("LIB", LIBS), ("PLATFORM", BY_CPU)))
    ways = {TOKEN.sub(lambda found: {"ORIGIN": origin, "LIB": lib, "PLATFORM": platform}[found[1] or found[2]],
                      text) for lib, platform in itertools.product(libs, platforms)}
    return {way for way in ways if len(way) < PATH_MAX}


def _below(folder, depth=4):
    """A folder, and those in it in which ld.so looks, too."""
    yield folder
    if os.path.isdir(os.path.join(folder, "glibc-hwcaps")):
        yield from (each.path for each in os.scandir(os.path.join(folder, "glibc-hwcaps")))
    for name in BY_CPU if depth else ():
        if os.path.isdir(os.path.join(folder, name)):
            yield from _below(os.path.join(folder, name), depth - 1)


@functools.lru_cache(maxsize=None)
def _lstat(path):
    try:
        return os.lstat(path)
    except OSError:
        return None


def _is_open(folder):
    """Whether others than this user and root may put a file there before ld.so looks, be it there or not."""
    for path in {os.path.abspath(folder), os.path.realpath(folder)}:
        there = [found for found in map(_lstat, [path, *map(str, pathlib.PurePath(path).parents)]) if found]
        for found in there:
            writable = found.st_mode & stat.S_IWOTH and not stat.S_ISLNK(found.st_mode)
            # What lies in a sticky folder is of its owner, but anybody may put more there.
            if found.st_uid not in (0, os.geteuid()) or writable and (
                    found is there[0] or not found.st_mode & stat.S_ISVTX):
                return True
    return False


@functools.lru_cache(maxsize=None)
def _judge(path):
    """(why a file is not to be loaded, or None; names that it needs; folders in which they are looked
    for)"""
    if not os.path.isfile(path):
        return "is not a regular file", (), ()
    with open(path, "rb") as stream:
        if stream.read(5) != b"\177ELF\2":        # ld.so goes on to the next
            return None, (), ()
    try:
        image = elf.read(path)
        wanted = {name for tag in (elf.DT_NEEDED, elf.DT_AUXILIARY, elf.DT_FILTER) for name in image.names(tag)}
        folders = {folder for tag in (elf.DT_RPATH, elf.DT_RUNPATH) for text in image.names(tag)
                   for folder in text.split(":")}
    except elf.ElfError as error:
        return str(error), (), ()
    if len(folders) > MOST_FOLDERS:
        return TOO_MANY, (), ()
    origin = os.path.dirname(path)
    return (inert.why_not(image), {way for name in wanted for way in _expanded(name, origin)},
            {way for folder in folders for way in _expanded(folder, origin)})


def _why_not(file, root, search):
    """Why a file is not to be loaded, for itself or for what ld.so may map for it, wherever that lies; None.
    What lies in the system's own folders is not looked at.  Relative paths begin at `root`."""
    names, folders, done, todo = set(), set(), set(), [str(file)]
    more, end = _library_path(search), time.process_time() + OF_PROCESSOR
    while todo:
        if time.process_time() > end:
            return f"it {TOO_MANY}"
        path = todo.pop()
        why, wanted, places = _judge(path)
        if why:
            return f"{'it' if path == str(file) else path} {why}"
        for folder in {*places, *(os.path.dirname(name) for name in wanted if "/" in name)}:
            if _is_open(os.path.join(root, folder)):
                return f"{'it' if path == str(file) else path} looks in {folder}, where others may put a file meanwhile"
        new = {os.path.realpath(below) for folder in {*more, *places}
               for below in _below(os.path.join(root, folder))} - folders
        wanted, more = wanted - names, ()
        names, folders = names | wanted, folders | new
        if len(names) * len(folders) > MOST_PLACES:
            return f"it {TOO_MANY}"
        for name, folder in itertools.chain(itertools.product(wanted, folders),
                                            itertools.product(names - wanted, new)):
            found = os.path.join(folder if "/" not in name else root, name)
            if found not in done and os.path.lexists(found) and not os.path.isdir(found):
                todo.append(found)
                done.add(found)
    return None


def _run(linker, file, root, search):
    """(status, what it said) of ld.so"""
    with tempfile.TemporaryFile() as said:
        try:
            status = subprocess.run([linker, str(file)], stdin=subprocess.DEVNULL, stdout=said, cwd=root,
                                    stderr=subprocess.STDOUT, env=_environment(search), timeout=SECONDS,
                                    preexec_fn=functools.partial(limit, LIMITS)).returncode
        except subprocess.TimeoutExpired:
            status = -signal.SIGXCPU
        if status == -signal.SIGXCPU:
            raise Refused("LOAD", f"ld.so was still busy with it after {OF_PROCESSOR} seconds of a processor")
        said.seek(0)
        return status, said.read().decode(errors="replace")


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


def _trace(linker, file, image, root, search, ours, reached):
    """Libraries that ld.so does not find; if it finds all, names that none of them has."""
    status, said = _run(linker, file, root, search)
    missing, nobodys = _unmet(image, said), []
    excused = any(_is_ours(name, ours) for name in missing)
    for line in said.splitlines():
        found = re.match(r"\s*(.+) => not found", line)
        if found and found[1] in reached:
            raise Refused("LOAD", f"{found[1]} is not found from where it lies")
        if found:
            missing.append(found[1])
            excused = excused or _is_ours(found[1], ours)
        elif ("not defined" in line or "not found" in line or "undefined symbol" in line) \
                and not excused and _is_ours(line, ours):
            raise Refused("LOAD", f"ld.so: {line.strip()}")
        # Of another release of a library than the one here, of glibc say.
        missing += re.findall(r"version `\S+'(?= not found \(required by)", line)
        undefined = re.match(r"undefined symbol: ([^\s,]+)(?:, version \S+)?\s+\((.*)\)$", line)
        if undefined and undefined[2] == str(file) and not PYTHONS.match(undefined[1]):
            nobodys.append(undefined[1])
    if status < 0 and not missing:
        raise Refused("LOAD", f"ld.so was ended by it, by signal {-status}")
    if status and not missing:
        raise Refused("LOAD", f"ld.so: {(said.strip() or f'status {status}').splitlines()[-1]}")
    # Several files may need one.
    return list(dict.fromkeys(missing)), [] if missing else nobodys


def check(file, ours, reached, root, search=()):
    """(None: ld.so finds all that it needs, or why that could not be tried; what it imports and nothing
    that it needs has) of a file below the folder `root`.  Raises Refused if it is the file's fault that
    it cannot be loaded.  `ours` are the libraries whose stubs it needs, `reached` those names of stubs
    that it has to find from where it lies, `search` folders to find stubs in, from `root` on."""
    machine, linker = _linker()
    image = elf.read(file)
    if image.machine != machine:
        return f"it is for {image.machine}, and this Python for {machine}", []
    if not linker:
        return "this Python does not run on glibc", []
    why = _why_not(file, root, search)
    if why:
        return why.replace(f"{os.path.realpath(root)}/", ""), []
    try:
        missing, nobodys = _trace(linker, file, image, root, search, ours, reached)
    except Refused as refused:
        # Files below `root`, which will be gone, are named as they lie in it.
        raise Refused(refused.code, re.sub(rf"{re.escape(str(root))}/([^\s:()]+)", lambda found:
                                           os.path.normpath(found[1]), str(refused))) from None
    return (f"not here: {', '.join(missing)}" if missing else
            f"nothing that it needs has {some(nobodys)}" if nobodys else None), nobodys
