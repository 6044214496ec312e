#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Make what is uploaded for a release: what `make release` calls.

    packaging/release.py ARCHIVE VERSION DIST

ARCHIVE is what `make dist` made of the sources.  DIST gets the sdist, a wheel for
manylinux2014 of each CPU, and SHA256SUMS, once all of them have passed the checks;
until then nothing there changes.  The bytes are the same every time: they depend on
the sources, on SOURCE_DATE_EPOCH and on the versions of the tools, which are printed.

The tools that packaging/release.txt names are fetched into release/tools beside DIST.
After a day they are asked for again, and those that are there do where there is no
network.
"""
import fcntl
import hashlib
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import time
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
REQUIREMENTS = ROOT / "packaging" / "release.txt"
A_DAY = 24 * 60 * 60
ARCHES = ("x86_64", "aarch64")
# zig compiles its own parts of the C library with the path of its folder in the debug information:
# without that the bytes are the same in any folder.
LDFLAGS = "-s"
# The most bytes of a wheel, for the sake of the index and of downloads.
MOST = 15_000_000

sys.path.insert(0, str(ROOT / "tools" / "retarget"))
from lazycuda import elf  # noqa: E402


class Failed(Exception):
    """Why there is no release."""


def say(what, text):
    print(f"  {what:<8}{text}", flush=True)


def run(*command, env=None, cwd=None, ok=(0,)):
    """What a command prints; raises Failed with all of it if it fails."""
    done = subprocess.run([str(word) for word in command], env=env, cwd=cwd, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    if done.returncode not in ok:
        shown = " ".join(map(str, command))
        raise Failed(f"{shown}\nended with {done.returncode}:\n{done.stdout.rstrip()}")
    return done.stdout


# ---- tools ----

def fetch(folder):
    """Into a folder of its own, which a Python without venv can use, too."""
    part = folder.with_suffix(".part")
    shutil.rmtree(part, ignore_errors=True)
    run(sys.executable, ROOT / "tools" / "upkeep" / "run_pip.py", "install", "--quiet",
        "--disable-pip-version-check", "--target", part, "-r", REQUIREMENTS)
    # The compiler itself: what starts it is Python, and would be started 200 times.
    (part / "bin" / "zig").symlink_to("../ziglang/zig")
    shutil.copy(REQUIREMENTS, part / "requirements.txt")
    shutil.rmtree(folder, ignore_errors=True)
    part.rename(folder)


class Tools:
    """What builds and judges, and how it is called."""

    def __init__(self, work):
        self.work = work
        self.folder = work / "tools"
        self._set_up()
        say("WITH", ", ".join(self._versions()))

    def _set_up(self):
        stamp = self.folder / "requirements.txt"
        usable = stamp.exists() and stamp.read_text() == REQUIREMENTS.read_text()
        if usable and time.time() - stamp.stat().st_mtime < A_DAY:
            return
        say("FETCH", f"what {REQUIREMENTS.relative_to(ROOT)} names")
        try:
            fetch(self.folder)
        except Failed as failed:
            why = f"pip could not install them: {str(failed).splitlines()[-1]}"
            if not usable:
                raise Failed(why) from None
            say("FETCH", why)

    def _versions(self):
        for info in sorted(self.folder.glob("*.dist-info")):
            name, version = info.name[:-len(".dist-info")].split("-")
            if re.search(rf"^{name}\b", REQUIREMENTS.read_text(), re.M):
                yield f"{name} {version}"

    def environment(self, **more):
        """Nothing that could change what is made comes from the caller's."""
        kept = {name: os.environ[name] for name in ("HOME", "TMPDIR") if name in os.environ}
        return {**kept, "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}",
                "PYTHONPATH": str(self.folder), "LC_ALL": "C.UTF-8",
                "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PYTHONDONTWRITEBYTECODE": "1",
                "SOURCE_DATE_EPOCH": os.environ["SOURCE_DATE_EPOCH"], **more}

    def compiler(self, arch):
        return {"CC": f"zig cc -target {arch}-linux-gnu.2.17", "LDFLAGS": LDFLAGS, "LIBDL": "-ldl",
                "ZIG_GLOBAL_CACHE_DIR": str(self.work / "zig"),
                "ZIG_LOCAL_CACHE_DIR": str(self.work / "zig")}

    def __call__(self, module, *words, python=sys.executable, env=None, **more):
        return run(python, "-m", module, *words, env=env or self.environment(), **more)


