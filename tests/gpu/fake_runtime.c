/* SPDX-License-Identifier: MIT */
/*
 * fake_runtime.c - a runtime without a device, for the tests of the programs here
 *
 * Memory is the host's, streams are done at once, and the kernels of kernels.cu and of
 * what nvcc compiles are known by name.  fakes_of_runtime.py adds what VERSION (13050) exports beside these, as
 * functions that return 0, and cudaDeviceProp in PROPERTIES.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include GENERATED

enum { INVALID = 1, NO_MEMORY = 2, BAD_CONFIGURATION = 9, BAD_SYMBOL = 13, BAD_TEXTURE = 18, BAD_FUNCTION = 98, BAD_DEVICE = 101, BAD_HANDLE = 400, LOSSY = 402, TRAPPED = 719, CAPTURING = 900,
       INVALIDATED = 901 };

struct dim3 {
	unsigned x, y, z;
};

struct array {
	size_t width, height, flags;
	int32_t format[5];
	char bytes[65536];
};

struct step {
	char *kernel;
	int *out, n, amount;
};

struct graph {
	struct step steps[8];
	int count;
	void *from[16], *to[16];
	size_t edges;
	uint64_t data;		/* of the first edge */
	int32_t priority;
	struct { void *function; struct dim3 grid, block; unsigned shared; void **arguments; } kernel;
};

static int last, trapped, capturing, invalidated;
static struct graph captured;
static uint64_t threshold;

#ifndef DISTURBED
# define DISTURBED 0
#endif
/* What a test makes different in a process of the stub: it has to be seen. */
enum { LIMITS = 1, COPIES, ERRORS, RANGES, FLAGS };

static bool is_disturbed(int what)
{
	return DISTURBED == what && dlsym(RTLD_DEFAULT, "lazycuda_version");
}

static int say(int result)
{
	if (trapped)
		result = trapped;
	if (result && is_disturbed(ERRORS))
		result++;
	if (result)
		last = result;
	return result;
}

/* ---- registrations ---- */

static struct {
	const void *host;
	const char *name;
	int *device;
} known[64];
static int known_count;

static int *remember(const void *host, const char *name, int number)
{
	known[known_count].host = host;
	known[known_count].name = name;
	known[known_count].device = malloc(sizeof(int));
	*known[known_count].device = number;
	return known[known_count++ % 64].device;
}

static int find(const void *host)
{
	for (int i = known_count; i-- > 0;)
		if (known[i].host == host)
			return i;
	return -1;
}

static int *variable(const char *name)
{
	for (int i = known_count; i-- > 0;)
		if (!strcmp(known[i].name, name))
			return known[i].device;
	abort();
}

void **__cudaRegisterFatBinary(void *data)
{
	return data;
}

void __cudaUnregisterFatBinary(void **handle)
{
	(void)handle;
	known_count = 0;	/* of one plugin at a time */
}

void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name)
{
	(void)handle, (void)device;
	remember(host, name, 0);
}

void __cudaRegisterVar(void **handle, char *host, char *device, const char *name)
{
	(void)handle, (void)device;
	remember(host, name, !strcmp(name, "factor") ? 5 : 3);
}

/* Of 11.  What is bound to it is memory. */
struct texture {
	void *memory;
};

void __cudaRegisterTexture(void **handle, const void *host, const void **device, const char *name)
{
	(void)handle, (void)device;
	remember(host, name, 0);
}

void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name)
{
	(void)handle, (void)device;
	*host = remember(host, name, 7);
}

static const char *name_of(const void *host)
{
	const int i = find(host);

	return i < 0 ? "" : known[i].name;
}

static void *bound;	/* to the only texture */

int cudaBindTexture(size_t *offset, const void *reference, void *memory)
{
	if (strcmp(name_of(reference), "table"))
		return say(BAD_TEXTURE);
	*offset = 0;
	bound = memory;
	return say(0);
}

int cudaUnbindTexture(const void *reference)
{
	(void)reference;
	bound = NULL;
	return say(0);
}

