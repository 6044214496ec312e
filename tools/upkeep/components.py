#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check that packages of PyPI have what link/tables/components.c says, which `status --components` and
refusals tell users to install.

    tools/upkeep/components.py [NAME...]       of all components, or of these

Of each package the newest wheel for this CPU is fetched, and, where the table says since which CUDA a
package has a file, also the wheels of that CUDA and of the one before.  Each wheel is looked into, and
removed.  Exit status: 0 as the table says, 1 not so.
"""
import pathlib
import subprocess
import sys
import tempfile
import zipfile

import linking

MAJORS = (11, 12, 13)
# What others would look for in vain: these have no such file, and the table has no package.
NEAR = {("cudadevrt", 11): "nvidia-cuda-runtime-cu11", ("nvcc", 11): "nvidia-cuda-nvcc-cu11",
        ("nvcc", 12): "nvidia-cuda-nvcc-cu12", ("nccl_device", 11): "nvidia-nccl-cu11"}


def texts(field):
    return [None if one == "NULL" else one.strip('"') for one in linking.fields(field.strip("{} "))]


def members(requirement):
    """The files of the newest wheel that fulfils it."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps",
                        "--only-binary", ":all:", "-d", folder, requirement], check=True)
        wheel, = pathlib.Path(folder).iterdir()
        return zipfile.ZipFile(wheel).namelist()


def questions():
    """(component, what a package is asked for, the files of which it has one, whether it has)"""
    for row in linking.rows("components.c", "rows"):
        name, _, _, packages, first, wheel, beside, files = linking.fields(row)
        name, first = name.strip('"'), linking.number(first)
        ends = [one for one in texts(beside) + texts(files) if one] or ["libnvrtc-builtins.so."]
        for major, package in zip(MAJORS, texts(packages)):
            near = package or NEAR.get((name, major))
            if near:
                yield name, near, ends, bool(package)
            if package and first // 1000 == major:
                version = f"{major}.{first % 1000 // 10}"
                yield name, f"{package}=={version}.*", ends, True
                yield name, f"{package}<{version}", ends, False


def main(wanted):
    wrong, seen = 0, {}
    for name, requirement, ends, has in questions():
        if wanted and name not in wanted:
            continue
        if requirement not in seen:
            seen[requirement] = members(requirement)
        ends = [end.rpartition("../")[2] for end in ends]
        found = [one for one in seen[requirement] for end in ends
                 if f"/{end}" in f"/{one}" and "/stubs/" not in one]
        verdict = "as the table says" if bool(found) == has else "NOT as the table says"
        print(f"{name}: {requirement} has {found[0] if found else 'none'}: {verdict}")
        wrong += bool(found) != has
    return wrong != 0


if __name__ == "__main__":
    sys.exit(__doc__ if "--help" in sys.argv else main(sys.argv[1:]))
