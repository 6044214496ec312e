# SPDX-License-Identifier: MIT
"""The Python package: built with this machine's compiler, or as a release of it is."""
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys

import pytest

import build
import distribution
import installed
import prepare

MADE = build.BUILD / "tests" / "package"
# What the package is made of: those of the sdist that count.
SOURCES = ("LICENSE", "Makefile", "README.md", "pyproject.toml", "symbols.txt", "gen", "include",
           "libraries", "packaging", "link", "stubs", "tools", "docs")
def need(*modules):
    """Skips the test unless these are installed."""
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    if missing:
        pytest.skip(f"pip could not install {', '.join(missing)} (tests/requirements.txt)")


def run(*command, cwd=None, **env):
    done = build.run(*map(str, command), cwd=cwd, env={**build.without_make(), **env})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def digest():
    """Of the sources, and of what make takes from the environment."""
    key = hashlib.sha256(repr([os.environ.get(name) for name in ("CC", "CFLAGS", "LDFLAGS")]).encode())
    for source in SOURCES:
        path = build.ROOT / source
        files = [path] if path.is_file() else sorted(path.rglob("*"))
        for file in files:
            if file.is_file() and "__pycache__" not in file.parts:
                key.update(f"{file.relative_to(build.ROOT)}\0".encode() + file.read_bytes())
    return key.hexdigest()[:16]


def as_installed():
    """With these in the environment nothing is compiled for a wheel alone: the build is that of
    installed.py."""
    return {"LAZYCUDA_BUILD": os.path.relpath(installed.OWN, build.ROOT),
            "CFLAGS": os.environ.get("CFLAGS", "-O2 -g")}


def built():
    """The wheel that this machine's compiler makes."""
    need("hatchling")
    folder = MADE / f"built-{digest()}"
    with build.locked(MADE / "lock"):
        if not folder.exists():
            for old in MADE.glob("built-*"):
                shutil.rmtree(old)
            with build.locked(build.make_lock(installed.OWN)):
                build.begin(installed.OWN)
                run(sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory",
                    MADE / "part", cwd=build.ROOT, **as_installed())
            (MADE / "part").rename(folder)
    return next(folder.glob("*.whl"))


def release(make):
    """`make()` runs what a page shows, or `make release`; then it is known to be of these sources."""
    done = make()
    (MADE / "released").write_text(digest())
    return done


def skip_without_tools(said):
    """A release takes what has to be fetched."""
    why = re.search(r"^release: (pip could not install them.*)", said, re.M)
    if why:
        pytest.skip(why[1])


def make_release():
    done = subprocess.run(["make", "-s", "-C", build.ROOT, "release"], env=build.without_make(), text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    skip_without_tools(done.stdout)
    assert done.returncode == 0, done.stdout


def released():
    """{"sdist", "x86_64", "aarch64"}: what `make release` makes, made once."""
    stamp, dist = MADE / "released", build.BUILD / "dist"
    with build.locked(MADE / "lock"):
        if not (dist.exists() and stamp.exists() and stamp.read_text() == digest()):
            release(make_release)
    wheels = {arch: next(dist.glob(f"*_{arch}.whl")) for arch in ("x86_64", "aarch64")}
    return {"sdist": dist / f"lazycuda-{distribution.version()}.tar.gz", **wheels}


def repair(wheel, folder, *options, search=None):
    """auditwheel repair; the file it makes."""
    folder.mkdir(parents=True, exist_ok=True)
    env = {"LD_LIBRARY_PATH": str(search)} if search else {}
    run(sys.executable, "-m", "auditwheel", "repair", *options, "-w", folder, wheel, **env)
    return next(folder.glob("*.whl"))


def show(wheel):
    """What auditwheel says of a wheel, in one line; and the tag that it fits."""
    said = " ".join(run(sys.executable, "-m", "auditwheel", "show", wheel).split())
    return said, re.search(r'platform tag: "(\S+)"', said)[1]


def environment(folder, *wheels):
    """A fresh virtual environment with these wheels, and nothing else; its Python."""
    run(sys.executable, "-m", "venv", "--without-pip", folder)
    prepare.add_distutils(folder)
    python = folder / "bin" / "python"
    if wheels:
        install(python, *wheels)
    return python


def install(python, *wheels, dependencies=False):
    run(sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-index",
        "--disable-pip-version-check", *([] if dependencies else ["--no-deps"]), "--no-compile", *wheels)


def site_packages(python):
    return next((python.parent.parent / "lib").glob("python3*/site-packages"))