int cudaGetTextureReference(const void **into, const void *symbol)
{
	*into = strcmp(name_of(symbol), "table") ? NULL : symbol;
	return say(*into ? 0 : BAD_TEXTURE);
}

int cudaMemcpyToSymbol(const void *symbol, const void *from, size_t size)
{
	const int i = find(symbol);

	if (i < 0)
		return say(BAD_SYMBOL);
	memcpy(known[i].device, from, size);
	return say(0);
}

int cudaMemcpyFromSymbol(void *to, const void *symbol, size_t size)
{
	const int i = find(symbol);

	if (i < 0)
		return say(BAD_SYMBOL);
	memcpy(to, known[i].device, size);
	*(char *)to ^= is_disturbed(COPIES);
	return say(0);
}

int cudaGetSymbolAddress(void **into, const void *symbol)
{
	const int i = find(symbol);

	if (i >= 0)
		*into = known[i].device;
	return say(i < 0 ? BAD_SYMBOL : 0);
}

int cudaGetSymbolSize(size_t *into, const void *symbol)
{
	*into = sizeof(int);
	return say(find(symbol) < 0 ? BAD_SYMBOL : 0);
}

/* ---- kernels ---- */

static void computed(int *out, int n)
{
	for (int i = 0; out && i < n; i++)
		out[i] = *variable("factor") * i + *variable("counter") + *variable("total");
}

static void added(const struct step *step)
{
	for (int i = 0; i < step->n; i++)
		step->out[i] += step->amount;
}

static void of_object(const char *name, void **a)
{
	char *resource = *(char **)a[0];
	struct array *array = *(struct array **)(resource + 8);

	if (!strcmp(name, "fetch"))
		memcpy(*(void **)a[1], array, (size_t)*(int *)a[2] * 4);
	for (int i = 0; !strcmp(name, "invert") && i < *(int *)a[1]; i++)
		((int *)array->bytes)[i] *= -1;
	for (int i = 0; !strcmp(name, "sample") && i < *(int *)a[2]; i++)
		(*(float **)a[1])[i] = (((float *)array->bytes)[i] + ((float *)array->bytes)[i + 1]) / 2;
}

/* Of a block of as many threads. */
static void of_threads(const char *name, void **a, unsigned threads)
{
	int *p = *(int **)a[0], n = *(int *)a[1];

	for (int i = 0; !strcmp(name, "reverse") && i < n / 2; i++) {
		const int other = p[i];

		p[i] = p[n - 1 - i];
		p[n - 1 - i] = other;
	}
	for (unsigned i = 0; !strcmp(name, "_Z5timesILi3EEvPii") && i < threads; i++)
		p[i] *= 3;
	for (int i = 0; !strcmp(name, "combine") && i < n; i++)
		p[i] = 3 * i + 6;
	if (!strcmp(name, "look"))
		memcpy(p, bound, (size_t)n * 4);
}

static int launched(const void *function, struct dim3 grid, struct dim3 block, void **a)
{
	const int i = find(function);
	const char *name = i < 0 ? "" : known[i].name;

	if (i < 0)
		return say(BAD_FUNCTION);
	if (!grid.x || block.x > 1024)
		return say(BAD_CONFIGURATION);
	if (!strcmp(name, "stop"))
		trapped = TRAPPED;
	else if (!strcmp(name, "compute"))
		computed(*(int **)a[0], *(int *)a[1]);
	else if (!strcmp(name, "add") && capturing)
		captured.steps[captured.count++] =
			(struct step){ "add", *(int **)a[0], *(int *)a[1], *(int *)a[2] };
	else if (!strcmp(name, "add"))
		added(&(struct step){ "add", *(int **)a[0], *(int *)a[1], *(int *)a[2] });
	else if (!strcmp(name, "bump"))
		++*variable("counter"), *variable("total") += 10;
	else if (!strcmp(name, "together"))
		**(int **)a[1] = (int)grid.x;
	else if (!strcmp(name, "fetch") || !strcmp(name, "sample") || !strcmp(name, "invert"))
		of_object(name, a);
	else if (!strcmp(name, "clusters"))
		(*(int **)a[0])[0] = (*(int **)a[0])[7] = 2;
	else
		of_threads(name, a, block.x);
	return trapped ? 0 : say(0);
}

