#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What is imported of retargeted wheels where there is no CUDA, their own and another: a table.

    tools/upkeep/imported.py --cuda DIR --beside SITE --work FOLDER WHEEL...

DIR has the real libraries of CUDA 11, 12 and 13, as for truth.py, and SITE what the wheels require,
as `pip install --target SITE` makes it.  Each wheel is retargeted without any option, unpacked into
a folder below FOLDER, and imported in worlds with nothing of this machine's own CUDA: each module
that it has at the top, and then each file that a stub serves is loaded with every symbol bound.
The real libraries lie in that folder as pip puts them there.  What a wheel requires of the others
given here is taken from these, retargeted, and lies beside it.  The column before has what
`lazycuda audit` says of the published wheel, once it is retargeted.

Exit status: 0 all that can be imported is, 1 something is not, 2 wrong usage.
"""
import argparse
import collections
import copy
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import libraries
import trial
from lazycuda import metadata, packages         # noqa: E402

# {major: folders of its libraries}: the newest listed runtime, and cu12.
MAJORS = {int(major): (version, f"cu{major}") for major, version in libraries.NEWEST.items()}
# What lies beside a wheel though it does not require that by its name.
BESIDE = {"cuquantum-cu12": ("custatevec-cu12", "cutensornet-cu12", "cudensitymat-cu12"),
          **dict.fromkeys(("torchao", "torchcodec", "torchaudio", "sgl-deep-gemm", "lmdeploy",
                           "torch-memory-saver", "autoawq-kernels"), ("torch",))}
HEAD = "| wheel | retarget | audit, once retargeted | none | own | other |\n|---|---|---|---|---|---|"
# Within the world: import, then load.  Real libraries have destructors that need a device.
IMPORT = r"""
import ctypes, importlib, json, os, sys
asked = json.loads(sys.argv[1])
sys.path[:0] = asked["path"]
def say(name, why):
    sys.stdout.flush()
    os.write(1, b"\n" + json.dumps([name, why]).encode() + b"\n")
for name in asked["before"]:
    try:
        importlib.import_module(name)
    except BaseException as error:
        pass
# Twice: a plugin may need another one that is loaded after it.
for kind, names in (("import", asked["modules"]), *[("load", asked["files"])] * 2):
    for name in names:
        say(name, "it ends the process")
        try:
            importlib.import_module(name) if kind == "import" else ctypes.CDLL(name, os.RTLD_NOW)
            say(name, None)
        except BaseException as error:
            say(name, f"{type(error).__name__}: {error}".split("\n")[0])
