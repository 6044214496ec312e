# SPDX-License-Identifier: MIT
"""What tests/run.py fetches, and from where."""
import re

import pytest

import build
import prepare
import run_pip


@pytest.mark.parametrize("word, names", [
    (r"^def \w+\([^)]*\b(toolkit|real)\b", prepare.TOOLKIT_FOLDERS),
    (r"^import real_libraries", prepare.LIBRARY_FOLDERS),
    (r"^def \w+\([^)]*\blibclang\b", prepare.LIBCLANG_FOLDERS)])
def test_folders_that_take_real_libraries_are_listed(word, names):
    found = {file.relative_to(build.TESTS).parts[0] for file in build.TESTS.glob("*/**/*.py")
             if re.search(word, file.read_text(), re.M)} - {"lib", "fakes", "setup"}
    assert sorted(found - set(names)) == []


def test_no_registry_is_named():
    for file in (run_pip.__file__, prepare.__file__):
        assert not re.search(r"https?://(?!\{|\")[\w.]+\.\w", open(file).read())
