# SPDX-License-Identifier: MIT
"""A Python without pip gets one, from the machine or from Debian; and only whole."""
import pytest

import build
from index_server import pip_wheel, write


def arrived(done, version="99.0"):
    assert done.returncode == 0, done.err
    assert f"made-up pip {version} list --x" in done.out
    return done


def test_a_folder_of_wheels(bare, tmp_path):
    links = str(build.without_spaces(tmp_path))
    pip_wheel(tmp_path, "98.10")
    pip_wheel(tmp_path)
    arrived(bare.run("list", "--x", PIP_FIND_LINKS=links))
    (tmp_path / "pip-99.0-py3-none-any.whl").unlink()
    # It is there, and is not made again.
    arrived(bare.run("list", "--x", PIP_FIND_LINKS=links))
    assert sorted(path.name for path in (bare.root / "build").iterdir()) == ["pip", "pip.lock"]


def test_what_a_distribution_took_out_of_pip(bare, tmp_path):
    pip_wheel(tmp_path, more={
        "pip/_vendor/__init__.py": "DEBUNDLED = True\n",
        "pip/__main__.py": "import os, sys\n"
                           "sys.path.insert(0, os.path.dirname(os.path.dirname(__file__)))\n"
                           "import beside\nprint('made-up pip 99.0 list --x')\n"})
    write(tmp_path / "beside-1-py3-none-any.whl", {"beside.py": ""})
    write(tmp_path / "certifi-1-py3-none-any.whl", {"certifi/core.py": ""})
    arrived(bare.run("list", "--x", PIP_FIND_LINKS=str(build.without_spaces(tmp_path))))


def test_none(bare):
    done = bare.run("list")
    assert done.returncode == 1 and len(done.err.splitlines()) == 1
    for part in ("no wheel of it", "apt-get", "python3-venv", "python3-pip"):
        assert part in done.err
    assert not bare.pip.exists() and not (bare.root / "build" / "pip.part").exists()


# Stand-ins: without lists of its own apt knows no package, and what dpkg unpacks is a folder.
APT = """#!/bin/sh
folder="@"
echo "$*" >>"$folder/log"
case "$*" in
*" update") case "$*" in *State::lists=*) : >"$folder/updated" ;; esac ;;
*" download python3-pip-whl") echo "E: Unable to locate package python3-pip-whl" >&2; exit 100 ;;
*) [ -e "$folder/updated" ] || exit 100; for last; do :; done; : >"$last.deb" ;;
esac
"""
DPKG = """#!/bin/sh
/bin/cp -r "@/packages/$(/usr/bin/basename "$2" .deb)/." "$3"
"""


@pytest.fixture
def debian(bare, tmp_path):
    for name, text in (("apt-get", APT), ("dpkg", DPKG)):
        (bare.root / "bin" / name).write_text(text.replace("@", str(tmp_path)))
        (bare.root / "bin" / name).chmod(0o755)
    wheels = tmp_path / "packages/python-pip-whl/usr/share/python-wheels"
    wheels.mkdir(parents=True)
    pip_wheel(wheels, more={
        "pip/_vendor/certifi/core.py": "where = '/nowhere/ca-certificates.crt'\n",
        "pip/_vendor/certifi/__init__.py": "",
        "pip/__main__.py": "import os, sys\n"
                           "sys.path.insert(0, os.path.dirname(os.path.dirname(__file__)))\n"
                           "from pip._vendor.certifi import core\n"
                           "print('made-up pip 99.0 list --x', open(core.where).read())\n"})
    certificates = tmp_path / "packages/ca-certificates/usr/share/ca-certificates/mozilla"
    certificates.mkdir(parents=True)
    for name in ("A", "B"):
        (certificates / f"{name}.crt").write_text(f"certificate {name}\n")
    distutils = tmp_path / "packages/python3-distutils"
    distutils.mkdir()
    return tmp_path


def test_debian_without_certificates(bare, debian):
    said = arrived(bare.run("list", "--x")).out
    assert "certificate A\ncertificate B" in said
    log = (debian / "log").read_text().splitlines()
    assert sum(line.endswith(" update") for line in log) == 1, "certificates take no other lists"
    assert all(f"Dir::Cache={bare.root}/build/" in line for line in log)
    assert sorted(path.name for path in (bare.root / "build").iterdir()) == ["pip", "pip.lock"]
