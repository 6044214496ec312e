# SPDX-License-Identifier: MIT
"""tests/run.py sets itself up, says what it could not have, and fetches what is needed."""
import os
import re
import sys

import pytest

import build
import prepare
import run_pip
from index_server import write


def made_up(folder, name, version="1.0", **files):
    stem = f"{name.replace('-', '_')}-{version}"
    write(folder / f"{stem}-py3-none-any.whl", {
        **{file.replace("__", "/") + ".py": text for file, text in files.items()},
        f"{stem}.dist-info/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{stem}.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\n"
                                   "Tag: py3-none-any\n",
        f"{stem}.dist-info/RECORD": ""})


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The tests of a tree, whose packages come from a folder."""
    for name in list(os.environ):
        if name.startswith("PIP_"):
            monkeypatch.delenv(name)
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    for name, value in {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(build.without_spaces(wheels)),
                        "PIP_CONFIG_FILE": os.devnull}.items():
        monkeypatch.setenv(name, value)
    venv = tmp_path / "build" / "venv"
    for name, value in {"BUILD": venv.parent, "VENV": venv, "PYTHON": venv / "bin" / "python",
                        "REQUIREMENTS": tmp_path / "requirements.txt"}.items():
        monkeypatch.setattr(prepare, name, value)
    (tmp_path / "requirements.txt").write_text(
        "pytest==1.0     # runs them\npytest-xdist==1.0\nmade-up==1.0; python_version < '3'\n"
        "made-up==2.0; python_version > '3'\nnowhere==1.0\nsetuptools==1.0\n")
    for name in ("pytest", "pytest-xdist", "setuptools"):
        made_up(wheels, name, **{name.replace("-", "_"): ""})
    made_up(wheels, "made-up", "2.0", made_up="")
    return tmp_path


def test_what_cannot_be_had_does_not_stop_the_rest(folder, capfd):
    assert prepare.python() == prepare.PYTHON
    said = capfd.readouterr().out
    assert all(prepare.has(prepare.PYTHON, name) for name in ("pytest", "made_up", "setuptools"))
    line, = [line for line in said.splitlines() if "skipped" in line]
    assert "nowhere==1.0: " in line and "pip: " in line and "made-up" not in line
    stamp = prepare.PYTHON.stat().st_ctime_ns
    assert prepare.python() == prepare.PYTHON and prepare.PYTHON.stat().st_ctime_ns == stamp
    assert "nowhere==1.0" in capfd.readouterr().out, "it is said each time"


@pytest.mark.parametrize("has", [True, False])
def test_no_network(folder, refused, monkeypatch, capfd, has):
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.delenv("PIP_FIND_LINKS")
    monkeypatch.setenv("PIP_INDEX_URL", refused)
    monkeypatch.setenv("PIP_RETRIES", "1")
    monkeypatch.setattr(prepare, "has", lambda python, module: has and python == sys.executable)
    assert prepare.python() == (sys.executable if has else None)
    said = capfd.readouterr().out.splitlines()
    assert len(said) == 1 and "cannot be reached: Connection refused" in said[0]
    assert ("own pytest" if has else "python3-pytest") in said[0]


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
