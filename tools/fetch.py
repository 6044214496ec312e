#!/usr/bin/env python3
"""Fetch real CUDA libraries and headers from PyPI into a folder.

    tools/fetch.py [options] DEST VERSION...        VERSION: 12.9, or "all"
    tools/fetch.py --table tools/libraries.txt DEST cu12

Each toolkit becomes DEST/VERSION/ARCH/, laid out as pip lays out its
site-packages, so that it can stand in for one:

    DEST/12.9/x86_64/nvidia/cuda_runtime/lib/libcudart.so.12

What is there already is not fetched again.  A wheel appears whole or not at
all.  Which wheels these are is said in toolkits.txt beside this file.

Exit status: 0 all there, 1 something could not be fetched, 2 wrong usage.
"""
import argparse
import concurrent.futures
import functools
import importlib.util
import pathlib
import platform
import re
import subprocess
import sys
import tempfile
import threading
import venv
import zipfile

TABLE = pathlib.Path(__file__).resolve().parent / "toolkits.txt"

# pip matches manylinux tags exactly; NVIDIA's wheels carry one of these.
TAGS = ("manylinux1", "manylinux2010", "manylinux2014",
        "manylinux_2_5", "manylinux_2_12", "manylinux_2_17", "manylinux_2_27")

# What is unpacked of a wheel: shared libraries and headers.  Static archives,
# the slower "alt" build of nvrtc and the compiler itself stay out.
KEEP_LIB = re.compile(r"/lib/lib[^/]*\.so[^/]*$")
KEEP_HEADER = re.compile(r"/include/")
KEEP_CRT = re.compile(r"/include/(crt|nvvm)/|/include/fatbinary_section\.h$")
DROP = re.compile(r"\.alt\.so|/stubs/")
# Parts that are headers alone, the same on every CPU.
HEADERS = ("crt", "nvml")


def read_table(table=TABLE):
    """[(toolkit, part, package, wheel version, architectures)]"""
    rows = []
    for number, line in enumerate(pathlib.Path(table).read_text().splitlines(), 1):
        fields = line.split("#")[0].split()
        if not fields:
            continue
        if len(fields) != 5:
            sys.exit(f"{table}:{number}: five columns expected, {len(fields)} found")
        rows.append((*fields[:4], fields[4].split(",")))
    return rows


def toolkits(table=TABLE):
    """Every toolkit of the table, oldest first."""
    return list(dict.fromkeys(row[0] for row in read_table(table)))


def wanted_member(name, part):
    if DROP.search(name):
        return False
    if part == "crt":
        return bool(KEEP_CRT.search(name))
    if part.startswith("lib"):
        # These alone: others of the wheel are large.
        return bool(KEEP_HEADER.search(name)) or name.split("/")[-1].partition(".so")[0] in (
            part.split(","))
    return bool(KEEP_LIB.search(name) or KEEP_HEADER.search(name))


_pip_lock = threading.Lock()


@functools.lru_cache(maxsize=None)
def pip_python(dest):
    """A Python that has pip: this one, or one in an environment made for it;
    None if there can be none."""
    if importlib.util.find_spec("pip"):
        return sys.executable
    if not importlib.util.find_spec("ensurepip"):
        return None
    venv.create(dest / ".pip", with_pip=True)
    return str(dest / ".pip/bin/python")


def fetch_wheel(root, part, package, version, arch):
    """Unpack one wheel into root; return None, or why it could not be."""
    stamp = root / ".fetched" / f"{package}-{version}"
    if stamp.exists():
        return None
    root.mkdir(parents=True, exist_ok=True)
    with _pip_lock:
        python = pip_python(root.parent.parent)
    if not python:
        return (f"{package}=={version} ({arch}): this Python has no pip "
                "(Debian: apt install python3-venv)")
    with tempfile.TemporaryDirectory(dir=root, prefix=".fetch-") as tmp:
        tags = [word for tag in TAGS for word in ("--platform", f"{tag}_{arch}")]
        pip = subprocess.run(
            [python, "-m", "pip", "download", "--quiet", "--no-deps",
             "--disable-pip-version-check", "--no-cache-dir",
             "--only-binary=:all:", *tags, "--dest", tmp, f"{package}=={version}"],
            stdin=subprocess.DEVNULL, capture_output=True, text=True)
        wheels = list(pathlib.Path(tmp).glob("*.whl"))
        if pip.returncode or not wheels:
            last = (pip.stderr.strip() or "pip gave no reason").splitlines()[-1]
            return f"{package}=={version} ({arch}): {last}"
        unpacked = pathlib.Path(tmp) / "unpacked"
        with zipfile.ZipFile(wheels[0]) as wheel:
            for name in wheel.namelist():
                if wanted_member(name, part):
                    wheel.extract(name, unpacked)
        # Wheels of one toolkit share folders: merge file by file.
        for source in sorted(unpacked.rglob("*")):
            target = root / source.relative_to(unpacked)
            if source.is_dir():
                target.mkdir(parents=True, exist_ok=True)
            else:
                source.replace(target)
        stamp.parent.mkdir(exist_ok=True)
        stamp.write_text("")
    return None


def fetch(dest, versions, parts=None, arch=None, jobs=4, table=TABLE):
    """Fetch toolkits below dest; return the list of failures, one line each."""
    arch = arch or platform.machine()
    dest = pathlib.Path(dest)
    rows = read_table(table)
    # Of headers alone there is one wheel, for every CPU that the toolkit has libraries for.
    has = {row[0] for row in rows if row[1] not in HEADERS and arch in row[4]}
    work = []
    for toolkit, part, package, version, arches in rows:
        if toolkit not in versions or (parts and part not in parts):
            continue
        if arch in arches or (part in HEADERS and toolkit in has):
            work.append((dest / toolkit / arch, part, package, version,
                         "x86_64" if part in HEADERS else arch))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        return [why for why in pool.map(lambda row: fetch_wheel(*row), work) if why]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dest")
    parser.add_argument("versions", nargs="+", metavar="VERSION")
    parser.add_argument("--arch", help="default: this machine's")
    parser.add_argument("--parts",
                        help="some of cudart,nvrtc,nvjitlink,nvfatbin,crt,nvml; default: all")
    parser.add_argument("--table", default=TABLE, help="default: toolkits.txt beside this file")
    args = parser.parse_args()
    known = toolkits(args.table)
    versions = known if args.versions == ["all"] else args.versions
    for version in versions:
        if version not in known:
            parser.error(f"no toolkit {version}; there are {' '.join(known)}")
    failures = fetch(args.dest, versions, args.parts and args.parts.split(","), args.arch,
                     table=args.table)
    for why in failures:
        print(f"fetch: {why}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
