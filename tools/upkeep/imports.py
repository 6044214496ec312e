#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Count what published binaries import of the CUDA runtime, and on which versions they run.

    tools/upkeep/imports.py fetch [LIST]         note what the wheels of LIST import
    tools/upkeep/imports.py add WHEEL...         the same of wheels that are here
    tools/upkeep/imports.py count [--before FOLDER]     the tables of docs/imports.md
    tools/upkeep/imports.py count --lacking MAJOR VERSION
                                                 names in the way of callers of MAJOR on VERSION,
                                                 by number of files

LIST is published.txt beside this file: a requirement of pip a line.  pip fetches them one
at a time, and each is deleted once it has been read.  What they import is noted in
build/imports, or in the folder that LAZYCUDA_IMPORTS names, a file a wheel; those are not
fetched again.

Whether a name works is asked of `lazycuda audit`, for a library that imports every name of a
major.  --before names a folder as build/, of an older tree, whose answers are counted as well.
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
NODE = re.compile(r"libcudart\.so\.(\d+)(?:\.0)?")
TAGS = ("manylinux1", "manylinux2010", "manylinux2014", *(
    f"manylinux_2_{n}" for n in (12, 17, 24, 26, 27, 28, 31, 34, 35, 39)))
PYTHON = "3.11"
# What the issue counts: callers of the first on runtimes of the second.
PAIRS = ((13, "11.8"), (13, "12.0"), (13, "12.2"), (13, "12.4"), (13, "12.9"), (12, "11.8"),
         (12, "13.5"), (11, "12.9"), (11, "13.5"))


# ---- what a wheel imports ----

def imports(stream):
    """{major: names} that an ELF file imports of the runtime."""
    found = collections.defaultdict(set)
    for symbol in elf.Elf(elf.File(stream)).symbols():
        node = NODE.fullmatch(symbol.version or "")
        if node and not symbol.defined:
            found[int(node[1])].add(symbol.name)
    return found


def members(wheel):
    """(name, file) of each ELF file of a wheel, unpacked one at a time."""
    with zipfile.ZipFile(wheel) as opened:
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
    print(f"imports: {wheel.name}: {len(lines)} files")


def notes_of(wheel):
    return NOTES / f"{wheel.name.removesuffix('.whl')}.txt"


def fetch(requirement):
    """None, or why it could not be had.  What was asked for is noted beside what came."""
    asked = NOTES / f".{requirement}"
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


def survey():
    """{major: [names of a file]}: of one file in several wheels, each counts."""
    found = collections.defaultdict(list)
    for path in sorted(NOTES.glob("*.txt")):
        for line in path.read_text().splitlines():
            major, _, *names = line.split()
            found[int(major)].append(frozenset(names))
    return found


def judged(files, build):
    """{major: {version: names in the way}}"""
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


def tables(files, lists):
    """The text of the page; `lists` are [(heading, judged())]."""
    first = since()
    lines = ["| compiled for | files | names | files by the CUDA that brought their newest name |",
             "|---|---|---|---|"]
    for major, each in sorted(files.items()):
        newest = collections.Counter(max(map(first.get, names)) for names in each)
        spread = ", ".join("{}.{}: {}".format(*version, count)
                           for version, count in sorted(newest.items()))
        lines.append(f"| {major} | {len(each)} | {len(frozenset().union(*each))} | {spread} |")
    lines += ["", "| compiled for | on | " + " | ".join(head for head, _ in lists) +
              " | in the way, by number of files |", "|---|---|" + "---|" * len(lists) + "---|"]
    for major, version in PAIRS:
        each, cells = files[major], []
        if not each:
            continue
        for _, found in lists:
            runs = sum(not names & found[major][version] for names in each)
            cells.append(f"{runs} of {len(each)}, {100 * runs / len(each):.1f} %")
        lines.append(f"| {major} | {version} | {' | '.join(cells)} | "
                     f"{in_the_way(each, lists[-1][1][major][version])} |")
    return "\n".join(lines)


def in_the_way(files, bad):
    counts = collections.Counter(name for names in files for name in names & bad)
    return ", ".join(f"`{name}` {count}" for name, count in sorted(
        counts.items(), key=lambda item: (-item[1], item[0])))


def count(words):
    files = survey()
    now = judged(files, ROOT / "build")
    if words[:1] == ["--lacking"]:
        print(in_the_way(files[int(words[1])], now[int(words[1])][words[2]]).replace(", ", "\n"))
        return 0
    lists = [("run", now)]
    if words[:1] == ["--before"]:
        lists = [("ran before", judged(files, pathlib.Path(words[1]))), ("run now", now)]
    print(tables(files, lists))
    return 0


def main(words):
    NOTES.mkdir(parents=True, exist_ok=True)
    if words[:1] == ["count"]:
        return count(words[1:])
    if words[:1] == ["add"] and words[1:]:
        for path in map(pathlib.Path, words[1:]):
            note(path, notes_of(path))
        return 0
    if words[:1] == ["fetch"]:
        text = pathlib.Path(*words[1:2] or [LIST]).read_text()
        failures = [f"{wanted}: {why}" for line in text.splitlines()
                    if (wanted := line.partition("#")[0].strip()) and (why := fetch(wanted))]
        print(*(f"imports: {why}" for why in failures), sep="\n", end="\n" * bool(failures),
              file=sys.stderr)
        return 1 if failures else 0
    sys.exit(__doc__)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
