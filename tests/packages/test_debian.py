# SPDX-License-Identifier: MIT
"""packaging/debian: packages built from the source archive, without a network."""
import os
import shutil
import subprocess
import types

import pytest

import build
import distribution

PARTS = {"runtime": "liblazycuda0", "others": "liblazycuda-all0", "development": "liblazycuda-dev", "tools": "lazycuda",
         "python": "python3-lazycuda",
         **{f"compat{major}": f"lazycuda-compat{major}" for major in build.MAJORS}}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The folder with the packages, and where each was unpacked."""
    distribution.needs("dpkg-buildpackage", "dh", "dh_python3", "gcc", "make")
    folder = tmp_path_factory.mktemp("debian")
    source = folder / f"lazycuda-{distribution.version()}"
    archive = distribution.source_archive(tmp_path_factory.mktemp("dist"))
    shutil.copy(archive, folder / f"lazycuda_{distribution.version()}.orig.tar.gz")
    subprocess.run(["tar", "-xzf", archive, "-C", folder], check=True)
    shutil.copytree(source / "packaging" / "debian", source / "debian")
    distribution.packaged("dpkg-buildpackage", "-us", "-uc", "-d", "-j2", cwd=source)
    unpacked = {}
    (folder / "unpacked").mkdir()
    for part, name in PARTS.items():
        file, = folder.glob(f"{name}_*.deb")
        unpacked[part] = folder / "unpacked" / part
        subprocess.run(["dpkg-deb", "-x", file, unpacked[part]], check=True)
    return types.SimpleNamespace(folder=folder, unpacked=unpacked)


@pytest.fixture(scope="module")
def libdir():
    distribution.needs("dpkg-architecture")
    return "lib/" + build.output("dpkg-architecture", "-qDEB_HOST_MULTIARCH").strip()


def field(built, part, name):
    file, = built.folder.glob(f"{PARTS[part]}_*.deb")
    return build.output("dpkg-deb", "-f", file, name).strip()


def test_every_file_is_in_its_package(built, libdir):
    distribution.check_contents(built.unpacked, libdir, "lib/python3/dist-packages")


def test_the_command_and_the_stubs_run_from_them(built, libdir, world):
    distribution.check_command(built.unpacked, libdir, world)


def test_what_each_depends_on(built):
    assert field(built, "runtime", "Depends").startswith("libc6 (>= ")
    for part in ("runtime", "others"):
        assert "," not in field(built, part, "Depends")        # libc alone
    assert "liblazycuda0 (>= " in field(built, "tools", "Depends")
    for part in ("development", "python"):
        assert field(built, part, "Depends").startswith("liblazycuda0 (= ")


@pytest.mark.parametrize("part", PARTS)
def test_no_package_is_given_for_a_real_librarys_name(built, part):
    # dpkg-shlibdeps reads these when other packages are built.
    file, = built.folder.glob(f"{PARTS[part]}_*.deb")
    said = build.run("dpkg-deb", "-I", file, "shlibs")
    assert {line.split()[0] for line in said.stdout.splitlines()} == {
        path.name.removesuffix(".so.0") for path in built.unpacked[part].glob("usr/lib/*/*.so.0")}


def test_lintian_has_nothing_to_say(built):
    distribution.needs("lintian")
    changes, = built.folder.glob("*.changes")
    said = build.run("lintian", "--fail-on", "error,warning", *(["--allow-root"] if os.getuid() == 0 else []),
                     changes)
    # A line that begins with N tells how many were overridden.
    tags = [line for line in said.stdout.splitlines() if not line.startswith("N:")]
    assert said.returncode == 0 and not tags, said.stdout + said.stderr
