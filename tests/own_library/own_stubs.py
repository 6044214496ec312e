# SPDX-License-Identifier: MIT
"""Stubs that `lazycuda stub` makes, of libraries made up here."""
import hashlib
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import build

LIBCLANG = build.BUILD / "libclang" / "clang" / "native" / "libclang.so"


def library(folder, soname, source, script=None, named=True):
    """A shared library.  `script` is a version script; by default every function has
    the node that is called as the SONAME."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "source.c").write_text(source)
    made = folder / soname
    flags = [f"-Wl,-soname,{soname}"] if named else []
    if script is None:
        script = f"{soname} {{ global: *; }};\n"
    if script:
        (folder / "map").write_text(script)
        flags.append(f"-Wl,--version-script={folder / 'map'}")
    subprocess.run([*build.CC, "-O1", "-w", "-shared", "-fPIC", "-nostdlib", *flags,
                    folder / "source.c", "-o", made], check=True)
    return made


# A function that each has, and one that is its own.
BAR = "int barA(void) {{ return {0}1; }}\nint barB{0}(void) {{ return {0}2; }}\n"


def bar(folder, number, **options):
    return library(folder / f"real{number}", f"libbar.so.{number}", BAR.format(number), **options)


def run(*arguments, cwd=None):
    return build.run(*map(str, (build.TOOL, "stub", *arguments)), cwd=cwd, timeout=120,
                     env=build.environment(build.TOOL, os.environ))


def make(folder, *settings):
    """Builds what is there as its user would."""
    done = build.run("make", "-j2", "-C", folder, f"CC={' '.join(build.CC)}", *settings,
                     env=build.without_make())
    assert done.returncode == 0, done.stdout + done.stderr
    assert "warning" not in done.stderr, done.stderr
    return done.stdout


@dataclass
class Stub:
    folder: Path
    said: str

    @property
    def file(self):
        return next((self.folder / "build" / "lib").glob("lib*_stub.so"))

    def abi(self, major):
        return self.folder / "build" / "lib" / f"abi{major}" / self.file.name

    @property
    def list(self):
        return next(self.folder.glob("*.txt"))


def compiled(folder, *settings):
    """Where the objects are kept of what every stub has."""
    key = hashlib.sha256(repr((build.CC, settings)).encode())
    for file in sorted((folder / "stubs").rglob("*.[ch]")):
        key.update(file.read_bytes())
    return build.BIN.parent / "own-stubs" / key.hexdigest()[:16]


def make_from(kept, folder, *settings):
    """Builds what is there; what every stub has is compiled once."""
    objects = folder / "build" / "obj" / "stubs"
    if kept.is_dir():
        make(folder, *settings, "build/flags")      # of which objects may not be older
        shutil.copytree(kept, objects, copy_function=shutil.copyfile)
    make(folder, *settings)
    if not kept.is_dir():
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent) as new:
            shutil.copytree(objects, Path(new) / "kept")
            try:
                (Path(new) / "kept").rename(kept)
            except OSError:
                assert kept.is_dir()    # another process was faster


def stub(folder, *arguments):
    """The stub, built."""
    done = run(*arguments, "-o", folder)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    settings = ["CFLAGS=-O0 -g"]
    make_from(compiled(folder, *settings), folder, *settings)
    return Stub(folder, done.stdout)


def stub_of(folder, *files):
    """That of libbar.so; a file may have `=CUDA` behind its name."""
    return stub(folder / "bar", *[word for file in files for word in ("--from", file)], "--missing", "7")


def files(folder):
    """{name: (bytes, time)} of all below it but build/."""
    return {str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime_ns)
            for path in sorted(folder.rglob("*"))
            if path.is_file() and path.relative_to(folder).parts[0] != "build"}
