# SPDX-License-Identifier: MIT
"""Loads a file in a child process, with every symbol bound.

First ld.so only says what it would do (as `ldd -r`): that runs none of the
file's code, and tells of its imports even where other libraries are missing.
Then, if none is missing, the file is really loaded.
"""
import os
import re
import signal
import subprocess
import sys

from . import elf, names
from .repoint import Refused

SECONDS = 120
# Errors of this machine, or of another file.
ELSEWHERE = re.compile(r"cannot open shared object file|cannot allocate memory in static TLS")
# What Python itself has, for every module of its own.
PYTHONS = re.compile("_?Py")
LOAD = "import ctypes, os, sys; ctypes.CDLL(sys.argv[1], os.RTLD_NOW | os.RTLD_LOCAL)"


def _environment(search, **more):
    """LD_LIBRARY_PATH is kept, for other libraries that a file needs; all else
    that changes how the dynamic linker works is not."""
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith("LD_") or name == "LD_LIBRARY_PATH"}
    folders = [str(folder) for folder in search]
    if environment.get("LD_LIBRARY_PATH"):
        folders.append(environment["LD_LIBRARY_PATH"])
    if folders:
        environment["LD_LIBRARY_PATH"] = ":".join(folders)
    environment.update(LD_BIND_NOW="1", **more)
    return environment


def _run(command, environment):
    """(exit status or None: it took too long, what it said)"""
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, env=environment, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return None, ""
    return done.returncode, done.stdout.decode(errors="replace")


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
    found = [way(word) for word in words for way in (names.real, names.node)]
    return any(map(names.stub, words)) or any(each.library in ours for each in found if each)


def _unmet(image, said):
    """Files that it wants versions of without needing them: something else has
    to load these first, and until then ld.so gives up with an assertion."""
    if "_dl_check_map_versions" not in said:
        return []
    return [need.file for need in image.needs
            if need.file not in image.needed and not names.stub(need.file)]


def _trace(linker, file, image, search, ours, reached):
    """Libraries that ld.so does not find; if it finds all, names that none of them has."""
    status, said = _run([linker, str(file)], _environment(
        search, LD_TRACE_LOADED_OBJECTS="1", LD_WARN="yes"))
    if status is None:
        raise Refused("LOAD", f"ld.so was still busy with it after {SECONDS} seconds")
    missing, nobodys = _unmet(image, said), []
    for line in said.splitlines():
        found = re.match(r"\s*(\S+) => not found", line)
        if found and found[1] in reached:
            raise Refused("LOAD", f"{found[1]} is not found from where it lies")
        if found:
            missing.append(found[1])
        elif ("not defined" in line or "not found" in line or "undefined symbol" in line) \
                and _is_ours(line, ours) and not any(_is_ours(name, ours) for name in missing):
            raise Refused("LOAD", f"ld.so: {line.strip()}")
        undefined = re.match(r"undefined symbol: ([^\s,]+)\s+\((.*)\)$", line)
        if undefined and undefined[2] == str(file) and not PYTHONS.match(undefined[1]):
            nobodys.append(undefined[1])
    if status and not missing and not ELSEWHERE.search(said):
        raise Refused("LOAD", f"ld.so: {(said.strip() or f'status {status}').splitlines()[-1]}")
    # Several files may need one.
    return list(dict.fromkeys(missing)), [] if missing else nobodys


def _load(file, search, ours):
    """None, or why it could not be loaded if that has nothing to do with the stubs."""
    status, said = _run([sys.executable, "-I", "-S", "-c", LOAD, str(file)], _environment(search))
    if status == 0:
        return None
    if status is None:
        return f"loading it took more than {SECONDS} seconds"
    last = (said.strip() or "it says nothing").splitlines()[-1].replace(f"{file}: ", "")
    if status < 0:
        name = next((each.name for each in signal.Signals if each == -status), f"signal {-status}")
        raise Refused("LOAD", f"loading it ends with {name}")
    if ELSEWHERE.search(last) or ("undefined symbol" in last and not _is_ours(last, ours)):
        return last
    raise Refused("LOAD", f"it cannot be loaded: {last}")


def _named_within(text, root):
    """Files below `root`, which will be gone, are named as they lie in it."""
    return re.sub(rf"{re.escape(str(root))}/([^\s:()]+)",
                  lambda found: os.path.normpath(found[1]), text or "") or None


def check(file, ours, reached, root, run, search=()):
    """(None: it was loaded, or why that could not be tried; what it imports and nothing that it needs
    has) of a file below the folder `root`.  Raises Refused if it is the file's fault that it cannot be
    loaded.  `ours` are the libraries whose stubs it needs, `reached` those names of stubs that it has
    to find from where it lies, `search` folders to find stubs in; `run`: also run its constructors."""
    try:
        why_not, nobodys = _check(file, ours, reached, search, run)
        return _named_within(why_not, root), nobodys
    except Refused as refused:
        raise Refused(refused.code, _named_within(str(refused), root)) from None


def _check(file, ours, reached, search, run):
    machine, linker = _linker()
    image = elf.read(file)
    if image.machine != machine:
        return f"it is for {image.machine}, and this Python for {machine}", []
    if not linker:
        return "this Python does not run on glibc", []
    missing, nobodys = _trace(linker, file, image, search, ours, reached)
    if missing:
        return f"not here: {', '.join(missing)}", []
    if image.interpreter:
        return "it is a program: ld.so finds all that it needs, and it was not run", nobodys
    return _load(file, search, ours) if run else "not asked for (--no-load)", nobodys
