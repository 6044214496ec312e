/* SPDX-License-Identifier: MIT */
/*
 * fake_runtime.c - a runtime without a device, for the tests of the programs here
 *
 * Memory is the host's, streams are done at once, and the kernels of kernels.cu are
 * known by name.  fakes_of_runtime.py adds what VERSION (13050) exports beside these, as
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

#include GENERATED

enum { INVALID = 1, NO_MEMORY = 2, BAD_CONFIGURATION = 9, BAD_SYMBOL = 13, BAD_FUNCTION = 98, BAD_DEVICE = 101, BAD_HANDLE = 400, TRAPPED = 719, CAPTURING = 900,
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
	int32_t priority;
	struct { void *function; struct dim3 grid, block; unsigned shared; void **arguments; } kernel;
};

static int last, trapped, capturing, invalidated;
static struct graph captured;
static uint64_t threshold;

static int say(int result)
{
	if (trapped)
		result = trapped;
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

void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name)
{
	(void)handle, (void)device;
	*host = remember(host, name, 7);
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
	else if (strcmp(name, "spin") && strcmp(name, "clusters"))
		of_object(name, a);
	return trapped ? 0 : say(0);
}

int cudaLaunchKernel(const void *function, struct dim3 grid, struct dim3 block, void **arguments)
{
	return launched(function, grid, block, arguments);
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
	*version = 13050;
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

int cudaGetDeviceProperties(void *into, int device)
{
	memcpy(into, PROPERTIES, sizeof(PROPERTIES));
	return say(device ? BAD_DEVICE : 0);
}

/* Of 12, beside the one of 11. */
int cudaGetDeviceProperties_v2(void *into, int device)
{
	return cudaGetDeviceProperties(into, device);
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
#ifdef DISTURBED	/* by the stub: what has to be seen */
	*into += dlsym(RTLD_DEFAULT, "lazycuda_version") != NULL;
#endif
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

int cudaMalloc(void **into, size_t size)
{
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

int cudaMemcpy(void *to, const void *from, size_t size)
{
	if (!to || !from)
		return say(INVALID);
	memmove(to, from, size);
	return say(0);
}

int cudaMemcpyAsync(void *to, const void *from, size_t size)
{
	return cudaMemcpy(to, from, size);
}

int cudaMemcpyPeerAsync(void *to, int a, const void *from, int b, size_t size)
{
	(void)a, (void)b;
	return cudaMemcpy(to, from, size);
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
	*into = 0;
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
	*flags = (unsigned)stream[0];
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

/* ---- functions ---- */

int cudaFuncGetAttributes(void *into, const void *function)
{
	memset(into, 0, 56);
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
#define EDGES(suffix, DATA) \
int cudaGraphAddDependencies##suffix(struct graph *graph, void **from, void **to DATA, size_t count) \
{ \
	return add_edges(graph, from, to, count); \
} \
int cudaGraphRemoveDependencies##suffix(struct graph *graph, void **from, void **to DATA, size_t count) \
{ \
	(void)from, (void)to; \
	return remove_edges(graph, count); \
} \
int cudaGraphGetEdges##suffix(struct graph *graph, void **from, void **to DATA, size_t *count) \
{ \
	return get_edges(graph, from, to, count); \
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
#define AN_EDGE , void *data __attribute__((unused))
#if VERSION >= 13000
EDGES(, AN_EDGE)
#else
EDGES(, NOTHING)
#endif
EDGES(_v2, AN_EDGE)

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
