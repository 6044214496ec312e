# SPDX-License-Identifier: MIT
"""The packages in a bare Debian: built, installed, used by one that depends on them, removed."""
import os
import re
import subprocess

import pytest

import build
import distribution

DEPENDENT = build.TESTS / "packages" / "dependent"
NEEDED = {"deb": "debhelper,dh-python,lintian", "rpm": "rpm,rpmlint,debugedit,elfutils,file"}


@pytest.mark.parametrize("file, line", [
    ("debian/changelog", r"lazycuda \(([^-]*)-"), ("lazycuda.spec", r"Version: +(\S+)"),
    ("conda/recipe.yaml", r' version: "(.*)"')])
def test_the_version_is_that_of_the_makefile(file, line):
    said = re.search(line, (build.ROOT / "packaging" / file).read_text())
    assert said[1] == distribution.version()


@pytest.mark.release
@pytest.mark.parametrize("form", NEEDED)
@pytest.mark.parametrize("release", ["bookworm", "trixie"])
def test_built_installed_used_and_removed(release, form, tmp_path):
    distribution.needs("mmdebstrap")
    if os.geteuid():
        pytest.skip("it needs root")
    archive = distribution.source_archive(tmp_path)
    done = subprocess.run(
        ["mmdebstrap", "--quiet", "--variant=minbase", "--mode=root", "--format=null",
         '--aptopt=Acquire::Check-Valid-Until "false"', "--skip=check/qemu,output/mknod",
         f"--include=build-essential,pkgconf,python3,patchelf,{NEEDED[form]}",
         f"--customize-hook=copy-in {archive} {DEPENDENT} /root",
         '--customize-hook=env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 HOME=/root '
         f'chroot "$1" sh /root/dependent/in_root.sh {form}', release],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0 and f"{form}: nothing is left" in done.stdout, done.stdout[-6000:]
