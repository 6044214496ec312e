/* SPDX-License-Identifier: MIT */
/* slow_registration_real.c - a runtime that takes three seconds to register a file; with -DOPENS
 * it asks ld.so for something after half a second */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

void **__cudaRegisterFatBinary(void *binary);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
			    int limit, void *tid, void *bid, void *block, void *grid, int *warp);
int cudaLaunchKernel(const void *kernel);
int cudaRuntimeGetVersion(int *version);
int cudaGetLastError(void);
int cudaPeekAtLastError(void);

static atomic_int registered;

void **__cudaRegisterFatBinary(void *binary)
{
	static void *handle;

	(void)binary;
#ifdef OPENS
	usleep(500000);
	dlclose(dlopen("libc.so.6", RTLD_NOW));
#else
	sleep(3);
#endif
	return &handle;
}

void __cudaRegisterFatBinaryEnd(void **handle)
{
	(void)handle;
}

void __cudaUnregisterFatBinary(void **handle)
{
	(void)handle;
}

void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
			    int limit, void *tid, void *bid, void *block, void *grid, int *warp)
{
	(void)handle, (void)host, (void)device, (void)name, (void)limit;
	(void)tid, (void)bid, (void)block, (void)grid, (void)warp;
	registered = 1;
}

int cudaLaunchKernel(const void *kernel)
{
	(void)kernel;
	return registered ? 0 : 98;
}

int cudaRuntimeGetVersion(int *version)
{
	*version = 12090;
	return 0;
}

int cudaGetLastError(void)
{
	return 0;
}

int cudaPeekAtLastError(void)
{
	return 0;
}
