# SPDX-License-Identifier: MIT
"""A machine made to measure, and programs run on it.

    world.loader(fake("cudart", "12.9"))        on LD_LIBRARY_PATH
    world.bind(folder, "/usr/local/cuda-13.0/lib64")
    assert world.status("cudart")["version"] == "12.9"

Commands run in the sandbox (lib/sandbox.c, or lib/proot.py where no namespace can be made): there
is no CUDA but what the test has put there, and the environment holds only what the test has set.
Without proot as well, only a machine that has no CUDA will do, and tests that put files at places of
the system are skipped.
"""
import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
from types import SimpleNamespace

import pytest

import build
import proot
import symbols

# A function of each library that every caller may call on every version.
CALL = {"cudart": "cudaDeviceSynchronize", "nvrtc": "nvrtcDestroyProgram",
        "nvJitLink": "nvJitLinkDestroy", "cuda": "cuCtxSynchronize", "nvml": "nvmlShutdown"}
PATH = "PATH=/usr/local/bin:/usr/bin:/bin"
# What it returns where there is no library.
MISSING = {"cudart": 303, "nvrtc": 11, "nvJitLink": 6, "cuda": 34, "nvml": 12}


def variable(library):
    """What names a file of it."""
    return f"LAZYCUDA_{library.upper()}"


def chowned(path, user):
    """That user's from now on; of a link, the link itself."""
    try:
        os.chown(path, user, user, follow_symlinks=False)
    except PermissionError:
        pytest.skip("only root can make a file another user's")


def library_of(file):
    """"cudart" for .../libcudart.so.12"""
    return file.name[len("lib"):].partition(".")[0].partition("-")[0]


def pip_folder(file):
    """Where pip puts it, below site-packages."""
    major = int(re.search(r"\.so\.(\d+)", file.name)[1])
    return next(folder for folder, span in symbols.read().libraries[library_of(file)].folders
                if major in span.majors())


