/* SPDX-License-Identifier: MIT */
/* driver.h - for programs of the driver's API; of it, what they use */
#ifndef DRIVER_H
#define DRIVER_H

#include "../claim.h"

typedef uint64_t address;

int cuInit(unsigned), cuDriverGetVersion(int *), cuDeviceGetCount(int *), cuDeviceGet(int *, int);
int cuDeviceGetAttribute(int *, int, int), cuDevicePrimaryCtxRetain(void **, int);
int cuCtxSetCurrent(void *);
int cuModuleLoadData(void **, const void *), cuModuleUnload(void *);
int cuModuleGetFunction(void **, void *, const char *);
int cuMemAlloc_v2(address *, size_t), cuMemFree_v2(address), cuMemcpyDtoH_v2(void *, address, size_t);
int cuLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
		   void *, void **, void **);
int cuLinkCreate_v2(unsigned, int *, void **, void **), cuLinkDestroy(void *);
int cuLinkAddData_v2(void *, int, void *, size_t, const char *, unsigned, int *, void **);
int cuLinkComplete(void *, void **, size_t *);
int cuGetProcAddress(const char *, void **, int, uint64_t);
int cuGetProcAddress_v2(const char *, void **, int, uint64_t, int *);
int cuGetErrorName(int, const char **), cuGetErrorString(int, const char **);

static __attribute__((unused)) const char *error_name(int result)
{
	const char *name = NULL;

	return cuGetErrorName(result, &name) || !name ? "unknown" : name;
}

static void __attribute__((unused)) gave_up(const char *call, int result)
{
	/* The stub refuses nothing of the driver's. */
	give_up(call, result, error_name(result), 0);
}

static void *context;
static int device;

/* A current context; the file of the driver is compared like a value. */
static void __attribute__((unused)) begin(void)
{
	int count = 0, result = cuInit(0);

	if (result)
		skip("no device: cuInit says %d %s", result, error_name(result));
	if (cuDeviceGetCount(&count) || !count)
		skip("no device: cuDeviceGetCount says %d", count);
	result = cuDeviceGet(&device, 0);
	if (!result)
		result = cuDevicePrimaryCtxRetain(&context, device);
	if (!result)
		result = cuCtxSetCurrent(context);
	if (result)
		skip("no context on device 0: %d %s", result, error_name(result));
	value("library", "%s", file_of("cuda", "cuInit"));
}

#endif
