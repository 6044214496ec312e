# SPDX-License-Identifier: MIT
"""The tests run with the oldest Python that they say they run with, whatever runs them here."""
import ast

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
