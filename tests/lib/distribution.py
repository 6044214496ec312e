# SPDX-License-Identifier: MIT
"""Packages of distributions, built from the source archive as their builders do."""
import pathlib
import re
import shutil
import subprocess

import pytest

import build
import dlopen_notes as notes
import elf


def build_environment():
    """A packager's: nothing of this project's, no CUDA on the path."""
    return {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/nonexistent", "LC_ALL": "C.UTF-8"}


def needs(*programs):
    for program in programs:
        if not shutil.which(program, path=build_environment()["PATH"]):
            pytest.skip(f"there is no {program}")


def offline():
    """Words in front of a command that take the network from it, where that can be done."""
    words = ["unshare", "--map-root-user", "--net"]
    works = shutil.which("unshare") and not subprocess.run([*words, "true"],
                                                           capture_output=True).returncode
    return words if works else []


def source_archive(folder, **more):
    """What `make dist` makes: all that a distribution gets."""
    subprocess.run(["make", "-s", "-C", build.ROOT, build.made_at(folder), "dist"], env=build.without_make() | more,
                   check=True, capture_output=True)
    made, = folder.glob("lazycuda-*.tar.gz")
    return made


def version():
    text = (build.ROOT / "Makefile").read_text()
    return re.search(r"^VERSION := (\S+)$", text, re.M)[1]


def packaged(*command, cwd):
    """Runs a command that builds a package; what it said."""
    done = subprocess.run([*offline(), *map(str, command)], cwd=cwd, env=build_environment(),
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace")
    assert done.returncode == 0, done.stdout[-6000:]
    return done.stdout


def below(folder):
    """Names of the files in an unpacked package, those of documentation left out."""
    folder = pathlib.Path(folder)
    names = {str(path.relative_to(folder)) for path in folder.rglob("*")
             if path.is_symlink() or not path.is_dir()}
    return {name for name in names if not name.startswith(
        ("usr/share/doc/", "usr/share/licenses/", "usr/share/lintian/", "usr/lib/.build-id/"))}


# What a program loads, what one is built with, what one runs; by the name below usr/.
def expected(libdir, python, manual_suffix=".gz"):
    """{part: files that have to be in it}; python: where that system's Python looks for modules"""
    stubs = [*map(build.stub_name, build.STUBBED), "liblazycuda_link.so"]
    others = {path.name for path in build.STUBS.glob("*_stub.so")} - {*stubs}
    return {
        "runtime": {f"{libdir}/{stub}.0" for stub in stubs},
        "others": {f"{libdir}/{stub}.0" for stub in others},
        "development": {*(f"{libdir}/{stub}" for stub in {*stubs, *others}), "include/lazycuda.h",
                        "include/lazycuda_link.h", f"{libdir}/lazycuda/cuda11/libcudart_stub.so",
                        f"{libdir}/lazycuda/cuda13/libnvJitLink_stub.so",
                        f"{libdir}/lazycuda/cuda12/libnvidia-ml_stub.so",
                        f"{libdir}/lazycuda/toolkit12/lib64/libcublas.so",
                        *(f"{libdir}/pkgconfig/{name}-stub.pc" for name in
                          ("cudart", "cuda", "nvml")),
                        f"{libdir}/cmake/lazycuda/lazycuda-config.cmake",
                        f"share/man/man3/lazycuda.h.3{manual_suffix}",
                        f"share/man/man3/lazycuda_link.h.3{manual_suffix}"},
        "tools": {"bin/lazycuda", f"share/man/man1/lazycuda.1{manual_suffix}",
                  f"share/man/man7/lazycuda.7{manual_suffix}",
                  "share/bash-completion/completions/lazycuda",
                  "share/zsh/site-functions/_lazycuda",
                  "share/fish/vendor_completions.d/lazycuda.fish"},
        "python": {f"{python}/lazycuda/{path.name}" for path in
                   (*(build.PYTHON / "lazycuda").glob("*.py"),
                    build.ROOT / "py.typed", build.ROOT / "places")},
        # As `make all-stubs` makes them.
        **{folder.name: {f"{libdir}/lazycuda/{folder.name}/{path.name}" for path in folder.iterdir()}
           for folder in build.STUBS.glob("compat*")}}


# All that these may hold.
COMPLETE = ("runtime", "others", "python", "compat11", "compat12", "compat13")


def check_contents(folders, libdir, python, manual_suffix=".gz"):
    """folders: {part: where its package was unpacked}"""
    for part, wanted in expected(libdir, python, manual_suffix).items():
        wanted, found = {f"usr/{name}" for name in wanted}, below(folders[part])
        assert wanted <= found, part
        assert part not in COMPLETE or wanted == found, part


def check_command(folders, libdir, world):
    """The command and the stubs run from where they were unpacked, with no run path."""
    program = folders["tools"] / "usr/bin/lazycuda"
    assert "RUNPATH" not in elf.dynamic(program)
    world.search(folders["runtime"] / "usr" / libdir)
    assert world.run(program, "--version").out.split()[-1] == version()
    said = world.run(program, "status", "--json", check=False).out
    assert said.count('"state": "missing"') == len(build.STUBBED)
    # Where nothing is installed to build with.
    assert "verdict" in world.run(program, "audit", program).out
    for library in build.STUBBED:       # strip has left it there
        assert notes.by_segment(
            folders["runtime"] / "usr" / libdir / f"{build.stub_name(library)}.0")
