#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What is imported and used of retargeted wheels where there is no CUDA, their own and another: a table.

    tools/upkeep/imported.py --cuda DIR --beside SITE --work FOLDER [--uses FILE] WHEEL...

DIR has the real libraries of CUDA 11, 12 and 13, as for truth.py, and SITE what the wheels require,
as `pip install --target SITE` makes it.  Each wheel is retargeted without any option, unpacked into
a folder below FOLDER, and imported in worlds with nothing of this machine's own CUDA: each module
that it has at the top, and then each file that a stub serves is loaded with every symbol bound.
The real libraries lie in that folder as pip puts them there.  What a wheel requires of the others
given here is taken from these, retargeted, and lies beside it.  The column before has what
`lazycuda audit` says of the published wheel, once it is retargeted.

A small use is what FILE, or else uses.txt, has for the wheel: a value that needs no GPU.  The column
has that of the published wheel with its own CUDA, and what differs from it in the three worlds.
Stock neighbours are published wheels of those given here: at most two that require the wheel or
that it requires, else torch or CuPy for its CUDA.  With the wheel's own CUDA all are imported in
one process, in both orders, and used; what differs from the published wheel in its place is said.
Where a published one does not find CUDA otherwise, LD_LIBRARY_PATH leads to it.

Exit status: 0 all that can be imported and used is, 1 something is not, 2 wrong usage.
"""
import argparse
import collections
import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

import trial
import truth
from lazycuda import metadata, packages         # noqa: E402

# {major: the toolkits that have its libraries}
MAJORS = {int(name): toolkits for name, toolkits in truth.WORLDS.items() if toolkits}
# What lies beside a wheel though it does not require that by its name.
BESIDE = {"cuquantum-cu12": ("custatevec-cu12", "cutensornet-cu12", "cudensitymat-cu12"),
          **dict.fromkeys(("torchao", "torchcodec", "torchaudio", "sgl-deep-gemm", "lmdeploy",
                           "torch-memory-saver", "autoawq-kernels"), ("torch",))}
# What lies beside one that none of the others goes with, of the same CUDA.
STRANGERS = "torch", "cupy-cuda11x", "cupy-cuda12x"
HEAD = ("| wheel | retarget | audit, once retargeted | none | own | other | a small use | beside stock "
        "neighbours |\n|---|---|---|---|---|---|---|---|")
# Within the world: import, use, load.  Real libraries have destructors that need a device.
IMPORT = r"""
import ast, ctypes, importlib, json, os, site, sys
asked = json.loads(sys.argv[1])
sys.path[:0] = asked["path"]
site.getsitepackages = lambda: asked["path"][:1]
def say(name, why):
    sys.stdout.flush()
    os.write(1, b"\n" + json.dumps([name, why]).encode() + b"\n")
def use(code):
    *lines, last = ast.parse(code).body
    space = {}
    exec(compile(ast.Module(lines, []), "use", "exec"), space)
    return " = " + repr(eval(compile(ast.Expression(last.value), "use", "eval"), space))
def load(name):
    ctypes.CDLL(name, os.RTLD_NOW)
def module(name):
    importlib.import_module(name)
for name in asked["before"]:
    try:
        module(name)
    except BaseException as error:
        pass
# Twice: a plugin may need another one that is loaded after it.
for do, names in ((module, asked["modules"]), (use, asked["uses"]), *[(load, asked["files"])] * 2):
    for name in names:
        say(name, "it ends the process")
        try:
            say(name, do(name))
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


def read_uses(path):
    """{wheel: what is asked of it}"""
    lines = pathlib.Path(path).read_text().splitlines()
    return dict(re.split(r"\s+", line, maxsplit=1) for line in lines if line and line[0] != "#")


class Laid:
    """A wheel as pip lays it out."""

    def __init__(self, wheel, prefix):
        self.prefix, self.site = prefix, prefix / trial.SITE
        self.members = trial.unpack(wheel, prefix)

    @property
    def modules(self):
        names = {path.relative_to(self.site).parts for path in self.members.values()
                 if self.site in path.parents}
        found = {parts[0] for parts in names if len(parts) == 2 and parts[1] == "__init__.py"}
        found |= {parts[0].partition(".")[0] for parts in names
                  if len(parts) == 1 and re.search(r"\.(py|so)$", parts[0])}
        return sorted(name for name in found if name.isidentifier() and name != "nvidia")


