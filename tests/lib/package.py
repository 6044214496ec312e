# SPDX-License-Identifier: MIT
"""The Python package, built once from this tree and repaired for manylinux2014."""
import fcntl
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys

import pytest

import build

MADE = build.BUILD / "tests" / "package"
# What the package is made of: those of the sdist that count.
SOURCES = ("Makefile", "pyproject.toml", "symbols.txt", "gen", "include", "packaging", "stubs",
           "tools", "docs")
TOOLS = ("auditwheel", "build", "hatchling", "ziglang")


def need(*modules):
    """Skips the test unless these are installed."""
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    if missing:
        pytest.skip(f"pip could not install {', '.join(missing)} (tests/requirements.txt)")


def floor_compiler(arch=build.ARCH):
    """What to set so that the package needs glibc 2.17 only."""
    return {"CC": f"{sys.executable} -m ziglang cc -target {arch}-linux-gnu.2.17",
            "LIBDL": "-ldl", "ZIG_GLOBAL_CACHE_DIR": str(MADE / "zig"),
            "ZIG_LOCAL_CACHE_DIR": str(MADE / "zig")}


def run(*command, cwd=None, **env):
    # What `make test` was called with is not for the make in here.
    outer = {name: value for name, value in os.environ.items() if "MAKE" not in name}
    done = subprocess.run([str(word) for word in command], cwd=cwd, env={**outer, **env},
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def digest():
    key = hashlib.sha256()
    for source in SOURCES:
        path = build.ROOT / source
        files = [path] if path.is_file() else sorted(path.rglob("*"))
        for file in files:
            if file.is_file() and "__pycache__" not in file.parts:
                key.update(f"{file.relative_to(build.ROOT)}\0".encode() + file.read_bytes())
    return key.hexdigest()[:16]


def made(arch=build.ARCH):
    """{"sdist", "built", "repaired"}: files.  The wheel is built from the sdist."""
    need(*TOOLS)
    MADE.mkdir(parents=True, exist_ok=True)
    with open(MADE / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        folder = MADE / f"{digest()}-{arch}"
        if not folder.exists():
            for old in MADE.glob(f"*-{arch}"):
                shutil.rmtree(old)
            part = MADE / f"part-{arch}"
            shutil.rmtree(part, ignore_errors=True)
            run(sys.executable, "-m", "build", "--no-isolation", "--skip-dependency-check",
                "--outdir", part / "built", build.ROOT, **floor_compiler(arch))
            repair(next((part / "built").glob("*.whl")), part / "repaired")
            part.rename(folder)
    return {"sdist": next((folder / "built").glob("*.tar.gz")),
            "built": next((folder / "built").glob("*.whl")),
            "repaired": next((folder / "repaired").glob("*.whl"))}


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
    python = folder / "bin" / "python"
    run(sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-index",
        "--disable-pip-version-check", "--no-deps", "--no-compile", *wheels)
    return python


def site_packages(python):
    return next((python.parent.parent / "lib").glob("python3*/site-packages"))
