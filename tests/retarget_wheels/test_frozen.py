# SPDX-License-Identifier: MIT
"""A program that uses a retargeted wheel, frozen: docs/reference/retarget.md."""
import os
import shutil
import subprocess
import sysconfig

import pytest

import build
import package
import pages
import projects
import wheel_files
from importer import real as empty

# The package, how the page's command begins, and the program that it makes.
FREEZERS = [("pyinstaller==6.22.3", "pyinstaller", "dist/app/app"),
            ("nuitka==4.3.3", "python -m nuitka", "app.dist/app.bin"),
            ("cx_Freeze==8.7.3", "cxfreeze", "build/exe.*/app")]
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
    """Has a retargeted wheel "mine", and the package of CUDA 12's runtime."""
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
    (tmp_path / "app.py").write_text("import mine\nprint(mine.version())\n")
    return python


@pytest.mark.parametrize("freezer, command, program", FREEZERS, ids=[row[1] for row in FREEZERS])
def test_it_runs_without_the_environment(environment, tmp_path, world, freezer, command, program):
    projects.pip(freezer, "--python", environment, "install", freezer)
    page, site = pages.where("reference/retarget.md"), str(package.site_packages(environment))
    for step in pages.steps(page):
        if isinstance(step, pages.File) and "cxfreeze" in step.text:
            (tmp_path / step.name).write_text(step.text.replace("SITE", site))
    line, = pages.commands(page, command)
    done = subprocess.run(line.replace("SITE", site), shell=True, cwd=tmp_path, stdin=subprocess.DEVNULL,
                          env={**os.environ, "PATH": f"{environment.parent}:{os.environ['PATH']}"},
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    environment.parent.parent.rename(tmp_path / "away")
    program, = tmp_path.glob(program)
    assert world.run(program).out.strip() == "12090"
    # And by its stub where there is no CUDA.
    packages, = program.parent.rglob("nvidia")
    shutil.rmtree(packages)
    assert world.run(program).out.strip() == "-303"
