# SPDX-License-Identifier: MIT
"""What `make install` makes, as its users get it: put down with DESTDIR, then moved.

The build is one of its own, so that no other test's files change meanwhile.
"""
import hashlib
import os
import pathlib
import shutil
import subprocess
from dataclasses import dataclass

import build

OWN = build.BUILD / "tests" / "installed"


@dataclass
class Tree:
    prefix: pathlib.Path
    libdir: pathlib.Path

    @property
    def pkgconfig(self):
        return self.libdir / "pkgconfig"

    @property
    def cmake(self):
        return self.libdir / "cmake" / "lazycuda"

    def import_library(self, library, major):
        return build.import_library(library, major, self.libdir / "lazycuda")

    def compat(self, major):
        return self.libdir / "lazycuda" / f"compat{major}"


def made(own, words):
    """A folder whose dest/ is a DESTDIR after `make install` with these words: made once in a run
    of the tests, by whichever process asks first."""
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID", os.getpid())
    name = hashlib.sha256(repr((own, words)).encode()).hexdigest()[:16]
    folder = build.BUILD / "tests" / "tmp" / f"installed-{run}" / name
    with build.locked(folder.with_name(f"{name}.lock")):
        if not folder.exists():
            build.make(build.made_at(own), f"DESTDIR={folder}.part/dest", *words, "install")
            folder.with_name(f"{name}.part").rename(folder)
    return folder


def install(folder, *settings, prefix="/opt/lazycuda", lib="lib", own=OWN):
    """An install tree below folder/moved: nothing in it may know where it was made."""
    words = (f"PREFIX={prefix}", f"LIBDIR={prefix}/{lib}", *settings)
    subprocess.run(["cp", "-a", made(own, words) / "dest", folder], check=True)
    shutil.move(f"{folder}/dest{prefix}", folder / "moved")
    return Tree(folder / "moved", folder / "moved" / lib)


def numbered(folder, **more):
    """The same with a SOVERSION, of which there is a build of its own, too."""
    return install(folder, "SOVERSION=3", own=f"{OWN}-soversion", **more)


def refusal(folder, *words):
    """What make says that it will not do."""
    done = subprocess.run(["make", "-n", "-C", folder, *words], env=build.without_make(),
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2 and "***" in done.stderr, done.stderr
    return done.stderr


def planned(*words):
    """What `make -n install` or uninstall prints.  That writes the list of the SONAMEs, so it is
    done where other tests look at nothing."""
    where = build.made_at(OWN)
    build.make(where, f"{where[len('BUILD='):]}/gen/gen")
    with build.locked(build.make_lock(OWN)):
        return build.run("make", "-n", "-C", build.ROOT, where, "DESTDIR=/nowhere", "PREFIX=/p", *words,
                         env=build.without_make(), check=True).stdout


def files(folder):
    """{name below the folder: bytes, or where a link leads, or None for a folder}"""
    found = {}
    for path in sorted(pathlib.Path(folder).rglob("*")):
        name = str(path.relative_to(folder))
        found[name] = (str(path.readlink()) if path.is_symlink() else
                       None if path.is_dir() else path.read_bytes())
    return found
