# SPDX-License-Identifier: MIT
"""Where things are, and compiling small C programs once.

What is compiled lies in build/tests/bin under a name that carries a hash of the
command and of every file it names, so a second run compiles nothing and two
tests may ask for the same program at the same time.
"""
import contextlib
import fcntl
import functools
import hashlib
import os
import pathlib
import platform
import re
import shlex
import shutil
import subprocess
import tempfile

import sanitizer

ROOT = pathlib.Path(__file__).resolve().parents[2]
# What is fetched, and what the tests make.
BUILD = ROOT / "build"
SANITIZER = sanitizer.current()
# What make has built: libraries, tool, generators.
BUILT = SANITIZER.folder if SANITIZER else BUILD
STUBS = BUILT / "lib"
TOOL = BUILT / "bin" / "lazycuda"
# The Python code, as it lies when it is installed; some of it is written by make.
PYTHON = BUILD / "share/lazycuda/python"
TESTS = ROOT / "tests"
BIN = BUILD / "tests" / "bin"
SYMBOLS = ROOT / "symbols.txt"
ARCH = platform.machine()
CC = shlex.split(os.environ.get("CC", "cc"))

LIBRARIES = ("cudart", "nvrtc", "nvJitLink")
# Those of the list, the newest first.
MAJORS = tuple(sorted({int(major) for line in SYMBOLS.read_text().splitlines()
                       if line.startswith("toolkits ")
                       for major in re.findall(r"(\d+)\.", line)}, reverse=True))
# Those that come with the driver and have no majors.
DRIVER = ("cuda", "nvml")
STUBBED = LIBRARIES + DRIVER


def stub_name(library):
    return f"lib{ {'nvml': 'nvidia-ml'}.get(library, library)}_stub.so"


def stub(library, stubs=STUBS):
    return stubs / stub_name(library)


def import_library(library, major, stubs=STUBS):
    return stubs / f"cuda{major}" / stub_name(library)


@functools.lru_cache(maxsize=None)
def digest(path, _modified):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


@contextlib.contextmanager
def locked(file):
    """What is made with this file locked is made by one process, and others wait for that."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with open(file, "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def optimised():
    """Whether make compiled with optimisation; figures of size and work hold for that."""
    return "-O0" not in (BUILD / "flags").read_text().split()


def room(*folders):
    """The C sources of folders of the tree: room("stubs/base")."""
    return [file for folder in folders for file in sorted((ROOT / folder).glob("*.c"))]


# How gen/scan is compiled.
SCANNER = ["-std=gnu11", "-D_GNU_SOURCE", *room("gen/scan", "gen/model", "stubs/base"), "-ldl"]


def compile(name, *arguments, cc=CC, link=()):
    """The file that `cc arguments link -o name` makes.  Files among the arguments
    are given as Path; a C or C++ file brings the headers beside it and ours along.  Libraries in
    `link` may lie anywhere: they count by their names and by what is in them."""
    key = hashlib.sha256()
    for word in link:
        file = pathlib.Path(word)
        key.update((f"{file.name}\0{digest(file, file.stat().st_mtime_ns)}\0" if file.is_file()
                    else f"{word}\0").encode())
    for argument in (*cc, *arguments):
        key.update(f"{argument}\0".encode())
        if isinstance(argument, pathlib.Path) and argument.is_file():
            headers = [file for folder in (argument.parent, ROOT / "include", TESTS / "lib")
                       for file in folder.glob("*.h")] if (
                argument.suffix in (".c", ".cpp")) else ()
            for file in (argument, *sorted(headers)):
                key.update(digest(file, file.stat().st_mtime_ns).encode())
    output = BIN / key.hexdigest()[:16] / name
    if output.exists():
        return output
    output.parent.mkdir(parents=True, exist_ok=True)
    with locked(BIN / "locks" / output.parent.name), \
            tempfile.TemporaryDirectory(dir=output.parent) as folder:
        if output.exists():
            return output       # another process was faster
        made = pathlib.Path(folder) / name
        command = [*cc, *map(str, (*arguments, *link)), "-o", str(made)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise CompileError(f"{shlex.join(command)}\n{done.stderr}")
        made.replace(output)
    return output


@functools.lru_cache(maxsize=None)
def sanitizing():
    """Flags for a program that reads damaged input: sanitizers, where the compiler has
    them.  clang's are a package of their own on Debian; then a crash alone is seen."""
    flags = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
    try:
        compile("sanitizes", *flags, TESTS / "sanitize" / "works.c")
    except CompileError:
        return ()
    return flags


def sanitized_gen():
    """gen/gen with these."""
    return compile("gen", "-std=gnu11", "-g", "-Wall", "-Wextra", "-Werror", *sanitizing(), *room("gen", "gen/model"))