int cudaLaunchKernel(const void *function, struct dim3 grid, struct dim3 block, void **arguments)
{
	return launched(function, grid, block, arguments);
}

/* ---- what nvcc's host code calls ---- */

static struct {
	struct dim3 grid, block;
	size_t shared;
	void *stream;
} configuration;

int __cudaPushCallConfiguration(struct dim3 grid, struct dim3 block, size_t shared, void *stream)
{
	configuration.grid = grid;
	configuration.block = block;
	configuration.shared = shared;
	configuration.stream = stream;
	return 0;
}

int __cudaPopCallConfiguration(struct dim3 *grid, struct dim3 *block, size_t *shared, void **stream)
{
	*grid = configuration.grid;
	*block = configuration.block;
	*shared = configuration.shared;
	*stream = configuration.stream;
	return 0;
}

/* Since 12; a kernel's handle is its host function here. */
int __cudaGetKernel(const void **kernel, const void *function)
{
	*kernel = function;
	return 0;
}

int __cudaLaunchKernel(const void *kernel, struct dim3 grid, struct dim3 block, void **arguments)
{
	return launched(kernel, grid, block, arguments);
}

int cudaLaunchCooperativeKernel(const void *function, struct dim3 grid, struct dim3 block,
				void **arguments)
{
	return grid.x > 500 ? say(720) : launched(function, grid, block, arguments);
}

int cudaLaunchKernelExC(const void *config, const void *function, void **arguments)
{
	return launched(function, *(struct dim3 *)config, (struct dim3){ 1, 1, 1 }, arguments);
}

/* ---- devices ---- */

int cudaGetDeviceCount(int *count)
{
	*count = 1;
	return 0;
}

int cudaDriverGetVersion(int *version)
{
	*version = 13050 + is_disturbed(FLAGS);
	return 0;
}

int cudaRuntimeGetVersion(int *version)
{
	*version = VERSION;
	return 0;
}

int cudaDeviceGetAttribute(int *into, int number, int device)
{
	if (device)
		return say(BAD_DEVICE);
	*into = number == 75 ? 9 : number == 16 ? 132 : number == 83 || number == 89 ||
		number == 95 || number == 115 ? 1 : 1000 + number;
	return say(0);
}

static int properties(void *into, size_t size, int device)
{
	memcpy(into, PROPERTIES, size);
	return say(device ? BAD_DEVICE : 0);
}

int cudaGetDeviceProperties(void *into, int device)
{
	return properties(into, PLAIN_SIZE, device);
}

/* Of 12, whose other one has 11's struct, which is the beginning of this. */
int cudaGetDeviceProperties_v2(void *into, int device)
{
	return properties(into, sizeof(PROPERTIES), device);
}

int cudaGetDevice(int *device)
{
	*device = 0;
	return say(0);
}

int cudaGetDeviceFlags(unsigned *flags)
{
	*flags = 8;
	return say(0);
}

int cudaInitDevice(int device)
{
	return say(device ? BAD_DEVICE : 0);
}

int cudaSetDevice(int device)
{
	return say(device ? BAD_DEVICE : 0);
}

int cudaDeviceReset(void)
{
	trapped = last = 0;
	return 0;
}

int cudaDeviceSynchronize(void)
{
	return say(0);
}

int cudaGetLastError(void)
{
	const int got = last;

	last = trapped;
	return got;
}

int cudaPeekAtLastError(void)
{
	return last;
}

const char *cudaGetErrorName(int error)
{
	return error == 0 ? "cudaSuccess" : error == 1 ? "cudaErrorInvalidValue" :
	       "unrecognized error code";
}

const char *cudaGetErrorString(int error)
{
	return cudaGetErrorName(error);
}

int cudaDeviceCanAccessPeer(int *can)
{
	*can = 0;
	return say(0);
}

int cudaDeviceGetPCIBusId(char *into)
{
	strcpy(into, "0000:17:00.0");
	return say(0);
}

int cudaDeviceGetByPCIBusId(int *device)
{
	*device = 0;
	return say(0);
}

