/* SPDX-License-Identifier: MIT */
/* native.c - an extension that calls the CUDA runtime */
#define Py_LIMITED_API 0x03080000
#include <Python.h>
#include <stdio.h>

int cudaRuntimeGetVersion(int *version);
int cudaGetDeviceCount(int *count);
const char *cudaGetErrorString(int status);

/* (status, version of the runtime, status of counting devices, what that means) */
static PyObject *count(PyObject *self, PyObject *nothing)
{
	int version = -1, devices = -1, status, counted;
	char meaning[2048];

	(void)self, (void)nothing;
	status = cudaRuntimeGetVersion(&version);
	counted = cudaGetDeviceCount(&devices);
	snprintf(meaning, sizeof(meaning), "%s", cudaGetErrorString(counted));
	return Py_BuildValue("iiis", status, version, counted, meaning);
}

static PyMethodDef methods[] = { { "count", count, METH_NOARGS, NULL }, { NULL, NULL, 0, NULL } };
static struct PyModuleDef module = {
	PyModuleDef_HEAD_INIT, .m_name = "_native", .m_size = -1, .m_methods = methods,
};

PyMODINIT_FUNC PyInit__native(void)
{
	return PyModule_Create(&module);
}
