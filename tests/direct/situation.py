# SPDX-License-Identifier: MIT
"""One program in one world, linked directly to a real library and through its stub.

A row of the table in test_direct.py is a Row.  What it names is compiled twice: linked to
the libraries themselves, and to their stubs (the import library of that major, where there
is one).  Both programs run in a world of the same files and variables, and what they print
and how they end is compared.
"""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass

import pytest

import build
import fakes
import library_lists
import sanitizer
from world import World

HERE = pathlib.Path(__file__).resolve().parent
CXX = shlex.split(os.environ.get("CXX", "c++"))
THREAD_SANITIZER = "-fsanitize=thread"
# How flags begin that a compiler without a linker has no use for.
LINKING = ("-Wl,", "-shared", "-static", "-l")


@dataclass(frozen=True)
class Real:
    """A library of NVIDIA's, of build/toolkits: Real("nvJitLink", "12.9")."""
    name: str
    version: str

    def file(self, real):
        found = real(self.version).file(self.name)
        if not found:
            pytest.skip(f"CUDA {self.version} has no {self.name}")
        return found

    @property
    def major(self):
        return int(self.version.partition(".")[0])


class Fake(Real):
    """One of tests/fakes, which has all functions of that version."""

    def file(self, _real):
        return fakes.fake(self.name, self.version)


class Listed(Real):
    """A library of libraries/ with all functions that its list has for that major; each returns a
    number of its own."""

    def file(self, _real):
        listed = library_lists.read(self.name)
        soname = listed.sonames[self.major]
        text = "".join(f"long {name}(void) {{ return {number}; }}\n"
                       for number, name in enumerate(listed.exported(self.major), 1000))
        script = build.text(f"{soname} {{ global: *; }};\n", "map")
        return build.compile(soname, "-w", "-fno-builtin", "-shared", "-fPIC",
                             f"-Wl,-soname,{soname}", f"-Wl,--version-script={script}",
                             build.text(text, "c"))


@dataclass(frozen=True)
class StandIn:
    """A library made of a source beside this file, with the SONAME and version node of the real
    one: StandIn("cudart", 12, "slow_registration_real.c")."""
    name: str
    major: int                  # of CUDA
    source: str
    soname: str = None          # where symbols.txt does not list the library
    node: bool = True           # whether its names have a version
    flags: tuple = ()
    needs: tuple = ()           # Fake, StandIn: what it is linked to

    def file(self, real):
        soname = self.soname or fakes.soname(self.name, f"{self.major}.0")
        return made(self.source, name=soname, real=True, node=soname if self.node else None,
                    flags=("-shared", "-fPIC", f"-Wl,-soname,{soname}", *self.flags),
                    link=[one.file(real) for one in self.needs])


@dataclass(frozen=True)
class Shared:
    """A shared library of a source beside this file, linked to no CUDA: what is preloaded."""
    source: str
    node: str = None            # the version of all that it defines
    flags: tuple = ()
    names: object = None        # the source includes NAMES, a line HOOK(name) for each of these
                                # functions, or of all of a library's

    def file(self):
        flags = self.flags
        if self.names:
            names = self.names if isinstance(self.names, tuple) else names_of(self.names.file(None))
            hooks = build.text("".join(f"HOOK({name})\n" for name in names), "h")
            flags += (f'-DNAMES="{hooks}"',)
        return made(self.source, name=f"lib{pathlib.Path(self.source).stem}.so", node=self.node,
                    flags=("-shared", "-fPIC", *flags))


def names_of(file):
    """The functions that a library exports."""
    said = build.run("nm", "-D", "--defined-only", file, check=True).stdout
    return re.findall(r" [TW] (\w+)", said)


def beside(world, *files):
    """They lie where only "$ORIGIN/../cuda" leads, from the program's folder and its extensions'."""
    world.put("cuda", *files)


def on_library_path_and_listed(world, *files):
    """Beside the program stands a list of all functions of the first of them."""
    on_library_path(world, *files)
    (world.folder("app") / "names").write_text("".join(f"{name}\n" for name in names_of(files[0])))


def on_library_path(world, *files):
    """The real libraries lie on LD_LIBRARY_PATH."""
    world.loader(*files, folder="cuda")


@dataclass(frozen=True)
class Row:
    name: str
    source: str                 # .c or .cpp: a program, linked to the libraries; .py: run by Python
    libraries: tuple            # Real, Fake, StandIn
    extensions: tuple = ()      # sources of shared libraries that are linked to them, too, and
                                # lie beside the program: extension.cpp is libextension.so there
    arguments: tuple = ()
    env: dict = None
    preload: tuple = ()         # Shared
    flags: tuple = ()           # of compiler and linker, for program and extensions
    program_flags: tuple = ()   # for the program alone, instead of those
    static: str = None          # the program is linked so, to no library: "static", "static-pie"
    under: tuple = ()           # a command that runs the program: ("valgrind", "-q")
    # Puts the files of the libraries somewhere: place(world, *files); and sets what else is to
    # be so on this machine.  The program lies in the folder app.
    place: Callable = on_library_path
    timeout: int = 60
    status: int = 0             # how it ends if linked directly
    # Where the two are not equal: better(direct, stub) is true if the stub's is the better...
    better: Callable = None
    # ... and a known difference is what the stub's program prints and how it ends; the page
    # docs/reference/how-it-works.md has it under Limits.
    differs: "Outcome" = None
    shared: bool = False        # about what only a stub in a file of its own has: names that others
                                # see, and callers whose imports can be read