int cudaChooseDevice(int *device)
{
	*device = 0;
	return say(0);
}

int cudaDeviceGetLimit(size_t *into, int limit)
{
	*into = 100 + (size_t)limit;
	*into += is_disturbed(LIMITS);
	return say(0);
}

int cudaMemGetInfo(size_t *left, size_t *all)
{
	*left = *all = 1 << 30;
	return say(0);
}

int cudaDeviceGetStreamPriorityRange(int *low, int *high)
{
	*low = 0;
	*high = -5;
	return say(0);
}

/* ---- memory ---- */

/* ---- another process ---- */

/* What is as large as what is shared lies in a file, which children inherit. */
enum { SHARED = 1 << 21, FILES = 16 };
static struct { int fd; void *memory; } files[FILES];
static int file_count;

static void *map(int fd)
{
	void *memory = mmap(NULL, SHARED, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static void *in_a_file(void)
{
	const int fd = memfd_create("device", 0);

	if (file_count == FILES || ftruncate(fd, SHARED))
		abort();
	files[file_count].fd = fd;
	return files[file_count++].memory = map(fd);
}

int cudaIpcGetMemHandle(int *handle, void *memory)
{
	for (int i = 0; i < file_count; i++)
		if (files[i].memory == memory)
			*handle = files[i].fd;
	return say(0);
}

int cudaIpcOpenMemHandle(void **into, struct { int fd; char rest[60]; } handle)
{
	*into = map(handle.fd);
	return say(*into ? 0 : INVALID);
}

int cudaMalloc(void **into, size_t size)
{
	if (size == SHARED)
		return say((*into = in_a_file()) ? 0 : NO_MEMORY);
	*into = size >> 40 ? NULL : calloc(1, size);
	return say(*into ? 0 : NO_MEMORY);
}

int cudaHostAlloc(void **into, size_t size)
{
	return cudaMalloc(into, size);
}

int cudaMallocManaged(void **into, size_t size)
{
	return cudaMalloc(into, size);
}

int cudaMallocAsync(void **into, size_t size)
{
	return cudaMalloc(into, size);
}

int cudaMallocFromPoolAsync(void **into, size_t size)
{
	return cudaMalloc(into, size);
}

int cudaFree(void *p)
{
	return say(p == (void *)0x1234 ? INVALID : 0);
}

int cudaMemset(void *p, int byte, size_t size)
{
	memset(p, byte, size);
	return say(0);
}

int cudaMemsetAsync(void *p, int byte, size_t size)
{
	return cudaMemset(p, byte, size);
}

enum { TO_HOST = 2 };

int cudaMemcpy(void *to, const void *from, size_t size, int kind)
{
	if (!to || !from)
		return say(INVALID);
	memmove(to, from, size);
	*(char *)to ^= kind == TO_HOST && is_disturbed(COPIES);
	return say(0);
}

int cudaMemcpyAsync(void *to, const void *from, size_t size, int kind)
{
	return cudaMemcpy(to, from, size, kind);
}

/* The same arguments come first in 12 and in 13. */
int cudaMemcpyBatchAsync(void **to, void **from, size_t *sizes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		memcpy(to[i], from[i], sizes[i]);
	return say(0);
}

int cudaMemcpyPeerAsync(void *to, int a, const void *from, int b, size_t size)
{
	(void)a, (void)b;
	return cudaMemcpy(to, from, size, 3);
}

int cudaMallocPitch(void **into, size_t *pitch, size_t width, size_t height)
{
	*pitch = (width + 511) & ~(size_t)511;
	return cudaMalloc(into, *pitch * height);
}

static int rows(char *to, size_t to_pitch, const char *from, size_t from_pitch, size_t width,
		size_t height)
{
	for (size_t i = 0; i < height; i++)
		memmove(to + i * to_pitch, from + i * from_pitch, width);
	return say(0);
}

int cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
		 size_t height)
{
	return rows(to, to_pitch, from, from_pitch, width, height);
}

struct pitched {
	char *p;
	size_t pitch, x, y;
};

struct extent {
	size_t width, height, depth;
};

int cudaMalloc3D(struct pitched *into, struct extent extent)
{
	*into = (struct pitched){ NULL, 512, extent.width, extent.height };
	return cudaMalloc((void **)&into->p, 512 * extent.height * extent.depth);
}

int cudaMemcpy3D(const char *parameters)
{
	const struct pitched *from = (const void *)(parameters + 32), *to = (const void *)(parameters + 96);
	const struct extent *extent = (const void *)(parameters + 128);

	return rows(to->p, to->pitch, from->p, from->pitch, extent->width,
		    extent->height * extent->depth);
}

int cudaMallocArray(struct array **into, const int32_t *format, size_t width, size_t height,
		    unsigned flags)
{
	*into = calloc(1, sizeof(**into));
	**into = (struct array){ width, height, flags, { 0 }, { 0 } };
	memcpy((*into)->format, format, 20);
	return say(0);
}

int cudaMemcpy2DToArray(struct array *to, size_t x, size_t y, const void *from, size_t pitch,
			size_t width, size_t height)
{
	(void)x, (void)y;
	return rows(to->bytes, width, from, pitch, width, height);
}

int cudaMemcpy2DFromArray(void *to, size_t pitch, struct array *from, size_t x, size_t y,
			  size_t width, size_t height)
{
	(void)x, (void)y;
	return rows(to, pitch, from->bytes, width, width, height);
}

int cudaArrayGetInfo(void *format, struct extent *extent, unsigned *flags, struct array *array)
{
	memcpy(format, array->format, 20);
	*extent = (struct extent){ array->width, array->height, 0 };
	*flags = (unsigned)array->flags;
	return say(0);
}

int cudaPointerGetAttributes(void *into, const void *p)
{
	memset(into, 0, VERSION < 13000 ? 24 : 88);
	((int32_t *)into)[0] = p ? 2 : 0;
	((const void **)into)[1] = p;
	return say(0);
}

int cudaHostGetDevicePointer(void **into, void *p)
{
	*into = p;
	return say(0);
}

int cudaHostGetFlags(unsigned *flags)
{
	*flags = 2;
	return say(0);
}

int cudaMemRangeGetAttribute(int *into)
{
	*into = is_disturbed(RANGES);
	return say(0);
}

/* ---- streams, events, pools ---- */

static int handle(void **into)
{
	*into = calloc(1, 64);
	return say(0);
}

int cudaStreamCreate(void **into)
{
	return handle(into);
}

int cudaStreamCreateWithFlags(void **into, unsigned flags)
{
	return flags > 1 ? say(INVALID) : handle(into);
}

int cudaStreamCreateWithPriority(void **into, unsigned flags, int priority)
{
	int result = handle(into);

	((int *)*into)[0] = (int)flags;
	((int *)*into)[1] = priority;
	return result;
}

int cudaStreamGetFlags(int *stream, unsigned *flags)
{
	*flags = (unsigned)stream[0] + is_disturbed(FLAGS);
	return say(0);
}

/* As fake_driver.c numbers them. */
int cudaStreamGetId(void *stream, unsigned long long *id)
{
	*id = (unsigned long long)(uintptr_t)stream / 16;
	return say(0);
}

int cudaStreamGetDevice(void *stream, int *device)
{
	(void)stream;
	*device = 0;
	return say(0);
}

int cudaStreamGetPriority(int *stream, int *priority)
{
	*priority = stream[1];
	return say(0);
}

int cudaStreamSynchronize(void *stream)
{
	(void)stream;
	if (!capturing)
		return say(0);
	invalidated = 1;
	return say(CAPTURING);
}

int cudaEventCreate(void **into)
{
	return handle(into);
}

int cudaEventCreateWithFlags(void **into)
{
	return handle(into);
}

int cudaEventElapsedTime(float *into, void *a, void *b)
{
	*into = 25;
	return say(a == b ? BAD_HANDLE : 0);
}

/* 12.8 and later. */
int cudaEventElapsedTime_v2(float *into, void *a, void *b)
{
	return cudaEventElapsedTime(into, a, b);
}

int cudaLaunchHostFunc(void *stream, void (*function)(void *), void *data)
{
	(void)stream;
	function(data);
	return say(0);
}

int cudaLaunchHostFunc_v2(void *stream, void (*function)(void *), void *data)
{
	return cudaLaunchHostFunc(stream, function, data);
}

int cudaStreamAddCallback(void *stream, void (*function)(void *, int, void *), void *data)
{
	function(stream, 0, data);
	return say(0);
}

int cudaStreamSetAttribute(int *stream, int which, int *attribute)
{
	(void)which;
	stream[3] = *attribute;
	return say(0);
}

int cudaStreamGetAttribute(int *stream, int which, int *attribute)
{
	(void)which;
	*attribute = stream[3];
	return say(0);
}

int cudaStreamCopyAttributes(int *to, int *from)
{
	to[3] = from[3];
	return say(0);
}

int cudaMemPoolCreate(void **into)
{
	return handle(into);
}

int cudaDeviceGetDefaultMemPool(void **into)
{
	*into = &threshold;
	return say(0);
}

int cudaDeviceGetMemPool(void **into)
{
	*into = &threshold;
	return say(0);
}

int cudaMemPoolSetAttribute(void *pool, int which, uint64_t *got)
{
	(void)pool, (void)which;
	threshold = *got;
	return say(0);
}

int cudaMemPoolGetAttribute(void *pool, int which, void *into)
{
	(void)pool;
	if (which < 4)
		*(int *)into = 1;
	else
		*(uint64_t *)into = which == 4 ? threshold : 0;
	return say(0);
}

int cudaMemPoolGetAccess(int *flags)
{
	*flags = 3;
	return say(0);
}

/* ---- the driver's functions ---- */

static int of_driver(const char *name, void **function, int version)
{
	int (*get)(const char *, void **, int, uint64_t, int *);
	int status;

	*(void **)&get = dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuGetProcAddress_v2");
	get(name, function, version, 0, &status);
	return *function == NULL;
}

int cudaGetDriverEntryPoint(const char *name, void **function, uint64_t flags, int *query)
{
	const int missing = of_driver(name, function, VERSION);

	if (VERSION >= 12000 && query)
		*query = missing;
	return say(VERSION < 12000 && missing ? 500 : 0);
}

int cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned version,
				     uint64_t flags, int *query)
{
	const int missing = of_driver(name, function, (int)version);

	if (query)
		*query = missing;
	return say(0);
}

