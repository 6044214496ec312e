/* SPDX-License-Identifier: MIT */
/* properties.c - device properties */
#include "adaptors/adaptor.h"
#include "adaptors/adaptors.h"

#include <stdlib.h>

/*
 * cudaDeviceProp has a layout in each major.  12.0 appended fields; 13.0 moved
 * most, dropped eight and added seven.  What both have is copied by name; what
 * the runtime's struct has not, its cudaDeviceGetAttribute() may still tell.
 */
struct attribute {
	const char *field;
	int32_t number;		/* cudaDeviceAttr */
};

/* Sorted by field. */
static const struct attribute attributes[] = {
	{ "clockRate", 13 },
	{ "clusterLaunch", 120 },
	{ "computeMode", 20 },
	{ "deferredMappingCudaArraySupported", 121 },
	{ "deviceNumaConfig", 130 },
	{ "deviceNumaId", 131 },
	{ "deviceOverlap", 15 },
	{ "gpuDirectRDMAFlushWritesOptions", 117 },
	{ "gpuDirectRDMASupported", 116 },
	{ "gpuDirectRDMAWritesOrdering", 118 },
	{ "gpuPciDeviceID", 139 },
	{ "gpuPciSubsystemID", 140 },
	{ "hostNumaId", 134 },
	{ "hostNumaMultinodeIpcSupported", 143 },
	{ "hostRegisterReadOnlySupported", 113 },
	{ "hostRegisterSupported", 99 },
	{ "ipcEventSupported", 125 },
	{ "kernelExecTimeoutEnabled", 17 },
	{ "maxTexture1DLinear", 69 },
	{ "memoryClockRate", 36 },
	{ "memoryPoolSupportedHandleTypes", 119 },
	{ "memoryPoolsSupported", 115 },
	{ "mpsEnabled", 133 },
	{ "singleToDoublePrecisionPerfRatio", 87 },
	{ "sparseCudaArraySupported", 112 },
	{ "timelineSemaphoreInteropSupported", 114 },
	{ "unifiedFunctionPointers", 129 },
};

struct query {
	char *target;
	int32_t device;
	bool failed;
};

static int by_field(const void *name, const void *attribute)
{
	return strcmp(name, ((const struct attribute *)attribute)->field);
}

static void ask_attribute(const struct lc_field *field, void *data)
{
	const struct attribute *attribute = bsearch(field->name, attributes,
		sizeof(attributes) / sizeof(*attributes), sizeof(*attributes), by_field);
	struct query *query = data;
	int32_t value = 0;

	if (!attribute)
		return;		/* nobody can tell: zero */
	if (lc_slots.cudaDeviceGetAttribute(&value, attribute->number, query->device))
		query->failed = true;
	else
		memcpy(query->target + field->offset, &value, sizeof(value));
}

/*
 * Asks the runtime for what its struct did not say.  An attribute that it does
 * not know is an error of ours, not of the caller's: it is taken back.
 */
static void ask_attributes(void *target, const struct lc_layout *to, const struct lc_layout *from,
			   int32_t device)
{
	struct query query = { target, device, false };
	bool pending = lc_slots.cudaPeekAtLastError() != 0;

	lc_each_missing(to, from, ask_attribute, &query);
	if (query.failed && !pending)
		lc_slots.cudaGetLastError();
}

static int32_t get(void *out, int32_t device, const struct lc_layout *to,
		   const struct lc_layout *from, int32_t (*call)(void *, int32_t))
{
	char theirs[LC_SIZE_cudaDeviceProp_B] __attribute__((aligned(8))) = { 0 };
	int32_t error = call(out ? theirs : NULL, device);

	if (!out)
		return error;
	lc_convert(out, to, theirs, from);
	if (!error)
		ask_attributes(out, to, from, device);
	return error;
}

_Static_assert((int)LC_SIZE_cudaDeviceProp_B >= (int)LC_SIZE_cudaDeviceProp_A &&
	       (int)LC_SIZE_cudaDeviceProp_B >= (int)LC_SIZE_cudaDeviceProp_C, "get() has room for all");

/* Name of the slot, layout of its caller, slot of the runtime, its layout. */
#define GET(slot, own, needs, other) \
int32_t lc_adapt_##slot##_by_##needs(void *out, int32_t device) \
{ \
	return get(out, device, &lc_layout_cudaDeviceProp_##own, &lc_layout_cudaDeviceProp_##other, \
		   lc_slots.needs); \
}
GET(cudaGetDeviceProperties_11, A, cudaGetDeviceProperties_13, C)
GET(cudaGetDeviceProperties_v2, B, cudaGetDeviceProperties_11, A)
GET(cudaGetDeviceProperties_v2, B, cudaGetDeviceProperties_13, C)
GET(cudaGetDeviceProperties_13, C, cudaGetDeviceProperties_v2, B)
GET(cudaGetDeviceProperties_13, C, cudaGetDeviceProperties_11, A)

/* The properties asked for: zero means that any value will do, so a field that
 * the runtime's struct has not asks for nothing. */
#define CHOOSE(own, other, own_layout, other_layout) \
int32_t lc_adapt_cudaChooseDevice_##own##_by_##other(void *device, void *properties) \
{ \
	char theirs[LC_SIZE_cudaDeviceProp_##other_layout] __attribute__((aligned(8))); \
\
	if (properties) { \
		lc_convert(theirs, &lc_layout_cudaDeviceProp_##other_layout, properties, \
			   &lc_layout_cudaDeviceProp_##own_layout); \
		properties = theirs; \
	} \
	return lc_slots.cudaChooseDevice_##other(device, properties); \
}
CHOOSE(11, 12, A, B)
CHOOSE(11, 13, A, C)
CHOOSE(12, 11, B, A)
CHOOSE(12, 13, B, C)
CHOOSE(13, 11, C, A)
CHOOSE(13, 12, C, B)
