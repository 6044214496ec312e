#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Count what published binaries import of the CUDA runtime, and on which versions they run.

    tools/upkeep/imports.py fetch [LIST]         note what the wheels of LIST import
    tools/upkeep/imports.py add WHEEL...         the same of wheels that are here
    tools/upkeep/imports.py count [--before FOLDER]     the tables of docs/reference/imports.md
    tools/upkeep/imports.py count --lacking MAJOR VERSION
                                                 names in the way of callers of MAJOR on VERSION,
                                                 by number of files

LIST is published.txt beside this file: a requirement of pip a line.  pip fetches them one
at a time, and each is deleted once it has been read.  What they import is noted in
build/imports, or in the folder that LAZYCUDA_IMPORTS names, a file a wheel; those are not
fetched again.

`count` counts all that is noted there, and says if lines of published.txt are not.  Whether a
name works is asked of `lazycuda audit`, for a library that imports every name of a major.
--before names a folder as build/, of an older tree, whose answers are counted as well.

Exit status: 0 done, 1 something could not be had or read, 2 wrong usage.
"""
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

import run_pip

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools" / "retarget"))

from lazycuda import elf            # noqa: E402

NOTES = pathlib.Path(os.environ.get("LAZYCUDA_IMPORTS") or ROOT / "build" / "imports")
LIST = pathlib.Path(__file__).with_name("published.txt")
# CUDA before 11 had such nodes, too; no library here stands for it.
NODE = re.compile(r"libcudart\.so\.(11|12|13)(?:\.0)?")
TAGS = ("manylinux1", "manylinux2010", "manylinux2014", *(
    f"manylinux_2_{n}" for n in (12, 17, 24, 26, 27, 28, 31, 34, 35, 39)))
PYTHON = "3.11"
# Callers of the first on runtimes of the second: of another major, and of an older minor.
PAIRS = ((13, "11.8"), (13, "12.0"), (13, "12.2"), (13, "12.4"), (13, "12.9"), (13, "13.0"),
         (12, "11.8"), (12, "12.0"), (12, "12.2"), (12, "12.4"), (12, "13.5"),
         (11, "12.9"), (11, "13.5"))


class Unusable(Exception):
    """What was asked cannot be done, and why."""


# ---- what a wheel imports ----

def imports(stream):
    """{major: names} that an ELF file imports of the runtime."""
    found = collections.defaultdict(set)
    for symbol in elf.Elf(elf.File(stream)).symbols():
        node = NODE.fullmatch(symbol.version or "")
        if node and not symbol.defined:
            found[int(node[1])].add(symbol.name)
    return found


def zip_of(wheel):
    try:
        return zipfile.ZipFile(wheel)
    except zipfile.BadZipFile:
        raise Unusable(f"{wheel} is no wheel: fetch it again") from None


def members(wheel):
    """(name, file) of each ELF file of a wheel, unpacked one at a time."""
    with zip_of(wheel) as opened:
        for info in opened.infolist():
            with opened.open(info) as packed:
                if not elf.is_elf(packed.read(4)):
                    continue
            with opened.open(info) as packed, tempfile.TemporaryFile(dir=NOTES) as whole:
                while block := packed.read(1 << 20):
                    whole.write(block)
                whole.flush()
                yield info.filename, whole


def note(wheel, target):
    """Writes the notes of a wheel: a line a file and major."""
    lines = []
    for name, stream in members(wheel):
        try:
            found = imports(stream)
        except elf.ElfError as why:
            print(f"imports: {wheel.name}: {name} {why}", file=sys.stderr)
            continue
        for major, names in sorted(found.items()):
            lines.append(f"{major} {name.replace(' ', '_')} {' '.join(sorted(names))}\n")
    target.write_text("".join(lines))
    print(f"imports: {wheel.name}: {len(lines)} files", flush=True)


def notes_of(wheel):
    return NOTES / f"{wheel.name.removesuffix('.whl')}.txt"


def asked_for(requirement):
    """The file that notes what came of a requirement."""
    return NOTES / f".{requirement}"


def requirements(text):
    return [wanted for line in text.splitlines() if (wanted := line.partition("#")[0].strip())]


def fetch(requirement):
    """None, or why it could not be had.  What was asked for is noted beside what came."""
    asked = asked_for(requirement)
    if asked.exists():
        return None
    platforms = [word for tag in TAGS for word in ("--platform", f"{tag}_x86_64")]
    with tempfile.TemporaryDirectory(dir=NOTES) as part:
        pip = run_pip.run(["download", "--quiet", "--no-deps", "--no-cache-dir",
                           "--only-binary=:all:", "--python-version", PYTHON, *platforms,
                           "--platform", "any", "--dest", part, requirement],
                          capture_output=True, text=True)
        if pip.returncode:
            return run_pip.reason(pip.stderr)
        wheel, = pathlib.Path(part).iterdir()
        note(wheel, notes_of(wheel))
        asked.write_text(wheel.name + "\n")
    return None


# ---- which names work ----

def audited(major, names, build):
    """{version: names that do not work there}, of callers of `major`."""
    with tempfile.TemporaryDirectory(dir=NOTES) as folder:
        source, made = pathlib.Path(folder, "all.s"), pathlib.Path(folder, "all.so")
        source.write_text("\t.data\n" + "".join(f"\t.quad {name}\n" for name in sorted(names)) +
                          '\t.section .note.GNU-stack,"",@progbits\n')
        subprocess.run(["cc", "-shared", "-nostdlib", "-Wl,-z,notext", "-o", made, source,
                        build / "lib" / f"cuda{major}" / "libcudart_stub.so"], check=True)
        said = subprocess.run([build / "bin" / "lazycuda", "audit", "--json", "--all-versions",
                               made], stdout=subprocess.PIPE, check=True)
    file, = json.loads(said.stdout)["files"]
    assert file["imports"][0]["names"] == len(names), "the import library lacks some names"
    return {version: set(target["refused"] + target["absent"])
            for version, target in file["targets"].items()}


class Survey:
    """What is noted; a file that is in several wheels counts as often."""

    def __init__(self, notes):
        self.read = len(notes)
        self.importing = 0                              # wheels that import the runtime
        self.files = collections.defaultdict(list)      # {major: [names of a file]}
        self.wheels = collections.defaultdict(list)     # {major: [names of a wheel's files]}
        for path in notes:
            whole = collections.defaultdict(set)
            for line in path.read_text().splitlines():
                major, _, *names = line.split()
                self.files[int(major)].append(frozenset(names))
                whole[int(major)].update(names)
            self.importing += bool(whole)
            for major, names in whole.items():
                self.wheels[major].append(names)


def check_names(files, first):
    """The table of symbols.txt answers for these names alone."""
    names = frozenset().union(*(names for each in files.values() for names in each))
    if strange := sorted(names - first.keys()):
        raise Unusable(f"symbols.txt has no {', '.join(strange)}, which a wheel imports of the "
                       "runtime: bring symbols.txt up to date (docs/reference/new-release.md)")


def judged(files, build):
    """{major: {version: names in the way}}"""
    if not (build / "bin" / "lazycuda").exists():
        raise Unusable(f"{build} has no bin/lazycuda: name the build/ of a tree that is made")
    return {major: audited(major, frozenset().union(*each), build)
            for major, each in files.items()}


def since():
    """{name: the first version that has it}"""
    text = (ROOT / "symbols.txt").read_text().partition("\nlibrary cudart")[2].partition(
        "\nlibrary ")[0].partition("\nfunctions\n")[2]
    first = {}
    for name, major, minor in re.findall(r"^    (\S+) +(\d+)\.(\d+)[\d.,-]* ", text, re.M):
        version = int(major), int(minor)
        first[name] = min(version, first.get(name, version))
    return first


def tables(found, lists):
    """The text of the page; `lists` are [(heading, judged())], of which the last is of today."""
    first, now = since(), lists[-1][1]
    lines = [f"Of {found.read} wheels, {found.importing} import the runtime.", "",
             "| compiled for | wheels | files | names | "
             "files by the CUDA that brought their newest name |", "|---|---|---|---|---|"]
    for major, each in sorted(found.files.items()):
        newest = collections.Counter(max(map(first.get, names)) for names in each)
        spread = ", ".join("{}.{}: {}".format(*version, count)
                           for version, count in sorted(newest.items()))
        lines.append(f"| {major} | {len(found.wheels[major])} | {len(each)} | "
                     f"{len(frozenset().union(*each))} | {spread} |")
    lines += ["", "| compiled for | on | " + " | ".join(f"files that {head}" for head, _ in lists) +
              " | wheels of which all do | in the way, by number of files |",
              "|---|---|" + "---|" * len(lists) + "---|---|"]
    for major, version in PAIRS:
        if major not in now:
            continue
        each, bad = found.files[major], now[major][version]
        cells = [share(each, lacking[major][version]) for _, lacking in lists]
        lines.append(f"| {major} | {version} | {' | '.join(cells)} | "
                     f"{share(found.wheels[major], bad)} | {in_the_way(each, bad)} |")
    return "\n".join(lines)


def share(each, bad):
    """How many of these lack none of their names."""
    runs = sum(not names & bad for names in each)
    return f"{runs} of {len(each)}, {100 * runs / len(each):.1f} %"


def in_the_way(files, bad):
    counts = collections.Counter(name for names in files for name in names & bad)
    return ", ".join(f"`{name}` {count}" for name, count in sorted(
        counts.items(), key=lambda item: (-item[1], item[0])))


def lacking_on(found, now, major, version):
    """The text of count --lacking."""
    if major not in map(str, now):
        raise Unusable(f"no file that is noted is compiled for {major}")
    if version not in now[int(major)]:
        raise Unusable(f"no answers for {version}: {', '.join(now[int(major)])} have some")
    return in_the_way(found.files[int(major)], now[int(major)][version]).replace(", ", "\n")


def count(option=None, *words):
    found = Survey(sorted(NOTES.glob("*.txt")))
    if not found.files:
        raise Unusable(f"nothing is noted in {NOTES}: run fetch first, or add")
    missing = [wanted for wanted in requirements(LIST.read_text())
               if not asked_for(wanted).exists()]
    if missing:
        print(f"imports: {len(missing)} lines of {LIST.name} are not fetched and not counted, "
              f"{missing[0]} the first", file=sys.stderr)
    check_names(found.files, since())
    now = judged(found.files, ROOT / "build")
    if option == "--lacking":
        print(lacking_on(found, now, *words))
        return
    before = [("ran before", judged(found.files, pathlib.Path(word))) for word in words]
    print(tables(found, [*before, ("run now" if before else "run", now)]))


def fetch_all(path):
    """Whether all of it could be had."""
    failures = [f"{wanted}: {why}" for wanted in requirements(path.read_text())
                if (why := fetch(wanted))]
    for why in failures:
        print(f"imports: {why}", file=sys.stderr)
    return not failures


def run(words):
    """The exit status."""
    order, rest = words[:1], words[1:]
    if order == ["fetch"] and len(rest) <= 1:
        return 0 if fetch_all(pathlib.Path(*rest or [LIST])) else 1
    if order == ["add"] and rest:
        for path in map(pathlib.Path, rest):
            note(path, notes_of(path))
    elif order == ["count"] and (rest[:1], len(rest)) in (
            ([], 0), (["--before"], 2), (["--lacking"], 3)):
        count(*rest)
    else:
        print(__doc__, file=sys.stderr)
        return 2
    return 0


def main(words):
    try:
        NOTES.mkdir(parents=True, exist_ok=True)
        return run(words)
    except (Unusable, OSError) as why:
        print(f"imports: {why}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
