#!/usr/bin/env python3
"""Fetch real CUDA libraries and headers from PyPI into a folder.

    tools/upkeep/fetch.py [options] DEST VERSION...        VERSION: 12.9, all, or newest,
                                                           that of each CUDA
    tools/upkeep/fetch.py --table tools/upkeep/libraries.txt DEST cu12
    tools/upkeep/fetch.py --table tools/upkeep/cuda.txt --skeletons DEST all
    tools/upkeep/fetch.py --table tools/upkeep/nvcc.txt DEST all
    tools/upkeep/fetch.py --table tools/upkeep/nvvm.txt DEST all
    tools/upkeep/fetch.py --table tools/upkeep/compilers.txt DEST all

Each toolkit becomes DEST/VERSION/ARCH/, laid out as pip lays out its
site-packages, so that it can stand in for one:

    DEST/12.9/x86_64/nvidia/cuda_runtime/lib/libcudart.so.12

What is there already is not fetched again, unless a file of it is missing or
has another size.  What is fetched of a wheel counts when all of it is there; two
processes may fetch the same.  Which wheels these are is said in toolkits.txt
beside this file.  With --skeletons a library is kept as far as it says what it
exports: of some gigabytes that is a few megabytes.

Exit status: 0 all there, 1 something could not be fetched, 2 wrong usage.
"""
import argparse
import concurrent.futures
import contextlib
import dataclasses
import fcntl
import pathlib
import platform
import re
import shutil
import signal
import subprocess
import sys
import threading
import zipfile
import zlib

import run_pip
import skeleton

TABLE = pathlib.Path(__file__).resolve().parent / "toolkits.txt"

# pip matches manylinux tags exactly; NVIDIA's wheels carry one of these.
TAGS = ("manylinux1", "manylinux2010", "manylinux2014",
        "manylinux_2_5", "manylinux_2_12", "manylinux_2_17", "manylinux_2_18", "manylinux_2_25",
        "manylinux_2_27", "manylinux_2_28")

# What is unpacked of a wheel: shared libraries and headers.  Static archives,
# the slower "alt" build of nvrtc and the compiler itself stay out.
KEEP_LIB = re.compile(r"/lib/lib[^/]*\.so[^/]*$")
KEEP_HEADER = re.compile(r"/include/")
KEEP_CRT = re.compile(r"/include/(crt|nvvm)/|/include/fatbinary_section\.h$")
DROP = re.compile(r"\.alt\.so|/stubs/")
# Of nvcc.txt, nvvm.txt and compilers.txt.
KEEP_TOOLS = {
    "clang": re.compile(r"^ziglang/zig$"),
    "triton": re.compile(r"^triton/(?!_C/libproton|backends/amd/lib/|backends/nvidia/lib/cupti)|"
                         r"^[^/]+\.dist-info/"),
    "nvcc": re.compile(r"^nvidia/\w+/bin/"),
    "cicc": re.compile(r"^nvidia/\w+/nvvm/(bin|libdevice)/"),
    "cudadevrt": re.compile(r"/libcudadevrt\.a$"),
    "ptxas": re.compile(r"^nvidia/\w+/bin/ptxas$"),
    "tileiras": re.compile(r"^nvidia/\w+/bin/tileiras$|^[^/]+\.dist-info/RECORD$"),
    "nvvm": re.compile(r"^nvidia/\w+/(nvvm/(lib64|libdevice)/|lib/libnvvm\.)|^[^/]+\.dist-info/RECORD$"),
}
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


def newest(table=TABLE):
    """{major of CUDA: its newest toolkit}"""
    return {version.partition(".")[0]: version for version in toolkits(table) if version[0].isdigit()}


def wanted_member(name, part):
    if DROP.search(name):
        return False
    if part in KEEP_TOOLS:
        return bool(KEEP_TOOLS[part].search(name))
    if part == "crt":
        return bool(KEEP_CRT.search(name))
    if part.startswith("lib"):
        # These alone: others of the wheel are large.
        return bool(KEEP_HEADER.search(name)) or name.split("/")[-1].partition(".so")[0] in (
            part.split(","))
    return bool(KEEP_LIB.search(name) or KEEP_HEADER.search(name))


class Stopped(Exception):
    """No more wheels are wanted."""


