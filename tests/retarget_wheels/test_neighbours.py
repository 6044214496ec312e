# SPDX-License-Identifier: MIT
"""Several wheels in one process: two retargeted ones of different majors, and a retargeted one beside
a published one, in both orders.  docs/reference/retarget.md has the same table."""
import itertools
import json
import sys

import pytest

import build
import wheel_files
from importer import patch

SOURCE = """
int cudaRuntimeGetVersion(int *);
int version(void) { int found = 0, status = cudaRuntimeGetVersion(&found); return status ? -status : found; }
"""
# Loads the modules, then calls each; says which files of cudart are real and in the process.
CALL = r"""
import ctypes, json, re, sys
modules = [ctypes.CDLL(path) for path in sys.argv[1:]]
print(json.dumps([module.version() for module in modules]))
files = set(re.findall(r"/\S*libcudart\S*$", open("/proc/self/maps").read(), re.M))
print(json.dumps(sorted(re.search(r"so\.\d+", file)[0][3:] for file in files
                        if b"LAZYCUDA_1" not in open(file, "rb").read())))
"""
VERSION = {"12": 12090, "13": 13050}
TOOLKIT = {"12": "12.9", "13": "13.5"}


FOLDERS = {"12": "nvidia/cuda_runtime/lib", "13": "nvidia/cu13/lib"}


def module(tmp_path, real, major, name):
    """As torch's, with a run path that leads to NVIDIA's packages, or as CuPy's, with none."""
    (tmp_path / "call.c").write_text(SOURCE)
    file = tmp_path / f"{name}.so"
    build.output(*build.CC, "-shared", "-fPIC", "-o", file, tmp_path / "call.c",
                 real(TOOLKIT[major]).file("cudart"))
    return file if name.startswith("loose") else patch(
        file, "--force-rpath", "--set-rpath", f"$ORIGIN/../{FOLDERS[major]}")


MADE = []


@pytest.fixture
def site(retarget, tmp_path, tmp_path_factory, world, real):
    """A site-packages with wheels that are retargeted, "mine12" and "loose13", and as published."""
    site = world.folder("venv/lib/python3/site-packages")
    if not MADE:
        folder = tmp_path_factory.mktemp("wheels")
        for major, kind in itertools.product(VERSION, ("mine", "loose", "stock")):
            name = f"{kind}{major}"
            wheel = wheel_files.make(
                folder, {f"{name}/module.so": module(tmp_path, real, major, name)}, name=name)
            if kind != "stock":
                retarget("-o", folder / "out", wheel)
                wheel = folder / "out" / wheel.name
            MADE.append(wheel)
    for wheel in MADE:
        wheel_files.unpack(wheel, site)
    return site


def loaded(world, site, names, installed, real, **env):
    """(what each is served by, the real ones in the process) with these CUDAs installed by pip."""
    made = [site / FOLDERS[major] / real(TOOLKIT[major]).file("cudart").name for major in installed]
    for link, major in zip(made, installed):
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(real(TOOLKIT[major]).file("cudart"))
    done = world.run(sys.executable, "-I", "-c", CALL, *(site / name / "module.so" for name in names),
                     check=False, **env)
    for link in made:
        link.unlink()
    if done.status:
        assert "libcudart.so." in done.err and "cannot open" in done.err, done.err
        return None
    return [json.loads(line) for line in done.lines]


@pytest.mark.parametrize("names, installed, serves", [
    (("mine12", "mine13"), "", None), (("mine12", "loose13"), "", None),
    # Each has its own; where one CUDA is installed, that serves both.
    (("mine12", "mine13"), "both", "12 13"), (("mine12", "mine13"), "12", "12 12"),
    (("mine12", "mine13"), "13", "13 13"),
    # What finds none of its own uses the one that is in the process, or else the newest.
    (("mine12", "loose13"), "both", "12 12"), (("loose12", "loose13"), "both", "13 13"),
    # Beside a published one.
    (("mine12", "stock12"), "12", "12 12"), (("mine12", "stock12"), "both", "12 12"),
    (("mine12", "stock13"), "both", "12 13"), (("mine12", "stock13"), "13", "13 13"),
    (("loose12", "stock13"), "both", "13 13"), (("mine13", "stock12"), "12", "12 12")])
def test_two_in_one_process(site, world, real, names, installed, serves):
    installed = list(VERSION) if installed == "both" else [installed] if installed else []
    for order in (0, 1), (1, 0):
        versions, there = loaded(world, site, [names[each] for each in order], installed, real)
        wanted = serves.split() if serves else ["303", "303"]
        assert versions == [VERSION.get(wanted[each], -303) for each in order]
        assert there == sorted({*wanted} - {"303"})


def test_a_published_one_needs_its_own_or_a_stub_that_is_there(site, world, real):
    """ld.so takes the stub for the library of that name: the published wheel starts, too."""
    assert loaded(world, site, ["stock12", "mine12"], [], real) is None
    assert loaded(world, site, ["mine12", "stock12"], [], real) == [[-303, -303], []]


def test_a_stub_of_a_real_name_takes_its_own_major_first(site, world, real):
    """Also one that finds none of its own: the published one needs its name, and would get that of 12."""
    both = list(VERSION)
    for names in ("stock12", "loose12"), ("loose12", "stock12"):
        assert loaded(world, site, names, both, real) == [[12090, 12090], ["12"]]
    assert loaded(world, site, names, both, real, LAZYCUDA_ORDER="highest") == [[13050, 13050], ["13"]]