class Tried:
    """One wheel, retargeted and published, laid out as long as it is asked for."""

    def __init__(self, wheel, work, uses):
        self.wheel, self.name = wheel, trial.name_of(wheel)
        self.canonical = packages.canonical(wheel.name.partition("-")[0])
        self.prefix = work / self.name
        out = work / "out" / self.name
        out.mkdir(parents=True, exist_ok=True)
        self.made, self.said = trial.retarget(wheel, out)
        if not self.made:
            raise SystemExit(f"imported: {self.name}: {self.said}")
        self.uses = [use for name, use in uses.items() if name == self.canonical]

    @functools.cached_property
    def retargeted(self):
        return Laid(self.made, self.prefix)

    @functools.cached_property
    def published(self):
        return Laid(self.wheel, self.prefix.with_name(f"{self.name}.published"))

    def forget(self):
        for name in ("retargeted", "published"):
            laid = self.__dict__.pop(name, None)
            if laid:
                shutil.rmtree(laid.prefix)

    @property
    def files(self):
        return [trial.place_of(file["file"]) for file in self.said["files"] if ".so" in file["file"]]

    @functools.cached_property
    def own(self):
        """The major of CUDA that it was made for, by what its files need or by its name; None."""
        counted = collections.Counter(
            major for file in self.said["files"] for change in file["replaced"]
            for major in packages.majors(change["needed"] or ""))
        named = packages.OF_MAJOR.search(self.canonical)
        return max(counted, key=lambda major: (counted[major], major), default=named and int(named[1]))

    @functools.cached_property
    def requires(self):
        with zipfile.ZipFile(self.wheel) as archive:
            file = next(name for name in archive.namelist()
                        if re.match(r"[^/]+\.dist-info/METADATA$", name))
            return metadata.requires(archive.read(file))


def real_libraries(major, options):
    """The folder that has the packages of a CUDA."""
    cuda = options.work / f"cuda{major}"
    for folder in MAJORS.get(major, ()):
        link(options.cuda / folder / "x86_64", cuda)
    return cuda


