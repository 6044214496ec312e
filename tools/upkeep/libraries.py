#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Derive libraries/NAME.txt, the lists of CUDA's libraries beside the five of symbols.txt.

    tools/upkeep/libraries.py [--only NAME] --scan PROGRAM --libclang FILE --toolkits DIR --cuda DIR
                              -o DIR

What each library is said to need stands in gen/libraries.txt, the wheels in cuda.txt
beside this file; fetch.py puts them below --cuda, and headers of CUDA's runtime below
--toolkits.  The scanner reads them as it does for `lazycuda stub`.

Exit status: 0 done, 1 wrong input, 2 wrong usage.
"""
import argparse
import pathlib
import re
import subprocess
import sys

import fetch

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools" / "retarget"))
from lazycuda import elf            # noqa: E402

RULES = ROOT / "gen" / "libraries.txt"
TABLE = ROOT / "tools" / "upkeep" / "cuda.txt"
# The CUDA whose runtime's headers the headers of a toolkit include: the newest of its major.
NEWEST = fetch.newest()
OLDEST = {version.partition(".")[0]: version for version in reversed(fetch.toolkits())}
ARCH = "x86_64"


def read_rules(path=RULES):
    """{library: {word: [values]}}"""
    rules, names = {}, []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        word, *values = line.split("#")[0].split() or [None]
        if not word:
            continue
        if not line.startswith(" "):
            if word != "library" or not values:
                sys.exit(f"{path}:{number}: a library begins with `library NAME`")
            names = values
            for name in names:
                rules.setdefault(name, {})
            continue
        for name in names:
            whole = word in ("cuda", "opens", "ships")
            rules[name].setdefault(word, []).extend(
                [" ".join(values).replace("NAME", name)] if whole else values)
    return rules


def one(rule, word, default=None):
    return rule.get(word, [default])[0]


def files(cuda, name):
    """[(toolkit, file)] of a library."""
    found = []
    for toolkit in dict.fromkeys(toolkit for toolkit, part, *_ in fetch.read_table(TABLE)
                                 if f"lib{name}" in part.split(",")):
        site = cuda / toolkit / ARCH
        found += [(toolkit, path) for path in sorted(site.rglob(f"lib{name}.so*"))
                  if re.fullmatch(rf"lib{re.escape(name)}\.so[.\d]*", path.name)]
    return found


def numbers(name):
    """{toolkit: the version of a library, which is that of its wheel}"""
    return {toolkit: tuple(map(int, re.findall(r"\d+", version)[:3]))
            for toolkit, part, _, version, _ in fetch.read_table(TABLE)
            if f"lib{name}" in part.split(",")}


def exports(path):
    """The functions of C that a library exports."""
    return {symbol.name for symbol in elf.read(path).symbols()
            if symbol.defined and not symbol.name.startswith("_")}


def numbered(found, known):
    """([(toolkit, file)], the oldest version first; {toolkit: its version in the list}; {that
    version: its number, if it has another}).

    Versions that differ in their third part alone are one if they export the same; else the later
    one is a version of its own.  A list has 1 for the major 0."""
    first, versions, called, last = [], {}, {}, None
    for toolkit, path in sorted(found, key=lambda one: known[one[0]]):
        number, names = known[toolkit], exports(path)
        repeats = last and number[:2] == last[0][:2]
        if not (repeats and (names == last[1] or number == last[0])):
            major, minor = max(number[0], 1), number[1]
            if last and number[0] == last[0][0]:
                minor = max(minor, last[2] + 1)
            first.append((toolkit, path))
            last = number, names, minor
            version = f"{major}.{minor}"
            said = ".".join(map(str, number if repeats else number[:2]))
            if said != version:
                called[version] = said
        versions[toolkit] = version
    return first, versions, called


def major_of(toolkit, package):
    """Of the CUDA that a wheel is for."""
    told = re.match(r"(?:cu)?(\d+)", toolkit) or re.search(r"-cu(\d+)$", package)
    return told[1]


def runtime_of(toolkit):
    return NEWEST[next(major_of(toolkit, row[2]) for row in fetch.read_table(TABLE)
                       if row[0] == toolkit)]


def includes(cuda, toolkits, toolkit):
    """Where headers of a toolkit are: its own, and those of the runtime."""
    own = sorted(path for path in (cuda / toolkit / ARCH).rglob("include") if path.is_dir())
    runtime = toolkits / runtime_of(toolkit) / ARCH / "nvidia"
    return [*own, *sorted(path for path in runtime.glob("*/include"))]


def advice(name):
    """How to get it, as the stubs of symbols.txt say it."""
    packages = [(toolkit, package) for toolkit, part, package, _, _ in fetch.read_table(TABLE)
                if f"lib{name}" in part.split(",")]
    newest = {}
    for toolkit, package in packages:
        newest.setdefault(package, major_of(toolkit, package))
    ordered = sorted(newest, key=lambda package: (-int(newest[package]), package))
    first = f"`pip install {ordered[0]}` (CUDA {newest[ordered[0]]})"
    rest = ordered[1:]
    text = first if not rest else f"{first} or {rest[0]}" if len(rest) == 1 else (
        f"{first}, {', '.join(rest[:-1])} or {rest[-1]}")
    return f"Install one, for Python with {text}."


def arguments(args, name, rule):
    """What the scanner is told of a library."""
    words = ["--name", name, "--libclang", args.libclang, "--advice", advice(name),
             "--missing", one(rule, "missing")]
    for major in NEWEST:
        words += ["--cuda-major", major]
    for option, word in (("--absent", "absent"), ("--status", "status"),
                         ("--compat", "compat")):
        if word in rule:
            words += [option, one(rule, word)]
    for option, word in (("--package", "package"), ("--define", "define"), ("--text", "text"),
                         ("--negative", "negative"), ("--int-status", "int-status"),
                         ("--mangled", "mangled"), ("--data", "data"), ("--apart", "apart"),
                         ("--handle", "handle"), ("--cuda-of", "cuda"), ("--opens", "opens"),
                         ("--ships", "ships")):
        for value in rule.get(word, []):
            words += [option, value]
    found = [(toolkit, path) for toolkit, path in files(args.cuda, name)
             if toolkit in rule.get("toolkit", [toolkit])]
    if not found:
        sys.exit(f"{args.cuda}: no toolkit has lib{name}: make libraries fetches them")
    versions = {}
    if one(rule, "version") == "wheel":
        known = numbers(name)
        # What goes with a CUDA has not each later version: cuDNN 9.10 is the last for 11.
        shipping = {toolkit: OLDEST.get(toolkit.removeprefix("cu"), toolkit) for toolkit in known
                    if toolkit[0].isdigit() or toolkit.removeprefix("cu") in OLDEST}
        found, versions, called = numbered(found, known)
        for version, number in called.items():
            words += ["--called", f"{version} {number}"]
        for toolkit in sorted(shipping, key=lambda each: float(shipping[each])):
            words += ["--ships", f"{shipping[toolkit]} {versions[toolkit]}"]
    for toolkit, path in found:
        major = f"={toolkit.removeprefix('cu')}" if one(rule, "majors") == "cuda" else ""
        words += ["--from", f"{path}{major}"]
        if toolkit in versions:
            words += ["--version", versions[toolkit]]
        place = path.parent.relative_to(args.cuda / toolkit / ARCH).as_posix()
        if not place.startswith("nvidia/"):
            words += ["--folder", place]
        folders = includes(args.cuda, args.toolkits, toolkit)
        for folder in folders:
            words += ["--include", folder]
        for header in rule.get("header", []):
            if any((folder / header).exists() for folder in folders):
                words += ["--header", header]
    return [str(word) for word in words]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", help="this library; may be given again")
    parser.add_argument("--verbose", "-v", action="store_true", help="say all that is found")
    parser.add_argument("--scan", required=True)
    parser.add_argument("--libclang", required=True)
    parser.add_argument("--toolkits", type=pathlib.Path, required=True)
    parser.add_argument("--cuda", type=pathlib.Path, required=True)
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True)
    args = parser.parse_args()
    rules = read_rules()
    for name in args.only or rules:
        done = subprocess.run([args.scan, "--own", *arguments(args, name, rules[name]), "-o",
                               args.output / f"{name}.txt"], capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{name}: {done.stderr.strip()}")
        if args.verbose:
            print(f"{name}\n{done.stdout}", end="", flush=True)


if __name__ == "__main__":
    main()
