# SPDX-License-Identifier: MIT
"""What lazycuda.link says of types, and on which Pythons it can be read."""
import ast
import os
import subprocess
import sys

import pytest

import build
import package
from lazycuda import link

CODE = build.PYTHON / "lazycuda"
FILES = [CODE / name for name in ("__init__.py", "paths.py", "link.py", "link_abi.py", "link_library.py",
                               "link_types.py")]

# How others would use it, and what the types of that are.
USER = """\
import lazycuda
from lazycuda.link import Code, Cubin, Linker, LinkError, Plan, PTXSource, inspect

def link(path: str) -> bytes:
    linker = Linker("sm_90", lto=True, options=["-lineinfo"])
    linker.add(PTXSource("text", setup_callback=print), Cubin.from_path(path)).add()
    plan: Plan = linker.plan().check()
    try:
        return linker.link()
    except LinkError as error:
        code: Code = error.code
        raise RuntimeError(f"{error.input}: {code.name} {error.had} {error.log}, {plan.rule}")

names: list[str] = [symbol.name for entry in inspect(b"").entries for symbol in entry.symbols]
print(lazycuda.libdir(12) / "x")
"""
WRONG = 'from lazycuda.link import Linker\nLinker(90).add("k.ptx")\n'


def mypy(*files):
    package.need("mypy")
    environment = {**os.environ, "MYPYPATH": str(CODE.parent)}
    return subprocess.run([sys.executable, "-m", "mypy", "--strict", "--no-error-summary",
                           "--cache-dir", build.BUILD / "tests" / "mypy", *files],
                          capture_output=True, text=True, env=environment)


def test_mypy_has_nothing_to_say():
    done = mypy(*FILES)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr


def test_mypy_knows_the_types_of_what_others_write(tmp_path):
    assert (CODE / "py.typed").exists()
    for name, text in (("user.py", USER), ("wrong.py", WRONG)):
        (tmp_path / name).write_text(text)
    done = mypy(tmp_path / "user.py")
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr
    assert mypy(tmp_path / "wrong.py").stdout.count("arg-type") == 2


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_python_3_8_reads_it(file):
    """Its grammar; and no annotation is evaluated."""
    tree = ast.parse(file.read_text(), feature_version=(3, 8))
    uses_types = any(isinstance(one, ast.FunctionDef) and one.returns for one in ast.walk(tree))
    futures = [one for one in tree.body if isinstance(one, ast.ImportFrom)
               and one.module == "__future__"]
    assert futures or not uses_types


def test_a_number_that_is_not_known_has_a_name():
    assert link.Code(9999).name == "NUMBER_9999" and link.Code(9999) == 9999
    with pytest.raises(ValueError):
        link.Code("x")
