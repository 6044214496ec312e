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
def count(tmp_path):
    def run(*words):
        place = {"PATH": "/usr/bin:/bin", "LAZYCUDA_IMPORTS": str(tmp_path / "notes")}
        return subprocess.run([sys.executable, TOOL, *words], capture_output=True, text=True,
                              check=True, env=place).stdout
    return run


@pytest.fixture
def wheel(tmp_path):
    """A wheel with these modules: (major, names)."""
    def make(name, *modules):
        path = tmp_path / f"{name}-1.0-py3-none-linux_x86_64.whl"
        with zipfile.ZipFile(path, "w") as made:
            made.writestr("text", "no ELF file")
            for i, (major, names) in enumerate(modules):
                made.write(importer(tmp_path, *names, major=major, name=f"m{i}.so"), f"m{i}.so")
        return path
    return make


def rows(text, major, version):
    return re.findall(rf"^\| {major} \| {version} \| (.*) \|$", text, re.M)


def test_files_are_counted_and_judged(count, wheel):
    assert "2 files" in count("add", wheel(
        "one", (13, ["cudaMalloc", "cudaGetDriverEntryPointByVersion"]),
        (13, ["cudaMalloc", "cudaLibraryLoadData"])))
    count("add", wheel("two", (11, ["cudaFree", "cudaBindTexture"]), (12, ["cudaFree"])))
    text = count("count")
    assert rows(text, 13, "11.8") == ["1 of 2, 50.0 % | `cudaLibraryLoadData` 1"]
    assert rows(text, 13, "12.9") == ["2 of 2, 100.0 % | "]
    assert rows(text, 12, "11.8") == ["1 of 1, 100.0 % | "]
    assert rows(text, 11, "13.5") == ["0 of 1, 0.0 % | `cudaBindTexture` 1"]
    assert "| 13 | 2 | 3 | 12.5: 1, 12.8: 1 |" in text
    assert count("count", "--lacking", "13", "11.8") == "`cudaLibraryLoadData` 1\n"


def test_a_copy_of_a_file_counts_where_it_is(count, wheel):
    module = (12, ["cudaMalloc"])
    count("add", wheel("one", module, module), wheel("two", module))
    assert "| 12 | 3 | 1 | 11.7: 3 |" in count("count")


def test_a_wheel_without_such_files(count, wheel):
    assert ": 0 files" in count("add", wheel("none"))
