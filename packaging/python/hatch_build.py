# SPDX-License-Identifier: MIT
"""Fills the wheel with what `make install` installs.

CC, CFLAGS, CPPFLAGS, LDFLAGS, HOSTCC and LIBDL count as they do for make, but that CFLAGS is
-Os -g0 if it is not set; the wheel is tagged for the machine that CC compiles for.  LAZYCUDA_BUILD names a
folder to compile in that is kept, for the next time.  docs/reference/package.md says how to
make a wheel for manylinux2014.
"""
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# `make install` puts the Python code here, with a file that says where the rest is; in the wheel it
# is the package itself, and the rest is in it.
PYTHON_CODE = "share/lazycuda/python"

# What man and shells find in the environment that the wheel is installed into.
FOR_ALL = ("share/man/", "share/bash-completion/", "share/zsh/", "share/fish/")

PREFIX = "/lazycuda"
FOLDERS = {"PREFIX": "", "BINDIR": "/bin", "LIBDIR": "/lib", "INCLUDEDIR": "/include",
           "DATADIR": "/share", "PYTHONDIR": f"/{PYTHON_CODE}", "LIBEXECDIR": "/libexec",
           "MANDIR": "/share/man"}
# A stub runs its own code once, and the wheel has a hundred of them: with -O2 it is 1.6 MB larger.
CFLAGS = "-Os -g0"
# NPP's stubs under the real names would be 7 of 18 MB, more than packaging/release.py allows a
# wheel; none of the 200 wheels of docs/reference/imports.md needs nvFatbin's, cuFFTW's or cusolverMg's.  Under
# their own names they are there.
COMPAT_WITHOUT = "npp% nvfatbin cufftw cusolverMg"


class CustomBuildHook(BuildHookInterface):
    def initialize(self, version, build_data):
        if version == "editable":
            raise RuntimeError("lazycuda cannot be installed editable: run make, and use "
                               "build/share/lazycuda/python")
        self.folder = tempfile.TemporaryDirectory(prefix="lazycuda-wheel-")
        tree = self._install(pathlib.Path(self.folder.name))
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-linux_{self._machine(tree)}"
        for path in sorted(tree.rglob("*")):
            place = path.relative_to(tree).as_posix()
            if path.is_file() and place.startswith(FOR_ALL):
                build_data["shared_data"][str(path)] = place
            elif path.is_file() and path.name != "places":
                place = place.replace(f"{PYTHON_CODE}/lazycuda/", "")
                build_data["force_include"][str(path)] = f"lazycuda/{place}"

    def finalize(self, version, build_data, artifact_path):
        self.folder.cleanup()

    def _install(self, folder):
        """What `make install` makes, below one folder."""
        tree = folder / "tree"
        build = os.environ.get("LAZYCUDA_BUILD") or folder / "build"
        # Any prefix that is not the system's: what is installed finds its own parts
        # from where it lies, so the tree can lie anywhere.
        folders = [f"{name}={PREFIX}{place}" for name, place in FOLDERS.items()]
        environment = {"CFLAGS": CFLAGS, **os.environ}
        for name in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "DESTDIR"):
            environment.pop(name, None)
        subprocess.run(["make", f"-j{len(os.sched_getaffinity(0))}", "install",
                        "ALL_STUBS=yes", "COMPAT=all", f"COMPAT_WITHOUT={COMPAT_WITHOUT}",
                        f"BUILD={build}", f"DESTDIR={tree}", *self._stripped(), *folders],
                       cwd=self.root, env=environment, check=True,
                       stdout=sys.stderr)
        return tree / PREFIX.lstrip("/")

    def _stripped(self):
        """What has make install programs and stubs without their debug symbols, three quarters of
        them; LDFLAGS=-s does the same.  The compiler knows the strip for what it compiles for."""
        if "-s" in os.environ.get("LDFLAGS", "").split():
            return []
        compiler = shlex.split(os.environ.get("CC", "cc"))
        found = subprocess.run([*compiler, "-print-prog-name=strip"], stdout=subprocess.PIPE, text=True)
        strip = shutil.which(found.stdout.strip())
        return [f"INSTALL_PROGRAM=install -m 755 -s --strip-program={strip}"] if strip else []

    def _machine(self, tree):
        """The machine of what was made: "x86_64"."""
        sys.path.insert(0, str(pathlib.Path(self.root, "tools", "retarget")))
        from lazycuda import elf
        return elf.read(tree / "lib" / "libcudart_stub.so").machine