/* ---- external semaphores ---- */

int cudaImportExternalSemaphore(void **into, const int *description)
{
	*into = NULL;
	return say(*description > 10 ? INVALID : 999);
}

int cudaImportExternalMemory(void **into)
{
	*into = NULL;
	return say(999);
}

static int semaphores(const void *all, const void *parameters, unsigned count)
{
	return say(count && (!all || !parameters) ? INVALID : 0);
}

int cudaSignalExternalSemaphoresAsync(const void *all, const void *parameters, unsigned count)
{
	return semaphores(all, parameters, count);
}

int cudaSignalExternalSemaphoresAsync_v2(const void *all, const void *parameters, unsigned count)
{
	return semaphores(all, parameters, count);
}

int cudaWaitExternalSemaphoresAsync(const void *all, const void *parameters, unsigned count)
{
	return semaphores(all, parameters, count);
}

int cudaWaitExternalSemaphoresAsync_v2(const void *all, const void *parameters, unsigned count)
{
	return semaphores(all, parameters, count);
}

/* ---- functions ---- */

/* Of a library: a kernel of it is known as one that was registered is. */
int cudaLibraryLoadData(void **library)
{
	return handle(library);
}

int cudaLibraryGetKernel(const void **kernel, void *library, const char *name)
{
	(void)library;
	*kernel = NULL;
	for (int i = 0; i < known_count; i++)
		if (!strcmp(known[i].name, name))
			*kernel = known[i].host;
	return say(*kernel ? 0 : 500);
}

