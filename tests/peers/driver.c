/* SPDX-License-Identifier: MIT */
/* driver.c - a libcuda.so.1 of the CUDA version DRIVER, with which numba-cuda, cuda.core, pynvjitlink and cupy
 * start: one device, of sm_90, whose memory is the host's.  What is not here returns success and does
 * nothing; so kernels do not run. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { SUCCESS = 0, INVALID_DEVICE = 101, INVALID_IMAGE = 200, NOT_FOUND = 500, MAJOR = 75, MINOR = 76 };

/* A function whose first argument is for this; none of them looks at the others. */
#define GIVES(name, type, value) \
	int name(type *result) \
	{ \
		*result = (value); \
		return SUCCESS; \
	}

/* It does what another does. */
#define SAME(name, other) __typeof__(other) name __attribute__((alias(#other)));

#define HANDLE ((void *)0x1000)

static __thread void *current;	/* the context */

GIVES(cuDriverGetVersion, int, DRIVER)
GIVES(cuDeviceGetCount, int, 1)
GIVES(cuCtxGetDevice, int, 0)
GIVES(cuCtxGetCurrent, void *, current)
GIVES(cuDevicePrimaryCtxRetain, void *, HANDLE)
GIVES(cuStreamCreate, void *, HANDLE)
GIVES(cuModuleGetFunction, void *, HANDLE)
GIVES(cuLibraryGetKernel, void *, HANDLE)
GIVES(cuLibraryGetModule, void *, HANDLE)
GIVES(cuKernelGetFunction, void *, HANDLE)
GIVES(cuFuncGetAttribute, int, 0)
GIVES(cuKernelGetAttribute, int, 0)
GIVES(cuOccupancyMaxActiveBlocksPerMultiprocessor, int, 1)
GIVES(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, int, 1)

static int nothing(void)
{
	return SUCCESS;
}

int cuGetProcAddress_v2(const char *name, void **found, int version, uint64_t flags, int *how)
{
	(void)version, (void)flags;
	*found = dlsym(RTLD_DEFAULT, name);
	if (!*found)
		*found = (void *)nothing;
	if (how)
		*how = 0;
	return SUCCESS;
}

int cuInit(unsigned flags)
{
	return (int)flags;
}

/* nvrtc calls it where it finds a driver. */
int cuGetExportTable(const void **table, const void *id)
{
	(void)id;
	*table = NULL;
	return NOT_FOUND;
}

int cuDeviceGet(int *device, int number)
{
	*device = number;
	return number ? INVALID_DEVICE : SUCCESS;
}

int cuDeviceGetName(char *name, int room, int device)
{
	(void)device;
	strncpy(name, "none", (size_t)room);
	return SUCCESS;
}

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
	(void)device;
	*value = attribute == MAJOR ? 9 : attribute == MINOR ? 0 : 1024;
	return SUCCESS;
}

int cuGetErrorName(int error, const char **name)
{
	*name = error == NOT_FOUND ? "CUDA_ERROR_NOT_FOUND" : "CUDA_ERROR_UNKNOWN";
	return SUCCESS;
}

SAME(cuGetErrorString, cuGetErrorName)

int cuOccupancyMaxPotentialBlockSize(int *grid, int *block)
{
	*grid = *block = 1;
	return SUCCESS;
}

int cuCtxSetCurrent(void *context)
{
	current = context;
	return SUCCESS;
}

SAME(cuCtxPushCurrent, cuCtxSetCurrent)

int cuCtxPopCurrent(void **context)
{
	if (context)
		*context = current;
	return cuCtxSetCurrent(NULL);
}

/* ---- memory ---- */

int cuMemGetInfo(size_t *left, size_t *all)
{
	*left = *all = (size_t)1 << 34;
	return SUCCESS;
}

int cuMemAlloc(void **memory, size_t size)
{
	*memory = calloc(1, size ? size : 1);
	return SUCCESS;
}

int cuMemcpyHtoD(void *to, const void *from, size_t size)
{
	memcpy(to, from, size);
	return SUCCESS;
}

SAME(cuMemcpyDtoH, cuMemcpyHtoD)

/* ---- code ---- */

/* Each is another: numba-cuda finds a module by it. */
int cuModuleLoadDataEx(void **module, const void *image)
{
	*module = malloc(1);
	return image ? SUCCESS : INVALID_IMAGE;
}

SAME(cuLibraryLoadData, cuModuleLoadDataEx)

/* ---- what cupy looks up ---- */

SAME(cuModuleLoadData, cuModuleLoadDataEx)

int cuModuleGetGlobal_v2(void **memory)
{
	return cuMemAlloc(memory, 4096);
}

/* An image that cannot be told from another. */
int cuLinkComplete(void *state, const void **image, size_t *size)
{
	(void)state;
	*image = "image";
	*size = 5;
	return SUCCESS;
}

int cuLinkCreate_v2(unsigned count, const int *options, void *const *values, void **state)
{
	(void)count, (void)options, (void)values;
	*state = HANDLE;
	return SUCCESS;
}

SAME(cuLinkAddData_v2, nothing)
SAME(cuLinkAddFile_v2, nothing)
SAME(cuLinkDestroy, nothing)
SAME(cuModuleUnload, nothing)
SAME(cuLaunchKernel, nothing)
SAME(cuLaunchCooperativeKernel, nothing)
SAME(cuFuncSetAttribute, nothing)

/* ---- its CUDA runtime ---- */

SAME(cudaNothing, nothing)
GIVES(cudaGetDevice, int, 0)
GIVES(cudaGetDeviceCount, int, 1)
GIVES(cudaDriverGetVersion, int, DRIVER)
GIVES(cudaRuntimeGetVersion, int, DRIVER)
GIVES(cudaStreamCreate, void *, HANDLE)
GIVES(cudaEventCreate, void *, HANDLE)

SAME(cudaDeviceGetAttribute, cuDeviceGetAttribute)
SAME(cudaMalloc, cuMemAlloc)
SAME(cudaHostAlloc, cuMemAlloc)
SAME(cudaMallocHost, cuMemAlloc)
SAME(cudaMemcpyAsync, cuMemcpyHtoD)
SAME(cudaMemcpy, cuMemcpyHtoD)

int cudaMemsetAsync(void *memory, int byte, size_t size)
{
	memset(memory, byte, size);
	return SUCCESS;
}

int cudaStreamIsCapturing(void *stream, int *is)
{
	(void)stream;
	*is = 0;
	return SUCCESS;
}