def ask(laid, major, others, asked, options, by_path=False):
    """What is said in a world with this CUDA, to which LD_LIBRARY_PATH may lead, and these beside the
    one: {what: why not, or its value}"""
    made = []
    for source, how in [(real_libraries(major, options), os.symlink),
                        *((other.site, os.link) for other in others)]:
        for file in source.rglob("*"):
            place = laid.site / file.relative_to(source)
            if file.is_file() and not os.path.lexists(place):
                place.parent.mkdir(parents=True, exist_ok=True)
                how(file.resolve() if how is os.symlink else file, place)
                made.append(place)
    asked = {"path": [str(laid.site), str(options.beside)], "before": [], "files": [], **asked}
    folders = {file.parent for file in real_libraries(major, options).rglob("*.so*")} if by_path else ()
    done = subprocess.run(
        ["timeout", "120", options.sandbox, "--env",
         f"LD_LIBRARY_PATH={':'.join(sorted(map(str, folders)))}", "--",
         sys.executable, "-I", "-B", "-c", IMPORT, json.dumps(asked)],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    for place in made:
        place.unlink()
    said = dict(json.loads(line) for line in done.stdout.splitlines()
                if re.match(r'\["(?:[^"\\]|\\.)+", ["n]', line))
    found = {name: said.get(name, "not tried")
             for name in [*asked["modules"], *asked["uses"], *asked["files"]]}
    return {name: value and value.replace(f"{laid.site}/", "")[:160] for name, value in found.items()}


def finds_none(values):
    return any("cannot open shared object" in value for value in values if value)


def tried_in(tried, major, options, others, published=False, by_path=False):
    """What is not imported in a world with this CUDA, {what: why}, and the values of its uses."""
    laid = tried.published if published else tried.retargeted
    torch = any(other.canonical == "torch" for other in others)
    said = ask(laid, major, [other.retargeted for other in others], {
        "modules": laid.modules, "before": ["torch"] if torch else [], "uses": tried.uses,
        "files": [str(laid.prefix / file) for file in tried.files]}, options, by_path)
    values = [said.pop(use) for use in tried.uses]
    return {name.replace(f"{laid.site}/", ""): why for name, why in said.items() if why}, values


def by_requirement(tried, by_name):
    """The other wheels that lie beside one: what it requires, and what these do."""
    others, todo, seen = [], [tried.canonical], set()
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        other = by_name.get((name, tried.own)) or by_name.get((name, None))
        others += [other] if other and other is not tried else []
        todo += [*BESIDE.get(name, ()), *(other.requires if other else ())]
    return others


def neighbours(tried, all_tried, by_name):
    """At most two, with a use, that go with one; else one that is of the same CUDA."""
    near = [*by_requirement(tried, by_name),
            *(other for other in all_tried if tried in by_requirement(other, by_name))]
    near = [other for other in near if other.uses and other.own in (tried.own, None)]
    return near[:2] or [other for other in all_tried if other.canonical in STRANGERS and
                        other is not tried and other.own == tried.own][:1]


def stock_and_not(tried, group, others, options):
    """What is said of a group in one process, of which one is (retargeted, published), and whether
    LD_LIBRARY_PATH leads to CUDA: it does if a published one finds none otherwise."""
    shown = {use: f"use of {one.name}" for one in group for use in one.uses}
    for by_path in (False, True):
        said = []
        for kind in ("retargeted", "published"):
            laid = getattr(tried, kind)
            found = ask(laid, tried.own, [each.published for each in others], {
                "modules": [name for one in group
                            for name in (laid if one is tried else one.published).modules],
                "uses": list(shown)}, options, by_path)
            said.append({shown.get(what, what): value for what, value in found.items()})
        if not finds_none(said[1].values()):
            break
    return *said, by_path


def fails(value):
    return value and not value.startswith(" = ")


def beside(tried, options, near, by_name):
    """A cell: what differs from stock beside stock, in both orders, and what fails in both."""
    told, good = {}, True
    for order, group in (("before", [tried, *near]), ("after", [*near, tried])):
        others = {id(each): each for one in group for each in [one, *by_requirement(one, by_name)]
                  if each is not tried}
        said, published, by_path = stock_and_not(tried, group, others.values(), options)
        for what, value in said.items():
            if value != published[what]:
                told[f"{order}: {what}: {value}, published: {published[what]}"] = good = False
            elif fails(value):
                told[f"as published, {what}: {value}"] = True
    path = ", with LD_LIBRARY_PATH" if by_path else ""
    names = ", ".join(other.name for other in near)
    return f"{names}{path}: {'; '.join(told) or 'the same in both orders'}".replace("|", "/"), good


def used(values, own):
    """A cell: the value of the published wheel, and where the retargeted one has another."""
    differs = [f"{world}: {value}" for world, value in values.items() if value != own]
    return f"{own.removeprefix(' = ')}{'; ' if differs else ''}{'; '.join(differs)}".replace("|", "/")


def shown(failed, count):
    if not failed:
        return f"all {count}"
    name, why = next(iter(failed.items()))
    return f"{count - len(failed)} of {count}: {name}: {why}".replace("|", "/")


def row(tried, all_tried, by_name, options):
    """(the cells, whether all was as it should be)"""
    cells = [tried.name, tried.said["outcome"], audited(tried.wheel)]
    others = by_requirement(tried, by_name)
    count, own = len(tried.retargeted.modules) + len(tried.files), tried.own
    good, values = True, {}
    as_published, before = tried_in(tried, own, options, others, published=True)
    if own and finds_none(before):
        before = tried_in(tried, own, options, others, published=True, by_path=True)[1]
    for major in [None, *([own, own + 1 if own + 1 in MAJORS else own - 1] if own else [])]:
        failed, value = tried_in(tried, major, options, others)
        cells.append(("" if not major else f"{major}: ") + shown(failed, count))
        values[str(major or "none")] = "".join(value)
        good = good and not failed
        if failed and major == own:
            cells[-1] += "; as published" if as_published.keys() >= failed.keys() else "; PUBLISHED DOES"
    cells += [""] * (6 - len(cells))
    own_value = "".join(before)
    cells.append(used(values, own_value) if before else "")
    good = good and all(value == own_value for value in values.values())
    near = neighbours(tried, all_tried, by_name) if own else []
    cell, same = beside(tried, options, near, by_name) if near else ("", True)
    return [*cells, cell], good and same


def main():
    parser = argparse.ArgumentParser(allow_abbrev=False, usage=__doc__)
    parser.add_argument("--cuda", type=pathlib.Path, required=True)
    parser.add_argument("--beside", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--uses", type=read_uses,
                        default=str(pathlib.Path(__file__).with_name("uses.txt")))
    parser.add_argument("wheels", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    options.work.mkdir(exist_ok=True)
    options.sandbox = trial.sandbox(options.work)
    all_tried = [Tried(wheel, options.work, options.uses) for wheel in options.wheels]
    by_name = {(tried.canonical, own): tried for tried in reversed(all_tried)
               for own in (tried.own, None)}
    print(HEAD)
    all_good = True
    for tried in all_tried:
        cells, good = row(tried, all_tried, by_name, options)
        cells = [cell if len(cell) < 400 else f"{cell[:396]} ..." for cell in cells]
        print(f"| {' | '.join(cells)} |", flush=True)
        all_good = all_good and good
        if tried.canonical not in STRANGERS:
            tried.forget()
    return 0 if all_good else 1


if __name__ == "__main__":
    sys.exit(main())
