/* SPDX-License-Identifier: MIT */
/* fastkernels.c - the extension that README.md begins with */
#define Py_LIMITED_API 0x03080000
#include <Python.h>

int cudaMalloc(void **, size_t);
const char *cudaGetErrorString(int);

static PyObject *run(PyObject *self, PyObject *nothing)
{
	void *memory;
	int status = cudaMalloc(&memory, 1);

	(void)self, (void)nothing;
	if (status)
		return PyErr_Format(PyExc_RuntimeError, "%s", cudaGetErrorString(status));
	Py_RETURN_NONE;
}

static PyMethodDef methods[] = { { "run", run, METH_NOARGS, NULL }, { NULL, NULL, 0, NULL } };
static struct PyModuleDef module = {
	PyModuleDef_HEAD_INIT, .m_name = "fastkernels", .m_size = -1, .m_methods = methods,
};

PyMODINIT_FUNC PyInit_fastkernels(void)
{
	return PyModule_Create(&module);
}
