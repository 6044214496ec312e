# SPDX-License-Identifier: MIT
"""The tests run with the oldest Python that they say they run with, whatever runs them here, and test what
Python code there is."""
import ast

import pytest

import build


def test_no_file_needs_a_newer_python(monkeypatch):
    monkeypatch.syspath_prepend(build.TESTS)
    import run as runner
    newer = []
    for path in (build.ROOT / "tests").rglob("*.py"):
        tree = ast.parse(path.read_text(), feature_version=runner.PYTHON)
        newer += [f"{path}:{node.lineno}" for node in ast.walk(tree)
                  if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "zip"
                  and node.keywords]         # zip(strict=) came with 3.10
    assert newer == []


def test_code_that_was_changed_since_make_is_not_tested(monkeypatch, tmp_path, pytestconfig):
    """What lies in build, and is tested, is a copy."""
    conftest = next(one for one in pytestconfig.pluginmanager.get_plugins()
                    if getattr(one, "__file__", "") == str(build.TESTS / "conftest.py"))
    monkeypatch.setattr(build, "PYTHON", tmp_path)
    with pytest.raises(pytest.exit.Exception, match="run make first"):
        conftest.pytest_sessionstart(None)