# ---- what is made ----

def empty(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


# Of an archive that was made here; Python 3.12 and 3.13 warn where nothing is said.
TRUSTED = {"filter": "fully_trusted"} if hasattr(tarfile, "fully_trusted_filter") else {}


def unpack(archive, folder):
    with tarfile.open(archive) as opened:
        opened.extractall(empty(folder), **TRUSTED)
    tree, = folder.iterdir()
    return tree


def make_sdist(tools, archive, folder):
    say("SDIST", folder)
    source = unpack(archive, tools.work / "archive")
    tools("build", "--no-isolation", "--sdist", "--outdir", folder, source)
    return next(folder.glob("*.tar.gz"))


def make_wheel(tools, source, arch, folder):
    """Compiled from what the sdist holds, and tagged by auditwheel."""
    say("WHEEL", arch)
    built = empty(tools.work / f"built-{arch}")
    tools("build", "--no-isolation", "--wheel", "--outdir", built, source,
          env=tools.environment(**tools.compiler(arch)))
    tools("auditwheel", "repair", "--zip-compression-level", "9", "--wheel-dir", folder,
          *built.glob("*.whl"))
    return next(folder.glob(f"*_{arch}.whl"))


# ---- checks ----

def check_tag(tools, wheel, arch, version):
    policy = f"manylinux_2_17_{arch}"
    name, platforms = wheel.stem.rsplit("-", 1)
    if name != f"lazycuda-{version}-py3-none" or \
            set(platforms.split(".")) != {policy, f"manylinux2014_{arch}"}:
        raise Failed(f"{wheel.name} is not what the wheel should be called")
    said = " ".join(tools("auditwheel", "show", wheel).split())
    if f'platform tag: "{policy}"' not in said:
        raise Failed(f"auditwheel finds that {wheel.name} is not for {policy}:\n{said}")


def check_files(wheel, arch, folder):
    """Every ELF file is for that CPU; the licence is there."""
    with zipfile.ZipFile(wheel) as opened:
        opened.extractall(empty(folder))
    if not list(folder.glob("*.dist-info/licenses/LICENSE")):
        raise Failed(f"{wheel.name} holds no licence")
    files = [path for path in sorted(folder.rglob("*"))
             if path.is_file() and path.open("rb").read(4) == b"\177ELF"]
    wrong = [path for path in files if elf.read(path).machine != arch]
    if wrong or len(files) < 10:
        raise Failed(f"{wheel.name}: of {len(files)} ELF files these are not for {arch}: {wrong}")


def check_stubs(wheel):
    """There is one of each list of the tree, which the sdist may have left behind."""
    with zipfile.ZipFile(wheel) as opened:
        there = set(opened.namelist())
    missing = [path.stem for path in sorted((ROOT / "libraries").glob("*.txt"))
               if f"lazycuda/lib/lib{path.stem}_stub.so" not in there]
    if missing:
        raise Failed(f"{wheel.name} has no stub of {', '.join(missing)}")


def check_size(wheel):
    size = wheel.stat().st_size
    if size > MOST:
        raise Failed(f"{wheel.name} has {size} bytes, more than {MOST}")


# By the reader of metadata that package indexes have.
METADATA = """
import json, sys
from packaging.metadata import Metadata
made = Metadata.from_email(sys.stdin.buffer.read(), validate=True)
print(json.dumps([made.name, str(made.version), made.license_expression,
                  made.description_content_type, made.description]))
"""


def check_metadata(tools, name, text, version):
    done = subprocess.run([sys.executable, "-c", METADATA], input=text, env=tools.environment(),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        raise Failed(f"{name}: its metadata are wrong:\n{done.stderr.decode()}")
    found = json.loads(done.stdout)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    wanted = ["lazycuda", version, "MIT", "text/markdown", readme]
    if found != wanted:
        differs = [one for one, other in zip(found, wanted) if one != other]
        raise Failed(f"{name}: its metadata say {differs[0]!r}")


def emulator(arch):
    """What runs a program of another CPU; or None."""
    root = pathlib.Path(f"/usr/{arch}-linux-gnu")
    program = shutil.which(f"qemu-{arch}-static") or shutil.which(f"qemu-{arch}")
    return [program, "-L", str(root)] if program and (root / "lib").is_dir() else None


def check_installed(libdir, command, version, env):
    """The stubs are where Python says that they are, and the command runs."""
    if not (pathlib.Path(libdir) / "libcudart_stub.so").is_file():
        raise Failed(f"there is no libcudart_stub.so in {libdir}")
    said = run(*command, "--version", env=env, cwd="/")
    if said != f"lazycuda {version}\n":
        raise Failed(f"{command[-1]} --version says {said!r}")
    if "libcudart" not in run(*command, "status", env=env, cwd="/", ok=(0, 1)):
        raise Failed(f"{command[-1]} status does not speak of libcudart")


def check_here(tools, wheel, version, folder):
    """In a fresh environment."""
    run(sys.executable, "-m", "venv", "--without-pip", "--clear", folder)
    python, env = folder / "bin" / "python", {"PATH": os.environ["PATH"]}
    tools("pip", "install", "--quiet", "--no-index", "--no-deps", wheel, python=python)
    libdir = run(python, "-m", "lazycuda", "--libdir", env=env, cwd="/").strip()
    check_installed(libdir, [folder / "bin" / "lazycuda"], version, env)


def check_elsewhere(tools, wheel, version, folder, arch):
    """As pip installs it there, and under qemu where there is one."""
    tools("pip", "install", "--quiet", "--no-index", "--no-deps", "--only-binary=:all:",
          "--platform", f"manylinux2014_{arch}", "--target", empty(folder), wheel)
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(folder)}
    libdir = run(sys.executable, "-m", "lazycuda", "--libdir", env=env, cwd="/").strip()
    qemu = emulator(arch)
    if qemu:
        check_installed(libdir, [*qemu, folder / "lazycuda" / "bin" / "lazycuda"], version, env)
    else:
        say("CHECK", f"{arch}: its command was not run: that takes qemu-{arch} and the C library "
                     f"in /usr/{arch}-linux-gnu")


def check_wheel(tools, wheel, arch, version):
    say("CHECK", f"{wheel.name}, {wheel.stat().st_size / 1e6:.1f} MB")
    check_tag(tools, wheel, arch, version)
    unpacked = tools.work / "unpacked"
    check_files(wheel, arch, unpacked)
    check_stubs(wheel)
    check_size(wheel)
    check_metadata(tools, wheel.name, next(unpacked.glob("*.dist-info/METADATA")).read_bytes(), version)
    if arch == platform.machine():
        check_here(tools, wheel, version, tools.work / "environment")
    else:
        check_elsewhere(tools, wheel, version, tools.work / "elsewhere", arch)


# ---- the release ----

def git(*words):
    done = subprocess.run(["git", "-C", str(ROOT), *words], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True)
    return done.stdout.split("\n")[:-1] if done.returncode == 0 else None


def origin(version):
    """What it is a release of."""
    if not (ROOT / ".git").exists() or git("rev-parse", "HEAD") is None:
        return "a source archive"
    tag = f"v{version}"
    of = tag if tag in git("tag", "--points-at", "HEAD") else \
        f"commit {git('rev-parse', '--short', 'HEAD')[0]}, which has no tag {tag}"
    changed = len(git("status", "--porcelain", "--untracked-files=no"))
    return of + (f", and {changed} changed file{'s' * (changed > 1)}" if changed else "")


def write_sums(folder):
    sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n"
            for path in sorted(folder.iterdir())]
    (folder / "SHA256SUMS").write_text("".join(sums))
    return sums


def make(archive, version, dist):
    work = dist.parent / "release"
    say("RELEASE", f"lazycuda {version} of {origin(version)}")
    tools, made = Tools(work), empty(work / "dist")
    sdist = make_sdist(tools, archive, made)
    source = unpack(sdist, work / "source")
    check_metadata(tools, sdist.name, (source / "PKG-INFO").read_bytes(), version)
    for arch in ARCHES:
        check_wheel(tools, make_wheel(tools, source, arch, made), arch, version)
    sums = write_sums(made)
    shutil.rmtree(dist, ignore_errors=True)
    made.rename(dist)
    print(f"{dist}:\n{''.join(sums)}", end="")


def main():
    archive, version, dist = sys.argv[1:]
    archive, dist = pathlib.Path(archive).resolve(), pathlib.Path(dist).resolve()
    os.environ.setdefault("SOURCE_DATE_EPOCH", "0")
    (dist.parent / "release").mkdir(parents=True, exist_ok=True)
    try:
        with open(dist.parent / "release" / "lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            make(archive, version, dist)
    except (Failed, OSError) as failed:
        print(f"release: {failed}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
