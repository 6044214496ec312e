# SPDX-License-Identifier: MIT
"""What published binaries import, counted by tools/upkeep/imports.py."""
import re
import subprocess
import sys
import zipfile

import pytest

import build
from importer import importer

TOOL = build.ROOT / "tools" / "upkeep" / "imports.py"


@pytest.fixture
def ask(tmp_path):
    """What the tool said and its status; pip has no index but this folder."""
    def run(*words):
        place = {"PATH": "/usr/bin:/bin", "LAZYCUDA_IMPORTS": str(tmp_path / "notes"),
                 "PIP_CONFIG_FILE": "/dev/null", "PIP_NO_INDEX": "1",
                 "PIP_FIND_LINKS": str(tmp_path)}
        return subprocess.run([sys.executable, TOOL, *words], capture_output=True, text=True,
                              env=place)
    return run


@pytest.fixture
def count(ask):
    def run(*words):
        said = ask(*words)
        assert said.returncode == 0, said.stderr
        return said.stdout
    return run


@pytest.fixture
def wheel(tmp_path):
    """A wheel with these modules: (major, names)."""
    def make(name, *modules):
        path = tmp_path / f"{name}-1.0-py3-none-any.whl"
        with zipfile.ZipFile(path, "w") as made:
            made.writestr("text", "no ELF file")
            made.writestr(f"{name}-1.0.dist-info/METADATA",
                          f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
            made.writestr(f"{name}-1.0.dist-info/WHEEL",
                          "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            for i, (major, names) in enumerate(modules):
                made.write(importer(tmp_path, *names, major=major, name=f"m{i}.so"), f"m{i}.so")
        return path
    return make


def rows(text, major, version):
    return re.findall(rf"^\| {major} \| {version} \| (.*) \|$", text, re.M)


def test_files_and_wheels_are_counted_and_judged(count, wheel):
    assert "2 files" in count("add", wheel(
        "one", (13, ["cudaMalloc", "cudaGetDriverEntryPointByVersion"]),
        (13, ["cudaMalloc", "cudaLibraryLoadData"])))
    count("add", wheel("two", (11, ["cudaFree", "cudaBindTexture"]), (12, ["cudaFree"])))
    count("add", wheel("none"))
    text = count("count")
    assert text.startswith("Of 3 wheels, 2 import the runtime.\n")
    assert rows(text, 13, "11.8") == ["1 of 2, 50.0 % | 0 of 1, 0.0 % | `cudaLibraryLoadData` 1"]
    assert rows(text, 13, "12.9") == ["2 of 2, 100.0 % | 1 of 1, 100.0 % | "]
    assert rows(text, 12, "11.8") == ["1 of 1, 100.0 % | 1 of 1, 100.0 % | "]
    assert rows(text, 11, "13.5") == ["0 of 1, 0.0 % | 0 of 1, 0.0 % | `cudaBindTexture` 1"]
    assert "| 13 | 1 | 2 | 3 | 12.5: 1, 12.8: 1 |" in text
    assert count("count", "--lacking", "13", "11.8") == "`cudaLibraryLoadData` 1\n"


def test_wheels_are_fetched_once(ask, count, wheel, tmp_path):
    fetched, wanted = wheel("one", (12, ["cudaMalloc"])), tmp_path / "list"
    wanted.write_text("# a comment\none==1.0  # another\n")
    assert "one-1.0-py3-none-any.whl: 1 files" in count("fetch", wanted)
    fetched.unlink()
    assert count("fetch", wanted) == ""
    assert "| 12 | 1 | 1 | 1 | 11.7: 1 |" in count("count")
    assert "published.txt are not fetched and not counted" in ask("count").stderr


def test_names_that_the_list_has_not(ask, tmp_path):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "new.txt").write_text("13 a.so cudaMalloc cudaFromTomorrow\n")
    said = ask("count")
    assert said.returncode == 1 and said.stdout == ""
    assert "symbols.txt has no cudaFromTomorrow" in said.stderr