int cudaGetKernel(const void **kernel, const void *function)
{
	return __cudaGetKernel(kernel, function);
}

static int dynamic;

int cudaFuncSetAttribute(const void *function, int which, int number)
{
	dynamic = number;
	return say(find(function) < 0 ? BAD_FUNCTION : 0);
}

int cudaKernelSetAttributeForDevice(const void *kernel, int which, int number)
{
	return cudaFuncSetAttribute(kernel, which, number);
}

int cudaFuncGetAttributes(void *into, const void *function)
{
	memset(into, 0, 56);
	((int32_t *)into)[6] = 1024;
	((int32_t *)into)[11] = dynamic;
	return say(find(function) < 0 ? BAD_FUNCTION : 0);
}

int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *into)
{
	*into = 8;
	return say(0);
}

/* ---- graphs ---- */

int cudaStreamBeginCapture(void *stream)
{
	(void)stream;
	memset(&captured, 0, sizeof(captured));
	capturing = 1;
	return say(0);
}

int cudaStreamIsCapturing(void *stream, int *status)
{
	(void)stream;
	*status = capturing;
	return say(0);
}

int cudaStreamGetCaptureInfo(void *stream, int *status, unsigned long long *id)
{
	*id = 77;
	return cudaStreamIsCapturing(stream, status);
}