class World:
    def __init__(self, root):
        self.root = root
        self.options = []
        self.env = {}
        self.prefix = []        # of every command, say qemu
        self.stubs = build.STUBS
        self.cc = build.CC      # what the stubs were built with

    def folder(self, name):
        path = self.root / name
        path.mkdir(parents=True, exist_ok=True)
        return path

    def put(self, folder, *files):
        """Copies of the files in a folder of this world.  Large ones are linked, which only
        real libraries are: what a test may change, as a stub, is really copied, also where a
        sanitizer makes it large."""
        folder = self.folder(folder)
        for file in files:
            target = folder / file.name
            if file.stat().st_size < 2**24:
                shutil.copy(file, target)
            else:
                try:
                    os.link(file, target)
                except OSError:
                    target.symlink_to(file)
        return folder

    def bind(self, source, target):
        self.options += ["--bind", f"{source}:{target}"]

    def symlink(self, target, path):
        self.options += ["--symlink", f"{target}:{path}"]

    def search(self, folder):
        """Put a folder at the end of LD_LIBRARY_PATH."""
        old = self.env.get("LD_LIBRARY_PATH")
        self.env["LD_LIBRARY_PATH"] = f"{old}:{folder}" if old else str(folder)

    def loader(self, *files, folder="loader"):
        path = self.put(folder, *files)
        if str(path) not in self.env.get("LD_LIBRARY_PATH", "").split(":"):
            self.search(path)
        return path

    def site_packages(self, *files, name="venv/lib/python3/site-packages"):
        """Lay files out as pip does."""
        for file in files:
            self.put(f"{name}/{pip_folder(file)}", file)
        return self.folder(name)

    def conda(self, *files):
        """A conda prefix: the libraries lie below targets/, links in lib/."""
        triple = {"x86_64": "x86_64-linux", "aarch64": "sbsa-linux"}[build.ARCH]
        self.put(f"conda/targets/{triple}/lib", *files)
        self.folder("conda/conda-meta")
        for file in files:
            (self.folder("conda/lib") / file.name).symlink_to(
                f"../targets/{triple}/lib/{file.name}")
        return self.root / "conda"

    def system(self, where, *files):
        """Put files in a place of the system, say /usr/local/cuda-12.9/lib64."""
        self.bind(self.put("system" + where, *files), where)

    def system_file(self, where, file):
        """Put one file in a folder of the system that is to keep the rest."""
        self.bind(file, f"{where}/{file.name}")

    def versioned(self, *words, **options):
        """The lines of tests/libraries/versioned.py."""
        return self.run(sys.executable, build.TESTS / "libraries" / "versioned.py", *words, **options).lines

    def words(self, settings):
        """The words before a command that is run with this environment."""
        if way() == "proot":
            return [*proot.words(self.options, self.root), "/usr/bin/env", "-i", PATH,
                    *[f"{name}={value}" for name, value in settings.items()]]
        bare = ["--bare"] if way() == "none" else []
        variables = [word for name, value in settings.items() for word in ("--env", f"{name}={value}")]
        return [sandbox(), *bare, *self.options, *variables, "--"]

    def run(self, *command, check=True, status=0, timeout=120, **env):
        """Run a command; with `check` it must end with that status.  Status 77 means it
        was skipped, for the reason in its last line."""
        settings = build.environment([*self.prefix, *command][0], {**self.env, **env})
        argv = [*self.words(settings), *self.prefix, *command]
        done = build.run(*map(str, argv), errors="replace", timeout=timeout, env={},
                         cwd=self.root)
        if done.returncode == 77:
            pytest.skip((done.stdout + done.stderr).strip().splitlines()[-1])
        # 125 is the sandbox's own word.
        assert done.returncode != 125, done.stderr
        if check:
            assert done.returncode == status, (
                f"{pathlib.Path(command[0]).name} ended with {done.returncode}\n"
                f"{done.stdout}{done.stderr}")
        return SimpleNamespace(status=done.returncode, out=done.stdout, err=done.stderr,
                               lines=done.stdout.splitlines())

    def probe(self, *commands, **options):
        """Run lib/probe.c; what it says of each command, in order."""
        words = [f"open:{build.stub(word[5:], self.stubs)}" if str(word).startswith("stub:")
                 else word for word in commands]
        return [json.loads(line) for line in self.run(probe(self.cc), *words, **options).lines]

    def status(self, library="cudart", *others, **options):
        """Load the stubs of these libraries, then their real libraries; the
        status of the first."""
        return self.statuses(library, *others, **options)[library]

    def statuses(self, *libraries, **options):
        """The same, of all of them."""
        said = self.probe(*[f"stub:{library}" for library in libraries], "load",
                          *[f"status:{library}" for library in libraries], **options)
        return dict(zip(libraries, said[-len(libraries):]))

    def cli(self, *arguments, **options):
        return self.run(build.TOOL, *arguments, **options)

    def log(self):
        """Where fakes write what is called: [(soname, version, name, args, answer)]"""
        path = self.root / "fake.log"
        calls = []
        for line in path.read_text().splitlines() if path.exists() else ():
            soname, version, name, *words = line.split()
            numbers = [int(word, 16) for word in words if word != "="]
            calls.append((soname, version, name, numbers[:-1], numbers[-1]))
        return calls

    def cached(self, folder):
        """ld.so's cache lists what is in this folder, and nothing else."""
        configuration, cache = self.root / "ld.so.conf", self.root / "cache"
        configuration.write_text(f"{folder}\n")
        self.run(ldconfig(), "-X", "-f", configuration, "-C", cache)
        self.bind(cache, "/etc/ld.so.cache")

    def record(self):
        """Have fakes write down what is called."""
        self.env["FAKE_LOG"] = str(self.root / "fake.log")


def ldconfig():
    """Where it is; an ordinary user's PATH need not say it."""
    program = shutil.which("ldconfig", path=f"{os.environ['PATH']}:/sbin:/usr/sbin")
    if not program:
        pytest.skip("there is no ldconfig")
    return program


def sandbox():
    return build.compile("sandbox", "-O2", "-Wall", "-Wextra", "-Werror",
                         build.TESTS / "lib" / "sandbox.c", "-ldl")


@functools.lru_cache(maxsize=None)
def way():
    """How the machine's CUDA is hidden: namespace, proot or none; LAZYCUDA_TEST_SANDBOX chooses."""
    chosen = os.environ.get("LAZYCUDA_TEST_SANDBOX")
    if not chosen and subprocess.run([sandbox(), "--", "true"], capture_output=True).returncode != 77:
        chosen = "namespace"
    return chosen or ("proot" if shutil.which("proot") else "none")


def probe(cc=build.CC):
    return build.program(build.TESTS / "lib" / "probe.c", cc=cc)


def user(library="cudart", major=12, rpath=None, runpath=None, name="libuser.so"):
    """A library that needs a stub, found for it by the search of whoever loads
    it.  Its user_call() calls one function."""
    flags = []
    if rpath:
        flags = ["-Wl,--disable-new-dtags", f"-Wl,-rpath,{rpath}"]
    elif runpath:
        flags = ["-Wl,--enable-new-dtags", f"-Wl,-rpath,{runpath}"]
    return build.shared(build.TESTS / "lib" / "user.c", f"-DCALLS={CALL[library]}", *flags,
                        build.import_library(library, major), name=name)
