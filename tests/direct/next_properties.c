/* SPDX-License-Identifier: MIT */
/* To be preloaded: asks for the next function of its name, which has several versions. */
#define _GNU_SOURCE
#include <dlfcn.h>

int cudaGetDeviceProperties(void *properties, int device)
{
	int (*next)(void *, int) = (int (*)(void *, int))dlsym(RTLD_NEXT, "cudaGetDeviceProperties");

	return next ? 1000 + next(properties, device) : -1;
}