@dataclasses.dataclass
class Wheel:
    """A wheel to be fetched."""
    root: pathlib.Path
    part: str
    package: str
    version: str
    arch: str

    def __str__(self):
        return f"{self.package}=={self.version} ({self.arch})"

    @property
    def temporary(self):
        return self.root / f".fetch-{self.package}-{self.version}"

    @property
    def stamp(self):
        """Says which files of the wheel are there.  It is locked while they are put there."""
        return self.root / ".fetched" / f"{self.package}-{self.version}"

    def is_whole(self):
        """Whether each file of this wheel is there, and as long as it was.  A stamp that was not
        finished, or an empty one, says no."""
        try:
            head, *rows = self.stamp.read_text().splitlines()
            return head == f"{len(rows)} files" and all(
                (self.root / path).stat().st_size == int(length)
                for length, path in (row.split(" ", 1) for row in rows))
        except (OSError, ValueError):
            return False


def write_stamp(file, root, paths):
    rows = [f"{(root / path).stat().st_size} {path}\n" for path in paths]
    file.write(f"{len(rows)} files\n" + "".join(rows))


# ---- one wheel ----

class Fetching:
    """The fetching of some wheels, a few at a time."""

    def __init__(self, pip, wheels, skeletons):
        self.pip = pip
        self.skeletons = skeletons
        self.wheels = wheels
        self.fetched = 0
        self.running = set()
        self.lock = threading.Lock()
        self.stopped = None     # why no more are to be fetched

    def stop(self, why):
        with self.lock:
            self.stopped = self.stopped or why
            for process in self.running:
                process.terminate()

    def download(self, wheel):
        """(None, the file that pip puts into the wheel's temporary folder), or (why not, None)."""
        tags = [word for tag in TAGS for word in ("--platform", f"{tag}_{wheel.arch}")]
        words = [*self.pip, "download", "--no-deps", "--no-cache-dir", "--no-input",
                 "--only-binary=:all:", *tags,
                 "--dest", str(wheel.temporary / "made"), f"{wheel.package}=={wheel.version}"]
        with self.lock:
            if self.stopped:
                raise Stopped(self.stopped)
            # stderr in no file: the error may be that a disk is full.
            process = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                text=True, env={**run_pip.environment(), "TMPDIR": str(wheel.temporary)})
            self.running.add(process)
        said = process.communicate()[1]
        with self.lock:
            self.running.remove(process)
            if self.stopped:
                raise Stopped(self.stopped)
        made = list((wheel.temporary / "made").glob("*.whl"))
        return (run_pip.reason(said), None) if process.returncode or not made else (None, made[0])

    def unpack(self, wheel, file):
        """Puts the wanted members into place, and returns their paths.  Wheels of one toolkit share
        folders: they are merged file by file."""
        unpacked = wheel.temporary / "unpacked"
        with zipfile.ZipFile(file) as opened:
            for member in opened.infolist():
                if wanted_member(member.filename, wheel.part):
                    path = pathlib.Path(opened.extract(member, unpacked))
                    if wheel.part in KEEP_TOOLS and not member.is_dir():
                        path.chmod(0o755 if member.external_attr >> 16 & 0o100 else 0o644)
        files = sorted(path for path in unpacked.rglob("*") if not path.is_dir())
        for path in files:
            if self.skeletons and ".so" in path.name:
                skeleton.reduce(path)
            target = wheel.root / path.relative_to(unpacked)
            target.parent.mkdir(parents=True, exist_ok=True)
            path.replace(target)
        return [path.relative_to(unpacked) for path in files]

    def fill(self, wheel, stamp_file):
        shutil.rmtree(wheel.temporary, ignore_errors=True)     # of one that was killed
        wheel.temporary.mkdir()
        try:
            why, file = self.download(wheel)
            if not why:
                size, paths = file.stat().st_size, self.unpack(wheel, file)
                stamp_file.truncate(0)
                write_stamp(stamp_file, wheel.root, paths)
                self.say(wheel, size)
            return why
        finally:
            shutil.rmtree(wheel.temporary, ignore_errors=True)

    def say(self, wheel, size):
        with self.lock:
            self.fetched += 1
            print(f"fetch: {wheel}: {size / 1e6:.1f} MB, {self.fetched} of {len(self.wheels)}",
                  file=sys.stderr, flush=True)

    def fetch(self, wheel):
        """None, or why it could not be fetched."""
        wheel.stamp.parent.mkdir(parents=True, exist_ok=True)
        with open(wheel.stamp, "a") as stamp_file:
            fcntl.flock(stamp_file, fcntl.LOCK_EX)
            if wheel.is_whole():        # another process did it
                return None
            why = self.fill(wheel, stamp_file)
        if isinstance(why, run_pip.Unreachable) and not self.fetched:
            self.stop(why)
        return why

    def failure(self, wheel):
        """None, or a line that says which wheel could not be fetched, and why."""
        try:
            why = self.stopped or self.fetch(wheel)
        except Stopped as error:
            why = error
        except (OSError, ValueError, zipfile.BadZipFile, zlib.error) as error:
            why = f"{type(error).__name__}: {error}"
        return why and f"{wheel}: {why}"

    def run(self, jobs):
        """The failures.  Whatever ends this early ends the fetching as well."""
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            futures = [pool.submit(self.failure, wheel) for wheel in self.wheels]
            try:
                concurrent.futures.wait(futures)
            except BaseException:
                self.stop("interrupted")
                raise
        return [future.result() for future in futures if future.result()]


