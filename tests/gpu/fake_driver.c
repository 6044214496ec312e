/* SPDX-License-Identifier: MIT */
/*
 * fake_driver.c - a driver and an NVML without a device, for the tests of the programs here
 *
 * Memory is the host's.  There are two kernels: `add', and `combine' of linked.cu.
 * fakes_of_runtime.py adds the other names, as functions that return 0.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include GENERATED

static int counted;		/* launches that a graph holds */
static int capturing;
static struct { uint32_t *memory; uint32_t number; } captured;

int cuDriverGetVersion(int *version)
{
	*version = DRIVER_VERSION;
	return 0;
}

int cuDeviceGetCount(int *count)
{
	*count = 1;
	return 0;
}

int cuDeviceGet(int *device)
{
	*device = 0;
	return 0;
}

int cuDeviceGetAttribute(int *into, int number)
{
	*into = number == 75 ? 9 : number == 76 ? 0 : number + DISTURBED;
	return 0;
}

int cuDevicePrimaryCtxRetain(void **context)
{
	*context = &counted;
	return 0;
}

int cuCtxGetCurrent(void **context)
{
	return cuDevicePrimaryCtxRetain(context);
}

int cuCtxPopCurrent_v2(void **context)
{
	return cuDevicePrimaryCtxRetain(context);
}

int cuCtxGetDevice(int *device)
{
	return cuDeviceGet(device);
}

int cuModuleLoadData(void **module, const char *image)
{
	if (!image || !strcmp(image, "no image") || LOADS_NOTHING)
		return 200;
	*module = &capturing;
	return 0;
}

int cuModuleGetFunction(const char **function, void *module, const char *name)
{
	(void)module;
	*function = name;
	return strcmp(name, "subtract") ? 0 : 500;
}

int cuModuleGetGlobal_v2(void **into, size_t *size)
{
	static int number = 77;

	*into = &number;
	*size = sizeof(number);
	return 0;
}

int cuMemAlloc_v2(void **into, size_t size)
{
	*into = calloc(1, size);
	return 0;
}

int cuMemsetD32_v2(uint32_t *p, uint32_t number, size_t count)
{
	while (count--)
		*p++ = number;
	return 0;
}

int cuMemcpyDtoH_v2(void *to, const void *from, size_t size)
{
	memcpy(to, from, size);
	return 0;
}

int cuMemGetAddressRange_v2(char **base, size_t *size, char *p)
{
	*base = p - 16;
	*size = 4096;
	return 0;
}

static void add(uint32_t *memory, uint32_t number)
{
	for (int i = 0; i < 1024; i++)
		memory[i] += number;
}

int cuLaunchKernel(const char *name, int a, int b, int c, int d, int e, int f, int g, void *stream,
		   void **arguments)
{
	uint32_t *memory = *(uint32_t **)arguments[0];
	const uint32_t number = *(uint32_t *)arguments[1];

	if (!strcmp(name, "add") && capturing) {
		captured.memory = memory;
		captured.number = number;
		counted++;
	} else if (!strcmp(name, "add")) {
		add(memory, number);
	}
	for (uint32_t i = 0; !strcmp(name, "combine") && i < number; i++)
		memory[i] = 3 * i + 6;
	return 0;
}

int cuStreamBeginCapture_v2(void)
{
	capturing = 1;
	return 0;
}

int cuStreamEndCapture(void *stream, void **graph)
{
	capturing = 0;
	*graph = &captured;
	return 0;
}

int cuGraphGetNodes(void *graph, void *nodes, size_t *count)
{
	*count = (size_t)counted;
	return 0;
}

int cuGraphInstantiateWithFlags(void **exec, void *graph)
{
	*exec = graph;
	return 0;
}

int cuGraphLaunch(void)
{
	add(captured.memory, captured.number);
	return 0;
}

int cuEventElapsedTime(float *into)
{
	*into = 1;
	return 0;
}

int cuLinkCreate_v2(int count, void *options, void *values, void **link)
{
	*link = &counted;
	return 0;
}

/* The dispatch module looks at what came out. */
int cuLinkComplete(void *link, const void **image, size_t *size)
{
	*image = CUBIN;
	*size = sizeof(CUBIN);
	return 0;
}

int cuGetErrorName(int error, const char **name)
{
	*name = error < 3 ? "CUDA_SOME_NAME" : NULL;
	return error < 3 ? 0 : 1;
}

int cuGetErrorString(int error, const char **name)
{
	return cuGetErrorName(error, name);
}

/* nvJitLink asks for one. */
int cuGetExportTable(void)
{
	return 500;
}

/* As fake_runtime.c numbers them. */
int cuStreamGetId(void *stream, unsigned long long *id)
{
	*id = (unsigned long long)(uintptr_t)stream / 16;
	return 0;
}

int cuStreamGetCtx(void *stream, void **context)
{
	return cuDevicePrimaryCtxRetain(context);
}

static const char here;

/* What this file exports.  Since 12 it is no error that something is not there. */
int cuGetProcAddress(const char *name, void **function, int version)
{
	Dl_info info;
	void *self = dladdr(&here, &info) ? dlopen(info.dli_fname, RTLD_NOW) : NULL;

	if (version >= 12000 && !strcmp(name, "cuGetProcAddress"))
		name = "cuGetProcAddress_v2";
	*function = self && !(DISTURBED && !strcmp(name, "cuMemAlloc")) ? dlsym(self, name) : NULL;
	return *function ? 0 : 500;
}

int cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags, int *status)
{
	*status = cuGetProcAddress(name, function, version) != 0;
	return 0;
}

int nvmlSystemGetNVMLVersion(char *into, unsigned size)
{
	strcpy(into, "12.575.1");
	return 0;
}

int nvmlDeviceGetCount_v2(unsigned *count)
{
	*count = 1;
	return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **device)
{
	*device = &counted;
	return 0;
}

const char *nvmlErrorString(int error)
{
	return error ? "some error" : "none";
}

int nvmlDeviceGetNumGpuCores(void *device, unsigned *into)
{
	*into = DISTURBED;
	return 0;
}