def text(content, suffix):
    """A file of this text, or these bytes, named after it."""
    content = content.encode() if isinstance(content, str) else content
    path = BIN / "texts" / f"{hashlib.sha256(content).hexdigest()[:16]}.{suffix}"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(f".{os.getpid()}")
        part.write_bytes(content)
        part.replace(path)
    return path


class CompileError(Exception):
    pass


def run(*command, **options):
    """What a command came to: its status, and what it printed."""
    if "input" not in options:
        options.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.run(command, capture_output=True, text=True, **options)


def output(*command):
    """What a command prints."""
    return run(*map(str, command), check=True).stdout


def program(source, *arguments, name=None, cc=CC):
    """Compile a test program; warnings are errors."""
    return compile(name or source.stem, "-std=gnu11", "-g", "-Wall", "-Wextra", "-Werror",
                   *sanitizer_flags(arguments, cc), "-I", ROOT / "include", source, *arguments,
                   "-ldl", "-pthread", cc=cc)


def sanitizer_flags(arguments, cc):
    """Those of this run, unless a program has some of its own."""
    if not SANITIZER or cc != CC or any("-fsanitize" in str(word) for word in arguments):
        return []
    return SANITIZER.flags


LINKS = tempfile.TemporaryDirectory(prefix="lazycuda-tests-")


def without_spaces(path):
    """A path to the same file or folder for where a space ends a path, such as PIP_FIND_LINKS."""
    path = pathlib.Path(path)
    if " " not in str(path):
        return path
    link = pathlib.Path(LINKS.name) / hashlib.sha256(bytes(path)).hexdigest()[:8] / "it"
    link.parent.mkdir(exist_ok=True)
    if not link.is_symlink():
        link.symlink_to(path.parent)
    return link / path.name


def preloaded(paths):
    """Paths for LD_PRELOAD, in which a space ends a path."""
    return ":".join(str(without_spaces(path)) for path in str(paths).split(":"))


def environment(program, given):
    """What a program is given, and what it needs beside that under a sanitizer."""
    made = {**given, **(SANITIZER.environment(program, given) if SANITIZER else {})}
    if made.get("LD_PRELOAD"):
        made["LD_PRELOAD"] = preloaded(made["LD_PRELOAD"])
    return made


def shared(source, *arguments, name=None, cc=CC):
    """Compile a shared library for a test."""
    return program(source, "-shared", "-fPIC", *arguments,
                   name=name or f"lib{source.stem}.so", cc=cc)


# What is the same in every build that has the same of these settings.
ALIKE = ("flags", "gen", "generated", "lib", "libexec", "obj")
SETTINGS = ("CC=", "CFLAGS=", "CPPFLAGS=", "LDFLAGS=", "SOVERSION=")


@functools.lru_cache(maxsize=None)
def embedded(major, *libraries):
    """An archive with what `lazycuda embed` writes: as with an import library, only who calls it has it."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "stubs.c"
        output(TOOL, "embed", "--cuda", major, "-o", file, *libraries)
        source = text(file.read_text(), "c")
    made = compile("stubs.o", "-c", "-Os", "-fPIC", "-Wall", "-Wextra", "-Werror", source)
    archive = made.with_suffix(".a")
    output("ar", "rcsD", archive, made)
    return archive


def begin(folder):
    """Begin a build with what `make` has built; what differs, make builds again.  Who calls
    this has locked make_lock(folder)."""
    if SANITIZER or folder.exists():
        return
    part = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    there = [BUILT / name for name in ALIKE if (BUILT / name).exists()]
    subprocess.run(["cp", "-a", *there, part], check=True)
    for file in part.rglob("*.d"):      # the headers that objects depend on
        file.write_text(file.read_text().replace(f"{BUILT.relative_to(ROOT)}/",
                                                 f"{os.path.relpath(folder, ROOT)}/"))
    part.rename(folder)


def make_lock(folder=BUILD):
    """What is locked while make builds in this folder."""
    return BIN / "locks" / f"make-{hashlib.sha256(bytes(folder)).hexdigest()[:16]}"


def made_at(folder):
    """What to tell make for BUILD: from the tree, whose own path may have spaces."""
    return f"BUILD={os.path.relpath(folder, ROOT)}"


def without_make():
    """The environment, but for what `make test` was called with: that is for no other make."""
    return {name: value for name, value in os.environ.items() if "MAKE" not in name}


@functools.lru_cache(maxsize=None)
def make(*arguments):
    """Build the project another way, say with BUILD=... CFLAGS=...; each way for itself."""
    words = [str(word) for word in arguments]
    folder = ROOT / next((word[len("BUILD="):] for word in words if word.startswith("BUILD=")),
                         BUILD)
    with locked(make_lock(folder)):
        if not any(word.startswith(SETTINGS) for word in words):
            begin(folder)
        done = subprocess.run(["make", "-C", ROOT, *words], env=without_make(), capture_output=True,
                              text=True)
    assert done.returncode == 0, done.stdout + done.stderr
