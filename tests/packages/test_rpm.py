# SPDX-License-Identifier: MIT
"""packaging/lazycuda.spec: packages built from the source archive, without a network."""
import shutil
import subprocess
import types

import pytest

import build
import distribution

SPEC = build.ROOT / "packaging" / "lazycuda.spec"
PARTS = {"runtime": "lazycuda-libs", "others": "lazycuda-all-libs", "development": "lazycuda-devel", "tools": "lazycuda",
         "python": "python3-lazycuda",
         **{f"compat{major}": f"lazycuda-compat{major}" for major in build.MAJORS}}
LIBDIR = "lib64"
PYTHON = f"{LIBDIR}/python3.13/site-packages"
# As on Fedora, where this may be Debian; and without what only Fedora has.
SETTINGS = [word for pair in (f"_libdir /usr/{LIBDIR}", f"python3_sitearch /usr/{PYTHON}", "debug_package %{nil}",
                              "_smp_mflags -j2") for word in ("--define", pair)]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    distribution.needs("rpmbuild", "rpm2cpio", "cpio", "gcc", "make")
    folder = tmp_path_factory.mktemp("rpm")
    (folder / "SOURCES").mkdir()
    shutil.copy(distribution.source_archive(tmp_path_factory.mktemp("dist")), folder / "SOURCES")
    # --nodeps: the build's requirements may be there under other packages' names.
    distribution.packaged("rpmbuild", "-bb", "--nodeps", "--define", f"_topdir {folder}", *SETTINGS,
                      SPEC, cwd=folder)
    files, unpacked = {}, {}
    for part, name in PARTS.items():
        files[part], = folder.glob(f"RPMS/*/{name}-{distribution.version()}-*.rpm")
        unpacked[part] = folder / "unpacked" / part
        unpacked[part].mkdir(parents=True)
        content = subprocess.run(["rpm2cpio", files[part]], check=True, capture_output=True).stdout
        subprocess.run(["cpio", "-idm", "--quiet"], input=content, cwd=unpacked[part], check=True)
    return types.SimpleNamespace(files=files, unpacked=unpacked)


def asked(built, part, what):
    return build.output("rpm", "-qp", what, built.files[part]).splitlines()


def test_every_file_is_in_its_package(built):
    pages = list(built.unpacked["tools"].glob("usr/share/man/man7/lazycuda.7*"))
    distribution.check_contents(built.unpacked, LIBDIR, PYTHON, pages[0].name.removeprefix("lazycuda.7"))


def test_the_command_and_the_stubs_run_from_them(built, world):
    distribution.check_command(built.unpacked, LIBDIR, world)


def libraries(lines):
    return {line.partition("(")[0] for line in lines if ".so" in line}


def test_only_the_stubs_are_provided(built):
    # Not the real libraries' names, which compat packages have files under.
    for part in PARTS:
        wanted = {path.name for path in built.unpacked[part].glob(f"usr/{LIBDIR}/*.so.0")}
        assert libraries(asked(built, part, "--provides")) == wanted, part


def test_what_each_requires(built):
    needed = libraries(asked(built, "runtime", "--requires"))
    assert not [name for name in needed if name.startswith(("libcu", "libnv"))
                and not name.endswith("_stub.so.0")]
    for part in ("development", "tools", "python"):
        assert any(line.startswith("lazycuda-libs") for line in asked(built, part, "--requires"))


def test_what_its_pkg_config_files_ask_for_is_provided(built):
    distribution.needs("pkg-config")    # which rpm asks
    provided, required = ({line.split()[0] for line in asked(built, "development", what) if "pkgconfig(" in line}
                          for what in ("--provides", "--requires"))
    assert "pkgconfig(cudart-stub-12)" in provided and required <= provided