@contextlib.contextmanager
def ended_in_order():
    """SIGTERM ends this as Ctrl-C does: what is half made is removed."""
    def end(number, _frame):
        sys.exit(128 + number)

    try:
        before = signal.signal(signal.SIGTERM, end)
    except ValueError:          # not in the main thread
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def wheels_of(dest, versions, parts, arch, table):
    """The wheels that a table has for these versions and parts."""
    rows = read_table(table)
    # A part of headers alone is one wheel, for every CPU that the toolkit has libraries for.
    has = {row[0] for row in rows if row[1] not in HEADERS and arch in row[4]}
    return [Wheel(dest / toolkit / arch, part, package, version,
                  "x86_64" if part in HEADERS else arch)
            for toolkit, part, package, version, arches in rows
            if toolkit in versions and (not parts or part in parts)
            and (arch in arches or (part in HEADERS and toolkit in has))]


def fetch(dest, versions, parts=None, arch=None, jobs=4, table=TABLE, skeletons=False):
    """Fetch toolkits below dest; return the list of failures, one line each."""
    wheels = [wheel for wheel in wheels_of(pathlib.Path(dest), versions, parts,
                                           arch or platform.machine(), table)
              if not wheel.is_whole()]
    if not wheels:
        return []
    with ended_in_order():
        try:
            pip = run_pip.command()
        except run_pip.NoPip as why:
            return [f"{wheel}: {why}" for wheel in wheels]
        return Fetching(pip, wheels, skeletons).run(jobs)


def is_there(dest, version, parts=None, arch=None, table=TABLE):
    """Whether all these parts of a toolkit have been fetched."""
    return all(wheel.is_whole() for wheel in
               wheels_of(pathlib.Path(dest), [version], parts, arch or platform.machine(), table))


def summary(failures):
    """The failures, in one line for each reason."""
    reasons = {}
    for line in failures:
        wheel, _, why = line.partition(": ")
        reasons.setdefault(why, []).append(wheel)
    return [f"{len(wheels)} wheels ({wheels[0]} ...): {why}" if len(wheels) > 1 else
            f"{wheels[0]}: {why}" for why, wheels in reasons.items()]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dest")
    parser.add_argument("versions", nargs="+", metavar="VERSION")
    parser.add_argument("--arch", help="default: this machine's")
    parser.add_argument("--parts",
                        help="some of cudart,nvrtc,nvjitlink,nvfatbin,crt,nvml; default: all")
    parser.add_argument("--skeletons", action="store_true",
                        help="of libraries, keep only what says what they export")
    parser.add_argument("--table", default=TABLE, help="default: toolkits.txt beside this file")
    args = parser.parse_args()
    known = toolkits(args.table)
    called = {"all": known, "newest": newest(args.table).values()}
    versions = [version for word in args.versions for version in called.get(word, [word])]
    for version in versions:
        if version not in known:
            parser.error(f"no toolkit {version}; there are {' '.join(known)}")
    failures = fetch(args.dest, versions, args.parts and args.parts.split(","), args.arch,
                     table=args.table, skeletons=args.skeletons)
    for why in summary(failures):
        print(f"fetch: {why}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