@dataclass(frozen=True)
class Outcome:
    """What a program printed, and its exit status: "hangs" if it did not end."""
    out: str
    status: object = 0


def compiler(source):
    """The compiler of a source, and what standard it is told."""
    if not source.endswith(".cpp"):
        return build.CC, "-std=gnu11"
    if not shutil.which(CXX[0]):
        pytest.skip(f"there is no C++ compiler {CXX[0]} (Debian: apt install g++)")
    return CXX, "-std=gnu++14"


def made(source, name, node=None, flags=(), link=(), real=False):
    """The file that is made of a source, under the sanitizer of this run: real libraries have
    none."""
    cc, standard = compiler(source)
    own = (standard, "-g", "-Wall", "-Wextra", "-Werror",
           *(() if real else build.sanitizer_flags(flags, build.CC)))
    script = (f"-Wl,--version-script={build.text(f'{node} {{ global: *; }};', 'map')}",) if node else ()
    # One object for what is linked directly and to a stub.
    compiled = build.compile(f"{pathlib.Path(source).stem}.o", "-c", *own, HERE / source,
                             *(flag for flag in flags if not str(flag).startswith(LINKING)), "-pthread", cc=cc)
    return build.compile(name, *own, compiled, *flags, *script, "-pthread", cc=cc, link=(*link, "-ldl"))


def linked(row, libraries):
    """The program of a row and its extensions, linked to these files."""
    common = ("-Wl,--as-needed", "-Wl,--allow-shlib-undefined",
              f"-Wl,-rpath,{build.STUBS}:{build.BUILD / 'lib'}")
    for source in row.extensions:
        yield made(source, f"lib{pathlib.Path(source).stem}.so",
                   flags=("-shared", "-fPIC", *row.flags, *common), link=libraries)
    if not row.source.endswith(".py"):
        yield made(row.source, pathlib.Path(row.source).stem,
                   flags=(f"-{row.static}",) if row.static else
                   (*(row.program_flags or row.flags), *common),
                   link=() if row.static else libraries)


def stub_of(library):
    """What a program for that library's major links."""
    imported = build.import_library(library.name, library.major)
    # Sanitizers are for the five.
    own = build.BUILD / "lib"
    return next(file for file in (imported, build.stub(library.name), own / f"cuda{library.major}" /
                                  imported.name, build.stub(library.name, own)) if file.exists())


def embedded(libraries):
    """The same stubs as one C file for each CUDA, compiled: program and extensions have a copy each."""
    for major in {library.major for library in libraries}:
        names = [build.stub_name(one.name)[3:-8] for one in libraries if one.major == major]
        yield build.embedded(major, *dict.fromkeys(names))


def run(row, root, files, libraries):
    """The outcome of a row's program, linked to `libraries`, where `files` are the real ones."""
    world = World(root)
    if THREAD_SANITIZER in row.flags:
        why = next(one for one in sanitizer.SANITIZERS if one.name == "thread").why_not()
        if why:
            pytest.skip(f"the thread sanitizer does not run here: {why}")
    app = world.put("app", *linked(row, libraries))
    row.place(world, *files)
    program = ([app / pathlib.Path(row.source).stem] if not row.source.endswith(".py") else
               [sys.executable, "-I", HERE / row.source, app])
    if row.under and not shutil.which(row.under[0]):
        pytest.skip(f"there is no {row.under[0]} (Debian: apt install {row.under[0]})")
    program[:0] = row.under
    env = {**(row.env or {})}
    if row.preload:
        env["LD_PRELOAD"] = ":".join(str(one.file()) for one in row.preload)
    try:
        done = world.run(*program, *row.arguments, check=False, timeout=row.timeout, **env)
    except subprocess.TimeoutExpired as late:
        return Outcome((late.stdout or b"").decode(errors="replace"), "hangs"), ""
    return Outcome(done.out, done.status), done.err


def check(row, root, real, stubs=lambda libraries: [stub_of(one) for one in libraries]):
    """Fails unless a row's program is as well off with the stubs as without them."""
    files = [library.file(real) for library in row.libraries]
    direct, said = run(row, root / "direct", files, files)
    if build.SANITIZER:
        build.SANITIZER.take_findings()     # they are not the stub's
    assert direct.status == row.status and direct.out, f"linked directly: {direct}\n{said}"
    stub, said = run(row, root / "stub", files, [*stubs(row.libraries)])
    if stubs == embedded and (stub == direct or row.status and not stub.status):
        return      # as well off, also where the shared stub is not
    if row.differs:
        assert stub == row.differs, f"stub {stub}\n{said}"
        assert direct != stub, "the difference is gone: take it from the row and from the page"
    elif stub != direct:
        assert row.better and row.better(direct, stub), f"{said}\ndirect {direct}\nstub   {stub}"