int cudaStreamGetCaptureInfo_v2(void *stream, int *status, unsigned long long *id)
{
	return cudaStreamGetCaptureInfo(stream, status, id);
}

int cudaStreamGetCaptureInfo_v3(void *stream, int *status, unsigned long long *id)
{
	return cudaStreamGetCaptureInfo(stream, status, id);
}

int cudaStreamEndCapture(void *stream, struct graph **graph)
{
	(void)stream;
	capturing = 0;
	*graph = invalidated ? NULL : malloc(sizeof(**graph));
	if (*graph)
		**graph = captured;
	return say(invalidated ? INVALIDATED : 0);
}

int cudaGraphCreate(struct graph **graph)
{
	*graph = calloc(1, sizeof(**graph));
	return say(0);
}

int cudaGraphGetNodes(struct graph *graph, void **nodes, size_t *count)
{
	(void)nodes;
	*count = (size_t)graph->count;
	return say(0);
}

int cudaGraphInstantiate(struct graph **exec, struct graph *graph)
{
	*exec = malloc(sizeof(**exec));
	**exec = *graph;
	return say(0);
}

int cudaGraphInstantiateWithFlags(struct graph **exec, struct graph *graph)
{
	return cudaGraphInstantiate(exec, graph);
}

int cudaGraphInstantiateWithParams(struct graph **exec, struct graph *graph)
{
	return cudaGraphInstantiate(exec, graph);
}

int cudaGraphLaunch(struct graph *exec)
{
	for (int i = 0; i < exec->count; i++)
		added(&exec->steps[i]);
	return say(0);
}

int cudaGraphExecUpdate(struct graph *exec, struct graph *graph, int32_t *info, int32_t *result)
{
	const int outcome = exec->count == graph->count ? 0 : 2;

	if (!outcome)
		*exec = *graph;
	*(VERSION < 12000 ? result : info) = outcome;
	return say(outcome ? 910 : 0);
}

int cudaGraphAddEmptyNode(void **node, struct graph *graph)
{
	*node = &graph->from[15] - graph->count++;
	return say(0);
}

static int add_edges(struct graph *graph, void **from, void **to, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < graph->edges; j++)
			if (graph->from[j] == from[i] && graph->to[j] == to[i])
				return say(INVALID);
	memcpy(graph->from + graph->edges, from, count * sizeof(*from));
	memcpy(graph->to + graph->edges, to, count * sizeof(*to));
	graph->edges += count;
	return say(0);
}

static int remove_edges(struct graph *graph, size_t count)
{
	graph->edges -= count;
	memmove(graph->from, graph->from + count, graph->edges * sizeof(*graph->from));
	memmove(graph->to, graph->to + count, graph->edges * sizeof(*graph->to));
	return say(0);
}

static int get_edges(struct graph *graph, void **from, void **to, size_t *count)
{
	if (from)
		memcpy(from, graph->from, graph->edges * sizeof(*from));
	if (to)
		memcpy(to, graph->to, graph->edges * sizeof(*to));
	*count = graph->edges;
	return say(0);
}

