# SPDX-License-Identifier: MIT
"""A program that uses a retargeted wheel, frozen by PyInstaller: docs/reference/retarget.md."""
import os
import shlex
import subprocess
import sysconfig

import pytest

import build
import package
import pages
import run_pip
import wheel_files
from importer import real as empty

FREEZER = "pyinstaller==6.22.3"
NATIVE = """
#include <Python.h>
int cudaRuntimeGetVersion(int *);
static PyObject *version(PyObject *a, PyObject *b)
{
	int found = 0, status = cudaRuntimeGetVersion(&found);

	return PyLong_FromLong(status ? -status : found);
}
static PyMethodDef methods[] = { { "version", version, METH_NOARGS, 0 }, { 0 } };
static PyModuleDef module = { PyModuleDef_HEAD_INIT, "native", 0, -1, methods };
PyMODINIT_FUNC PyInit_native(void) { return PyModule_Create(&module); }
"""


@pytest.fixture
def environment(retarget, tmp_path, real):
    """Has PyInstaller, a retargeted wheel "mine", and the package of CUDA 12's runtime."""
    if not os.path.exists(sysconfig.get_path("include") + "/Python.h"):
        pytest.skip("this Python has no headers")
    (tmp_path / "native.c").write_text(NATIVE)
    library = empty(tmp_path, "libcudart.so.12", "cudaRuntimeGetVersion", node="libcudart.so.12")
    build.output(*build.CC, "-w", "-shared", "-fPIC", f"-I{sysconfig.get_path('include')}", "-o",
                 tmp_path / "native.so", tmp_path / "native.c", library)
    retarget(wheel_files.make(tmp_path, {"mine/__init__.py": b"from .native import version\n",
                                         "mine/native.so": tmp_path / "native.so"}, name="mine"))
    runtime = real("12.9").file("cudart")
    cuda = wheel_files.make(tmp_path, {f"nvidia/cuda_runtime/lib/{runtime.name}": runtime},
                            name="nvidia_cuda_runtime_cu12", version="12.9")
    python = package.environment(tmp_path / "venv", *retarget.out.glob("*.whl"), cuda)
    try:
        pip = run_pip.run(["--python", python, "install", "--quiet", FREEZER], capture_output=True, text=True)
    except run_pip.NoPip as why:
        pytest.skip(str(why))
    if pip.returncode:
        pytest.skip(f"{FREEZER} could not be had: {run_pip.reason(pip.stderr)}")
    (tmp_path / "app.py").write_text("import mine\nprint(mine.version())\n")
    return python


@pytest.mark.parametrize("with_cuda, says", [(True, "12090"), (False, "-303")])
def test_it_runs_without_the_environment(environment, tmp_path, world, with_cuda, says):
    line, = pages.commands(pages.where("reference/retarget.md"), "pyinstaller")
    words = shlex.split(line)[1:] if with_cuda else ["app.py"]
    site = package.site_packages(environment)
    done = subprocess.run([environment.parent / "pyinstaller", "--log-level=ERROR", *(
        word.replace("SITE", str(site)) for word in words)], cwd=tmp_path,
        stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    environment.parent.parent.rename(tmp_path / "away")
    assert world.run(tmp_path / "dist/app/app").out.strip() == says
    stubs = [path.name for path in (tmp_path / "dist/app/_internal/mine.libs").iterdir()]
    assert stubs == ["libcudart.so.12"]
