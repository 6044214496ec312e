#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Does what `lazycuda audit` says happen?  The table docs/reference/truth.txt.

    tools/upkeep/truth.py --cuda DIR WHEEL...

DIR has the real libraries of each CUDA, as fetch.py lays them out:

    tools/upkeep/fetch.py --table tools/upkeep/cuda.txt DIR newest cu11 cu12 cu13 \\
        cudnn8.7 cudnn8 nvtx1
    tools/upkeep/fetch.py DIR newest

Each wheel is unpacked, and so is what `lazycuda retarget` makes of it.  Where there is no CUDA, and
where there is one of these alone, ld.so loads each ELF file with every symbol bound at once,
as `ldd -r` does: without constructors, so that nothing need be there but libraries.  A file is
loaded if all that it needs of CUDA is there, in each version, and so is each library of which it
holds a name with a number, or another of the names that it holds of that library.  Of a
retargeted file, each name that it imports from a stub is looked up in the stub once the real
library is found: is its slot filled, with a function of the real library or an adaptor?

What a file needs of other packages is their affair.  libcuda.so.1 and libnvidia-ml.so.1 come with
a driver: they count as there wherever there is a CUDA, and their names are not looked up.  Where
there is no NVTX its stub does what the real one does without a tool, nothing.  PyPI has no cuFile
of CUDA 11: files that need it are not compared there, and the row says how many these are.  Names
that a file imports without needing their library are what audit does not judge either.

