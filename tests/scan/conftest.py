# SPDX-License-Identifier: MIT
"""Toys for gen/scan: toolkits of one header and one library, made on the spot."""
import re

import pytest

import build
from lists import ERRORS

LIBCLANG = build.BUILD / "libclang" / "clang" / "native" / "libclang.so"

HINTS = f"""\
library thing
    stub libthing_stub.so
    variable LAZYCUDA_THING
{ERRORS}    status thingStatus
    folder lib 1.0-
    include include 1.0-
    parse c thing.h
"""

STATUS = "enum thingStatus { thingOk = 0 };\n"


@pytest.fixture(scope="session")
def program():
    """gen/scan, with sanitizers where the compiler has them."""
    return build.compile("scan", "-g", "-Wall", "-Wextra", "-Werror",
                         *build.sanitizing(), *build.SCANNER)


def run(program, *arguments):
    done = build.run(program, *map(str, arguments), timeout=60)
    assert done.returncode in (0, 1, 2), done.stderr
    assert "Sanitizer" not in done.stderr and "runtime error" not in done.stderr, done.stderr
    return done


@pytest.fixture(scope="session")
def scan(program):
    """Runs scan; it may succeed, differ or refuse, and nothing else."""
    return lambda *arguments: run(program, *arguments)


@pytest.fixture
def thing():
    """thing(names, soname, node) is a shared library."""
    def make(names, soname="libthing.so.1", node=None, source=None, flags=()):
        if source is None:
            source = "".join(f"int {name}(void) {{ return 0; }}\n" for name in names)
        script = node if node and "{" in node else \
            f"{node or soname} {{ global: {'; '.join(names) or 'none'}; local: *; }};"
        return build.compile(
            "libthing.so", "-shared", "-fPIC", "-nostdlib", "-Wl,--hash-style=gnu",
            f"-Wl,--version-script={build.text(script, 'map')}", *([f"-Wl,-soname,{soname}"] if soname else []),
            *flags, build.text(source, "c"))
    return make


class List:
    """What scan wrote, by blocks."""

    def __init__(self, text):
        self.text = text
        self.blocks = {}
        rows = None
        for line in text.splitlines():
            if line.startswith("    ") and rows is not None:
                rows.append(" ".join(line.split()))
            elif line and not line.startswith(("#", " ")):
                rows = self.blocks[line] = []

    @property
    def functions(self):
        return self.blocks["functions"]

    def function(self, name):
        return [row[len(name) + 1:] for row in self.functions if row.split()[0] == name]

    def struct(self, name):
        return self.blocks[f"struct {name}"]

    def sizes(self, name):
        return [row[5:] for row in self.struct(name) if row.startswith("size ")]

    def fields(self, name):
        return [row for row in self.struct(name) if row.startswith(".")]

    def structs(self):
        return [block.split()[1] for block in self.blocks if block.startswith("struct ")]


class Toolkits:
    """A folder of toolkits, as tools/upkeep/fetch.py lays them out."""

    base = HINTS

    def __init__(self, folder, scan, thing):
        self.folder = folder / "toolkits"
        self.folder.mkdir()
        self.scan = scan
        self.thing = thing
        self.hints = folder / "hints.txt"
        self.head = folder / "head"
        self.head.write_text("# The head.\n")
        self.list = folder / "symbols.txt"

    def add(self, version, header, names=None, status=STATUS, soname="libthing.so.1",
            cpus=("x86_64", "aarch64")):
        """Exports what the header declares, unless told otherwise."""
        if names is None:
            names = sorted(set(re.findall(r"\b(thing\w+)\(", header)))
        for cpu in cpus:
            site = self.folder / version / cpu
            (site / "include").mkdir(parents=True)
            (site / "lib").mkdir()
            (site / "include" / "thing.h").write_text(status + header + "\n")
            (site / "lib" / f"{soname}").symlink_to(self.thing(names, soname))
        return self

    def run(self, hints="", base=HINTS, libclang=LIBCLANG, flags=()):
        self.hints.write_text(base + hints)
        return self.scan("--toolkits", self.folder, "--hints", self.hints, "--head", self.head,
                         "--libclang", libclang, *flags, "-o", self.list)

    def derive(self, hints="", **more):
        done = self.run(hints, **more)
        assert done.returncode == 0, done.stderr
        return List(self.list.read_text())

    def refuse(self, hints="", **more):
        """What scan says as it refuses; it must leave no file behind."""
        before = sorted(self.list.parent.iterdir())
        done = self.run(hints, **more)
        assert done.returncode == 2, done.stdout + done.stderr
        assert not self.list.exists()
        assert sorted(self.list.parent.iterdir()) in (before, sorted([*before, self.hints]))
        return done.stderr.strip()


@pytest.fixture
def toolkits(tmp_path, scan, thing):
    if not LIBCLANG.exists():
        pytest.skip("there is no build/libclang: run make symbols once")
    return Toolkits(tmp_path, scan, thing)