os._exit(0)
"""


def link(source, target):
    """Links to the files of a folder, in a folder of its own, since two toolkits share some."""
    for file in source.rglob("*.so*"):
        place = target / file.relative_to(source)
        place.parent.mkdir(parents=True, exist_ok=True)
        if not place.exists():
            place.symlink_to(file.resolve())


def audited(wheel):
    said = trial.audit(wheel).values()
    good = [str(major) for major in MAJORS
            if all(trial.says(one, "once_retargeted", str(major)) for one in said)]
    return f"runs on {', '.join(good) or 'none'}" if said else "nothing to say"


class Tried:
    """One wheel, retargeted and laid out."""

    def __init__(self, wheel, work):
        self.wheel, self.name = wheel, trial.name_of(wheel)
        out = work / "out" / self.name
        out.mkdir(parents=True, exist_ok=True)
        made, self.said = trial.retarget(wheel, out)
        if not made:
            raise SystemExit(f"imported: {self.name}: {self.said}")
        self._unpack(made, work / self.name)
        shutil.rmtree(out)

    def as_published(self):
        """The same, with the wheel as it was."""
        other = copy.copy(self)
        other._unpack(self.wheel, self.prefix.with_name(f"{self.name}.published"))
        return other

    def _unpack(self, wheel, prefix):
        self.prefix, self.site = prefix, prefix / trial.SITE
        self.members = trial.unpack(wheel, prefix)

    @property
    def files(self):
        return [str(self.prefix / trial.place_of(file["file"])) for file in self.said["files"]
                if ".so" in file["file"]]

    @property
    def modules(self):
        names = {path.relative_to(self.site).parts for path in self.members.values()
                 if self.site in path.parents}
        found = {parts[0] for parts in names if len(parts) == 2 and parts[1] == "__init__.py"}
        found |= {parts[0].partition(".")[0] for parts in names
                  if len(parts) == 1 and re.search(r"\.(py|so)$", parts[0])}
        return sorted(name for name in found if name.isidentifier() and name != "nvidia")

    @property
    def own(self):
        """The major of CUDA that it was made for; None."""
        counted = collections.Counter(
            major for file in self.said["files"] for change in file["replaced"]
            for major in packages.majors(change["needed"] or ""))
        return max(counted, key=lambda major: (counted[major], major), default=None)

    @property
    def requires(self):
        file = next(path for member, path in self.members.items()
                    if re.match(r"[^/]+\.dist-info/METADATA$", member))
        lines = file.read_bytes().split(b"\n\n")[0].splitlines(True)
        found = (metadata.REQUIREMENT.match(line) for line in lines)
        return {packages.canonical(each["name"].decode()) for each in found
                if each and b"extra" not in (each["marker"] or b"")}


def tried_in(tried, major, options, others, sandbox):
    """What is not imported in a world with this CUDA: {what: why}"""
    cuda = options.work / f"cuda{major}"
    made = []
    if major:
        for folder in MAJORS[major]:
            link(options.cuda / folder / "x86_64" / "nvidia", cuda / "nvidia")
        for file in cuda.rglob("*.so*"):
            place = tried.site / file.relative_to(cuda)
            if not place.exists():
                place.parent.mkdir(parents=True, exist_ok=True)
                place.symlink_to(file.resolve())
                made.append(place)
    for other in others:
        for file in other.site.rglob("*"):
            place = tried.site / file.relative_to(other.site)
            if file.is_file() and not place.exists():
                place.parent.mkdir(parents=True, exist_ok=True)
                os.link(file, place)
                made.append(place)
    path = [tried.site, options.beside]
    before = ["torch"] if any(other.name.startswith("torch==") for other in others) else []
    asked = {"path": list(map(str, path)), "modules": tried.modules, "before": before,
             "files": tried.files}
    done = subprocess.run(
        [sandbox, "--", sys.executable, "-I", "-B", "-c", IMPORT, json.dumps(asked)],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    for place in made:
        place.unlink()
    said = dict(json.loads(line) for line in done.stdout.splitlines()
                if re.match(r'\["[^"]+", ["n]', line))
    wanted = [*asked["modules"], *asked["files"]]
    return {name.replace(f"{tried.site}/", ""): why for name in wanted
            for why in [said.get(name, "not tried")] if why}


def beside(tried, by_name):
    """The other wheels that lie beside one: what it requires, and what these do."""
    name = packages.canonical(tried.wheel.name.partition("-")[0])
    others, todo, seen = [], [name], set()
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        other = by_name.get(name)
        others += [other] if other and other is not tried else []
        todo += [*BESIDE.get(name, ()), *(other.requires if other else ())]
    return others


def shown(failed, count):
    if not failed:
        return f"all {count}"
    name, why = next(iter(failed.items()))
    return f"{count - len(failed)} of {count}: {name}: {why[:160]}".replace("|", "/")


def main():
    parser = argparse.ArgumentParser(allow_abbrev=False, usage=__doc__)
    parser.add_argument("--cuda", type=pathlib.Path, required=True)
    parser.add_argument("--beside", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("wheels", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    options.work.mkdir(exist_ok=True)
    sandbox = trial.sandbox(options.work)
    all_tried = [Tried(wheel, options.work) for wheel in options.wheels]
    by_name = {packages.canonical(tried.wheel.name.partition("-")[0]): tried for tried in all_tried}
    print(HEAD)
    good = True
    for tried in all_tried:
        row = [tried.name, tried.said["outcome"], audited(tried.wheel)]
        others = beside(tried, by_name)
        count, own = len(tried.modules) + len(tried.files), tried.own
        for major in [None, *([own, 13 if own == 12 else 12] if own else [])]:
            failed = tried_in(tried, major, options, others, sandbox)
            row.append(("" if not major else f"{major}: ") + shown(failed, count))
            good = good and not failed
            if failed and major == own:
                published = tried.as_published()
                same = tried_in(published, major, options, others, sandbox).keys() >= failed.keys()
                row[-1] += "; as published" if same else "; PUBLISHED DOES"
                shutil.rmtree(published.prefix)
        print(f"| {' | '.join(row)} |", flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