Exit status: 0 what is said is what happens, 1 something differs or could not be had, 2 wrong usage.
"""
import argparse
import collections
import ctypes
import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import fetch
import trial
from lazycuda import elf, names           # noqa: E402

# Of libraries that the newest of a CUDA has no more.
OLDER = {"11": ("cudnn8.7",), "12": ("cudnn8", "nvtx1")}
# The toolkits that make a CUDA.
WORLDS = {"none": (), **{major: (version, f"cu{major}", *OLDER.get(major, ()))
                         for major, version in fetch.newest().items()}}
# What a CUDA has and these toolkits have not.
UNKNOWN = {"11": {"cufile"}}
LINKER = "/lib64/ld-linux-x86-64.so.2"
DRIVER = ("libcuda.so", "libnvidia-ml.so")
LISTED = {stem for path in (trial.ROOT / "symbols.txt", *trial.ROOT.glob("libraries/*.txt"))
          for stem in re.findall(r"^    soname lib([\w-]+)\.so", path.read_text(), re.M)}
OPENED = re.compile(rb"(?:^|[\0/])(lib[\w-]+\.so\.[\d.]+)(?=\0)")
STUB = re.compile(r"lib([\w-]+)_stub\.so")


# ---- within a world: what is loaded, and what a slot leads to ----

def traced(file):
    """What ld.so says of a file and all that it needs, with every symbol bound."""
    done = subprocess.run([LINKER, file], capture_output=True, text=True, errors="replace", env={
        **os.environ, "LD_TRACE_LOADED_OBJECTS": "1", "LD_WARN": "yes", "LD_BIND_NOW": "yes"})
    return (done.stdout + done.stderr).splitlines()


def slot_of(function):
    """Where an entry that is one jump has its target; None if it is more than that."""
    code = ctypes.string_at(function, 10)
    at = 4 if code[:4] == b"\xf3\x0f\x1e\xfa" else 0
    if code[at:at + 2] != b"\xff\x25":
        return None
    return function + at + 6 + int.from_bytes(code[at + 2:at + 6], "little", signed=True)


def leads_to(slot):
    return ctypes.c_void_p.from_address(slot).value


def look_up(path, wanted):
    """{"name node": what calls of it reach} of a stub."""
    libc = ctypes.CDLL(None)
    libc.dlvsym.restype = libc.dlsym.restype = ctypes.c_void_p
    stub = ctypes.CDLL(path)
    handle, found, slots = ctypes.c_void_p(stub._handle), {}, {}
    for name, node in wanted:
        function = (libc.dlvsym(handle, name.encode(), node.encode()) if node else None) or \
            libc.dlsym(handle, name.encode())
        slot = slot_of(function) if function else None
        slots[f"{name} {node}"] = function, slot, slot and leads_to(slot)
    stub.lazycuda_load(stem_of(os.path.basename(path)).encode())
    for word, (function, slot, before) in slots.items():
        found[word] = bool(function) and (slot is None or leads_to(slot) != before)
    return found


def within():
    """What is asked is on standard input, what is found on standard output."""
    asked = json.load(sys.stdin)
    found = {path: look_up(path, each) for path, each in asked["stubs"].items()}
    print(json.dumps({"traced": {file: traced(file) for file in asked["files"]}, "slots": found}))
    sys.stdout.flush()
    os._exit(0)         # real libraries have destructors that need a device


# ---- files ----

class Binary:
    """An ELF file of a wheel."""

    def __init__(self, path):
        self.path = path
        image = elf.read(path)
        self.needed = [names.base(each) for each in image.needed]
        self.symbols = [(symbol.name, symbol.version or "") for symbol in image.symbols()
                        if not symbol.defined and not symbol.weak]
        opened = collections.defaultdict(set)
        for name in {name.decode() for part in image.constants() for name in OPENED.findall(part)}:
            if stem_of(name) and not name.startswith(DRIVER):
                opened[stem_of(name)].add(name)
        self.opened = {} if stem_of(image.soname or "") else opened

    def cudas(self):
        """The libraries of CUDA that it needs, those of the driver apart."""
        return {stem_of(each) for each in self.needed} & LISTED


def stem_of(soname):
    """cublas for libcublas.so.12, what auditwheel makes of it and the stub; None of others."""
    stub = STUB.match(soname)
    if stub:
        return stub[1]
    found = names.of_cuda(soname)
    return found if found in LISTED else None


def binaries(wheel, folder):
    """{member: its ELF file}"""
    found = {}
    for member, path in trial.unpack(wheel, folder).items():
        with open(path, "rb") as file:
            if not elf.is_elf(file.read(4)):
                continue
        try:
            found[member] = Binary(path)
        except elf.ElfError:
            pass            # for another kind of machine, or no dynamic one
    return found


class World:
    """A machine with one CUDA, or none."""

    def __init__(self, name, cuda, sandbox):
        self.name, self.sandbox = name, sandbox
        self.folders = sorted({path.parent for toolkit in WORLDS[name]
                               for path in (cuda / toolkit).rglob("lib*.so*")})
        self.has = {path.name for folder in self.folders for path in folder.iterdir()}
        if WORLDS[name] and not self.has:
            raise SystemExit(f"truth: {cuda} has no CUDA {name}")

    def ask(self, files, stubs):
        words = [self.sandbox, "--env", f"LD_LIBRARY_PATH={':'.join(map(str, self.folders))}", "--",
                 sys.executable, "-s", __file__, "--within"]
        done = subprocess.run(words, input=json.dumps({"files": files, "stubs": stubs}), text=True,
                              capture_output=True)
        if done.returncode:
            raise SystemExit(f"truth: {self.name}: {(done.stdout + done.stderr)[-2000:]}")
        return json.loads(done.stdout.splitlines()[-1])

    def answers(self, stem):
        """Whether a stub reaches a real library here."""
        return stem not in ("cuda", "nvidia-ml") and (
            stem != "nvToolsExt" or any(stem_of(name) == stem for name in self.has))

    def compares(self, binary):
        return not UNKNOWN.get(self.name, set()) & (binary.cudas() | binary.opened.keys())

    def exports(self):
        """{name: libraries that export it}"""
        found = collections.defaultdict(set)
        for folder in self.folders:
            for path in folder.iterdir():
                stem = stem_of(path.name) if path.is_file() else None
                if stem in LISTED:
                    for symbol in elf.read(path).symbols():
                        if symbol.defined:
                            found[symbol.name].add(stem)
        return found

    def lacks_opened(self, binary):
        if self.name == "none":
            return
        for stem, each in sorted(binary.opened.items()):
            if not each & self.has:
                yield f"{' or '.join(sorted(each))} may be opened and is not there"

    def faults(self, binary, lines, exports):
        """What keeps a file from being loaded, of what CUDA answers for."""
        shown, judged = str(binary.path), binary.cudas()
        for line in lines:
            missing = re.match(r"\s*(\S+) => not found", line)
            symbol = re.match(r"\s*undefined symbol: ([^\s,]+)(?:, version \S+)?\s*\((.*)\)", line)
            if missing and missing[1] in binary.needed and stem_of(missing[1]):
                if self.name == "none" or not missing[1].startswith(DRIVER):
                    yield f"{missing[1]} is not there"
            elif symbol and symbol[2] == shown and exports.get(symbol[1], set()) & judged:
                yield f"{symbol[1]} is not there"
            elif "version `" in line and f"required by {shown})" in line and \
                    stem_of(names.base(line.split(": version")[0])):
                yield line.strip()


# ---- one wheel ----

@functools.lru_cache(maxsize=None)
def exported(path):
    return frozenset(symbol.name for symbol in elf.read(path).symbols() if symbol.defined)


def stubs_of(binary, found, lines, world):
    """{stub: [(name, node)]} that a file imports and are looked up: the stubs of the wheel that ld.so
    has found for it, by its run path or after all real libraries."""
    resolved = dict(re.findall(r"^\s*(\S+) => (/.*) \(0x", "\n".join(lines), re.MULTILINE))
    paths = [os.path.realpath(resolved[name]) for name in binary.needed if name in resolved and
             world.answers(stem_of(name))]
    return {path: [each for each in binary.symbols if each[0] in exported(path)]
            for path in paths if path in found and "lazycuda_load" in exported(path)}


def happens(found, worlds, exports):
    """{world: {file: faults}} of an unpacked wheel."""
    paths = {os.path.realpath(binary.path) for binary in found.values()}
    faults = {}
    for world in worlds:
        traced = world.ask([str(binary.path) for binary in found.values()], {})["traced"]
        lines = {file: traced[str(binary.path)] for file, binary in found.items()}
        stubs = {file: stubs_of(binary, paths, lines[file], world) if world.name != "none" else {}
                 for file, binary in found.items()}
        asked = collections.defaultdict(set)
        for each in stubs.values():
            for path, wanted in each.items():
                asked[path].update(wanted)
        slots = world.ask([], {path: sorted(wanted) for path, wanted in asked.items()})["slots"] \
            if asked else {}
        faults[world.name] = {file: [
            *world.faults(binary, lines[file], exports),
            *world.lacks_opened(binary),
            *(f"{name} of {os.path.basename(path)} reaches nothing"
              for path, wanted in stubs[file].items() for name, node in wanted
              if not slots[path][f"{name} {node}"])]
            for file, binary in found.items()}
    return faults


def cell(said, found, happened, world, key):
    """("of audit/of those that were loaded", what differs, how many were not compared)"""
    known = sorted(said.keys() & found.keys())
    files = [name for name in known if world.compares(found[name])]
    yes = [name for name in files if trial.says(said[name], key, world.name)]
    does = [name for name in files if not happened[name]]
    differs = [f"{name}: {key} {world.name}: {'; '.join(happened[name][:3]) or 'loaded'}, but: "
               f"{said[name]['verdict']}" for name in sorted(set(yes) ^ set(does))]
    return f"{len(yes)}/{len(does)}", differs, len(known) - len(files)


def compare(wheel, worlds, exports):
    """(a line of the table, what differs)"""
    said, cells, differs, apart = trial.audit(wheel), [], [], 0
    with tempfile.TemporaryDirectory(prefix="lazycuda-") as room:
        room = pathlib.Path(room)
        made, why = trial.retarget(wheel, room / "made")
        if not made:
            return None, [f"retarget: {why}"]
        for key, file in (("runs_on", wheel), ("once_retargeted", made)):
            found = binaries(file, room / key)
            happened = happens(found, worlds, exports)
            for world in worlds:
                text, more, left = cell(said, found, happened[world.name], world, key)
                cells.append(text)
                differs += more
                apart += left
            shutil.rmtree(room / key)
    files = f"{len(said.keys() & found.keys())}"
    if apart:
        files += f", {apart // 2} of them not on 11"
    return f"| {trial.name_of(wheel)} | {files} | {' | '.join(cells)} |", differs


def main(words):
    if words == ["--within"]:
        return within()
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cuda", type=pathlib.Path, required=True)
    parser.add_argument("wheels", nargs="+", metavar="WHEEL")
    options = parser.parse_args(words)
    status = 0
    with tempfile.TemporaryDirectory(prefix="lazycuda-") as folder:
        worlds = [World(name, options.cuda.resolve(), trial.sandbox(folder)) for name in WORLDS]
        exports = collections.defaultdict(set)
        for world in worlds:
            for name, libraries in world.exports().items():
                exports[name] |= libraries
        heads = [*WORLDS, *(f"{name}, retargeted" for name in WORLDS)]
        print(f"| wheel | files | {' | '.join(heads)} |\n{'|---' * (2 + len(heads))}|")
        for wheel in options.wheels:
            line, differs = compare(wheel, worlds, exports)
            print(line or f"| {wheel} | not retargeted |", flush=True)
            for fault in differs:
                print(f"{os.path.basename(wheel)}: {fault}", file=sys.stderr, flush=True)
                status = 1
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