static int one_around(size_t *count)
{
	*count = 1;
	return say(0);
}

/* With a place for what an edge carries: all of 13, and _v2 of 12. */
static int lossy(struct graph *graph, const void *data)
{
	return graph->data && !data ? LOSSY : 0;
}

#define EDGES(suffix, DATA, HERE) \
int cudaGraphAddDependencies##suffix(struct graph *graph, void **from, void **to DATA, size_t count) \
{ \
	if (HERE) \
		memcpy(&graph->data, HERE, sizeof(graph->data)); \
	return add_edges(graph, from, to, count); \
} \
int cudaGraphRemoveDependencies##suffix(struct graph *graph, void **from, void **to DATA, size_t count) \
{ \
	(void)from, (void)to; \
	return remove_edges(graph, count); \
} \
int cudaGraphGetEdges##suffix(struct graph *graph, void **from, void **to DATA, size_t *count) \
{ \
	const int result = lossy(graph, HERE); \
\
	if (HERE) \
		memcpy(HERE, &graph->data, sizeof(graph->data)); \
	return result ? say(result) : get_edges(graph, from, to, count); \
} \
int cudaGraphNodeGetDependencies##suffix(void *node, void **nodes DATA, size_t *count) \
{ \
	(void)node, (void)nodes; \
	return one_around(count); \
} \
int cudaGraphNodeGetDependentNodes##suffix(void *node, void **nodes DATA, size_t *count) \
{ \
	(void)node, (void)nodes; \
	return one_around(count); \
}
#define NOTHING
#define AN_EDGE , void *data
#if VERSION >= 13000
EDGES(, AN_EDGE, data)
#else
EDGES(, NOTHING, (void *)NULL)
#endif
EDGES(_v2, AN_EDGE, data)

int cudaGraphAddKernelNode(struct graph **node, struct graph *graph, void *from, size_t count,
			   const void *parameters)
{
	(void)from, (void)count;
	memcpy(&graph->kernel, parameters, sizeof(graph->kernel));
	graph->steps[graph->count++] = (struct step){ "add", *(int **)graph->kernel.arguments[0],
		*(int *)graph->kernel.arguments[1], *(int *)graph->kernel.arguments[2] };
	*node = graph;
	return say(0);
}

int cudaGraphNodeGetType(void *node, int *type)
{
	(void)node;
	*type = 0;
	return say(0);
}

int cudaGraphKernelNodeGetParams(struct graph *node, void *into)
{
	memcpy(into, &node->kernel, sizeof(node->kernel));
	return say(0);
}

int cudaGraphKernelNodeSetAttribute(struct graph *node, int which, int32_t *attribute)
{
	(void)which;
	node->priority = *attribute;
	return say(0);
}

int cudaGraphKernelNodeGetAttribute(struct graph *node, int which, int32_t *attribute)
{
	(void)which;
	*attribute = node->priority;
	return say(0);
}

/* ---- textures ---- */

static int object(char **into, const void *resource)
{
	*into = calloc(1, 64);
	memcpy(*into, resource, 56);
	return say(0);
}

int cudaCreateTextureObject(char **into, const void *resource)
{
	return object(into, resource);
}

int cudaCreateTextureObject_v2(char **into, const void *resource)
{
	return object(into, resource);
}

int cudaCreateSurfaceObject(char **into, const void *resource)
{
	return object(into, resource);
}

static int resource_of(void *into, const char *from)
{
	memcpy(into, from, 56);
	return say(0);
}

int cudaGetTextureObjectResourceDesc(void *into, const char *texture)
{
	return resource_of(into, texture);
}

int cudaGetSurfaceObjectResourceDesc(void *into, const char *surface)
{
	return resource_of(into, surface);
}

int cudaGetTextureObjectTextureDesc(void *into)
{
	memset(into, 0, 64);
	return say(0);
}

/* Of 11.8, for the struct of 12. */
int cudaGetTextureObjectTextureDesc_v2(void *into)
{
	memset(into, 0, 68);
	return say(0);
}
