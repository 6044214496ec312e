/* SPDX-License-Identifier: MIT */
/* native.c - the architecture of the GPU that is here */
#include "native.h"

#include "../../include/lazycuda.h"
#include "calls.h"

/* CUdevice_attribute */
enum { CAPABILITY_MAJOR = 75, CAPABILITY_MINOR = 76 };

/* The device of the current context or, if there is none, the one of this number. */
static const char *find_device(int ordinal, int *device)
{
	void *context = NULL;

	if (!cuCtxGetCurrent(&context) && context && !cuCtxGetDevice(device))
		return NULL;
	return cuDeviceGet(device, ordinal) ? "cuDeviceGet" : NULL;
}

/* Returns the function that failed, or NULL. */
static const char *ask(int ordinal, int *major, int *minor)
{
	const char *failed;
	int device;

	if (cuInit(0))
		return "cuInit";
	failed = find_device(ordinal, &device);
	if (failed)
		return failed;
	return cuDeviceGetAttribute(major, CAPABILITY_MAJOR, device) ||
	       cuDeviceGetAttribute(minor, CAPABILITY_MINOR, device) ? "cuDeviceGetAttribute" : NULL;
}

const char *lk_native_arch(struct lc_arena *arena, int device, const char **why)
{
	const char *failed;
	int major, minor;

	if (!lazycuda_get_driver().version) {
		*why = "there is no driver here";
		return NULL;
	}
	failed = ask(device, &major, &minor);
	if (!failed)
		return lc_format(arena, "sm_%d%d", major, minor);
	*why = lc_format(arena, "%s of the driver here failed for device %d", failed, device);
	return NULL;
}
