#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What `lazycuda retarget` makes of whole wheels, and what that takes: tables for docs/wheels.md.

    tools/upkeep/whole_wheels.py FILE...
    tools/upkeep/whole_wheels.py --serves MODULE [--open FILE]... [LABEL=]SITE[+TOOLKIT]...

Each wheel is retargeted into a folder that is removed again, without any option, by the command of
build/bin with the patchelf that is on PATH.  Run it on a machine with nothing else to do: the time
is that of all processors together, the memory that of the largest process.  A wheel that is refused has a row, too.

--serves says which file serves each library of CUDA that a retargeted module calls.  SITE is a
site-packages with the module, of this Python, and what of CUDA is installed with it; TOOLKIT a
folder that the module sees as /usr/local/NAME, as cuda-13.0, and nothing of this machine's own
CUDA.  Each FILE, below SITE, is opened after the import.  The libraries are called first in the
order of their names and then, in another process, the other way round.  What is not of one CUDA,
or depends on the order, is said below the table.

Exit status: 0 done, 1 a wheel was refused or not all is of one CUDA, 2 wrong usage.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import trial
from lazycuda import packages           # noqa: E402

ASK = pathlib.Path(__file__).with_name("what_serves.py")
HEAD = ("| wheel | size, MB | result, MB | processor, s | memory, MiB | served where missing | "
        "still needed |\n|---|---|---|---|---|---|---|")


def run(wheel, folder):
    """(what is said, seconds of all processors, MiB of the largest process)"""
    with tempfile.TemporaryFile() as out:
        child = subprocess.Popen([trial.TOOL, "retarget", "--json", "-o", folder, wheel],
                                 stdin=subprocess.DEVNULL, stdout=out)
        _, _, used = os.wait4(child.pid, 0)
        child.returncode = 0        # waited for above
        out.seek(0)
        said = json.loads(out.read() or "{}").get("wheels")
    return said and said[0], used.ru_utime + used.ru_stime, used.ru_maxrss // 1024


def names(said, *outcomes):
    return sorted({each["library"] for each in said["libraries"] if each["outcome"] in outcomes},
                  key=str.lower)


def megabytes(path):
    return f"{path.stat().st_size / 1e6:.1f}"


def row(wheel):
    """(a line of the table, whether the wheel was retargeted)"""
    name = trial.name_of(wheel)
    with tempfile.TemporaryDirectory(prefix="lazycuda-") as folder:
        said, seconds, memory = run(wheel, folder)
        if not said or said["error"] or not said["libraries"]:
            nothing = said and not said["error"]
            why = "needs none of CUDA's libraries" if nothing else \
                said["error"] if said else "nothing is said"
            return (f"| {name} | {megabytes(wheel)} | {why} | {seconds:.0f} | {memory} | | |",
                    bool(nothing))
        repointed = names(said, "repointed")
        columns = [name, megabytes(wheel), megabytes(next(pathlib.Path(folder).glob("*.whl"))),
                   f"{seconds:.0f}", str(memory), f"{len(repointed)}: {', '.join(repointed)}",
                   ", ".join(names(said, "left", "no stub")) or "none"]
    return f"| {' | '.join(columns)} |", True


# ---- which file serves each library ----

class Place:
    """[LABEL=]SITE[+TOOLKIT]"""

    def __init__(self, word):
        self.label, _, rest = word.rpartition("=")
        site, _, toolkit = rest.partition("+")
        self.label = self.label or rest
        self.site = pathlib.Path(site).resolve()
        self.toolkit = pathlib.Path(toolkit).absolute() if toolkit else None
        for folder in filter(None, (self.site, self.toolkit)):
            if not folder.is_dir():
                raise argparse.ArgumentTypeError(f"{folder} is not a folder")
        if self.toolkit and self.toolkit.resolve().parts[1] in ("usr", "opt", "run"):
            raise argparse.ArgumentTypeError(f"{self.toolkit} is what the module does not see: name "
                                             "a copy that lies elsewhere")

    def ask(self, sandbox, module, files, order):
        """What what_serves.py says in a world with nothing but this."""
        bind = ["--bind", f"{self.toolkit.resolve()}:/usr/local/{self.toolkit.name}"] \
            if self.toolkit else []
        done = subprocess.run(
            [sandbox, *bind, "--", sys.executable, "-I", ASK, self.site, module, order, *files],
            stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{self.label}: {(done.stdout + done.stderr).strip()}")
        return json.loads(done.stdout.splitlines()[-1])

    def shown(self, path):
        return os.path.relpath(path, self.site) if self.site in pathlib.Path(path).parents else path


def faults(first, last):
    """What is not as it should be: the stubs of one process use one CUDA, whatever is called first."""
    served = {name: path for name, (_, path, _) in first["served"].items()}
    if served != {name: path for name, (_, path, _) in last["served"].items()}:
        yield "the order of the first calls decides"
    majors = {major for major, path, _ in first["served"].values() if path}
    if len(majors) > 1 or 0 in majors:
        yield f"CUDA {' and '.join(map(str, sorted(majors)))} (0: nothing tells)"
    for said in (first, last):
        stems = collections.Counter(packages.stem(path) or path for path in said["mapped"])
        yield from (f"{count} files of {stem} are loaded" for stem, count in stems.items() if count > 1)
        # What a library opens or needs is of that CUDA, too.
        yield from (f"{path} is loaded and of another CUDA" for path in said["mapped"]
                    if majors and packages.majors(path) and not majors & packages.majors(path))


def served_row(place, first):
    """CUDA's major, the files by their folders, and what has none."""
    folders = collections.defaultdict(list)
    for _, path, _ in first["served"].values():
        if path:
            folder, _, name = place.shown(path).rpartition("/")
            folders[folder].append(name)
    majors = sorted({major for major, path, _ in first["served"].values() if path})
    files = "; ".join(f"{folder}: {', '.join(names)}" for folder, names in sorted(folders.items()))
    missing = [name for name, (_, path, _) in first["served"].items() if not path]
    return (f"| {place.label} | {', '.join(map(str, majors)) or 'none'} | {files} | "
            f"{', '.join(sorted(missing, key=str.lower)) or 'none'} |")


def serves(words):
    parser = argparse.ArgumentParser(prog="whole_wheels.py --serves", allow_abbrev=False)
    parser.add_argument("module")
    parser.add_argument("--open", action="append", default=[], metavar="FILE")
    parser.add_argument("places", nargs="+", type=Place, metavar="[LABEL=]SITE[+TOOLKIT]")
    options = parser.parse_args(words)
    status = 0
    print("| installed | CUDA | files | nothing serves |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="lazycuda-") as folder:
        sandbox = trial.sandbox(folder)
        found = []
        for place in options.places:
            first, last = [place.ask(sandbox, options.module, options.open, order)
                           for order in ("first", "last")]
            print(served_row(place, first), flush=True)
            found += [f"{place.label}: {fault}" for fault in dict.fromkeys(faults(first, last))]
    for fault in found:
        print(fault)
        status = 1
    return status


def main(words):
    if words[:1] == ["--serves"]:
        return serves(words[1:])
    if not words or words[0].startswith("-"):
        print(__doc__.strip(), file=sys.stderr if words != ["--help"] else sys.stdout)
        return 0 if words == ["--help"] else 2
    print(HEAD)
    done = True
    for word in words:
        line, good = row(pathlib.Path(word))
        done = done and good
        print(line, flush=True)
    return 0 if done else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
