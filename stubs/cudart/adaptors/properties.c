/* SPDX-License-Identifier: MIT */
/* properties.c - device properties */
#include "adaptor.h"
#include "adaptors.h"

/*
 * cudaDeviceProp has a different layout in each major.  12.0 appended fields; 13.0
 * moved most, dropped eight and added seven.  Fields that both structs have are
 * copied by name; a field that the runtime's struct lacks may still be had from its
 * cudaDeviceGetAttribute().
 */
#define ATTRIBUTE(field) [LC_NUMBER_cudaDeviceProp_##field]

/* The cudaDeviceAttr of each field; 0, which is no attribute, if there is none. */
static const uint8_t attributes[LC_NUMBERS_cudaDeviceProp] = {
	ATTRIBUTE(clockRate) = 13,
	ATTRIBUTE(clusterLaunch) = 120,
	ATTRIBUTE(computeMode) = 20,
	ATTRIBUTE(deferredMappingCudaArraySupported) = 121,
	ATTRIBUTE(deviceNumaConfig) = 130,
	ATTRIBUTE(deviceNumaId) = 131,
	ATTRIBUTE(deviceOverlap) = 15,
	ATTRIBUTE(gpuDirectRDMAFlushWritesOptions) = 117,
	ATTRIBUTE(gpuDirectRDMASupported) = 116,
	ATTRIBUTE(gpuDirectRDMAWritesOrdering) = 118,
	ATTRIBUTE(gpuPciDeviceID) = 139,
	ATTRIBUTE(gpuPciSubsystemID) = 140,
	ATTRIBUTE(hostNumaId) = 134,
	ATTRIBUTE(hostNumaMultinodeIpcSupported) = 143,
	ATTRIBUTE(hostRegisterReadOnlySupported) = 113,
	ATTRIBUTE(hostRegisterSupported) = 99,
	ATTRIBUTE(ipcEventSupported) = 125,
	ATTRIBUTE(kernelExecTimeoutEnabled) = 17,
	ATTRIBUTE(maxTexture1DLinear) = 69,
	ATTRIBUTE(memoryClockRate) = 36,
	ATTRIBUTE(memoryPoolSupportedHandleTypes) = 119,
	ATTRIBUTE(memoryPoolsSupported) = 115,
	ATTRIBUTE(mpsEnabled) = 133,
	ATTRIBUTE(singleToDoublePrecisionPerfRatio) = 87,
	ATTRIBUTE(sparseCudaArraySupported) = 112,
	ATTRIBUTE(timelineSemaphoreInteropSupported) = 114,
	ATTRIBUTE(unifiedFunctionPointers) = 129,
};

/*
 * Asks the runtime for fields that its struct lacks.  If the runtime does not know
 * an attribute, the error is the stub's and not the caller's, so it is cleared.
 */
static void ask_for_field(void *properties, int32_t device, const struct lc_missing *missing)
{
	bool pending = lc_slots.cudaPeekAtLastError() != 0, failed = false;

	for (; missing->number; missing++) {
		int32_t value = 0;

		if (!attributes[missing->number])
			continue;
		if (lc_slots.cudaDeviceGetAttribute(&value, attributes[missing->number], device))
			failed = true;
		else
			memcpy((char *)properties + missing->at, &value, sizeof(value));
	}
	if (failed && !pending)
		lc_slots.cudaGetLastError();
}

static int32_t get_fields(void *out, int32_t device, const struct lc_conversion *conversion,
			  int32_t (*call)(void *, int32_t))
{
	char theirs[LC_SIZE_cudaDeviceProp_B] __attribute__((aligned(8))) = { 0 };
	int32_t error = call(out ? theirs : NULL, device);

	if (!out)
		return error;
	lc_convert(out, theirs, conversion);
	if (!error)
		ask_for_field(out, device, conversion->missing);
	return error;
}

_Static_assert((int)LC_SIZE_cudaDeviceProp_B >= (int)LC_SIZE_cudaDeviceProp_A &&
	       (int)LC_SIZE_cudaDeviceProp_B >= (int)LC_SIZE_cudaDeviceProp_C, "get() has room for all");

/* Name of the slot, layout of its caller, slot of the runtime, its layout. */
#define GET(slot, own, needs, other) \
int32_t lc_adapt_##slot##_by_##needs(void *out, int32_t device) \
{ \
	return get_fields(out, device, &LC_FROM(cudaDeviceProp_##own, cudaDeviceProp_##other), \
			  lc_slots.needs); \
}
GET(cudaGetDeviceProperties_11, A, cudaGetDeviceProperties_13, C)
GET(cudaGetDeviceProperties_v2, B, cudaGetDeviceProperties_11, A)
GET(cudaGetDeviceProperties_v2, B, cudaGetDeviceProperties_13, C)
GET(cudaGetDeviceProperties_13, C, cudaGetDeviceProperties_v2, B)
GET(cudaGetDeviceProperties_13, C, cudaGetDeviceProperties_11, A)

/* In the properties asked for, zero means that any value will do.  So a field that only the
 * runtime's struct has asks for nothing, and a field that it lacks is dropped. */
#define CHOOSE(own, other, own_layout, other_layout) \
int32_t lc_adapt_cudaChooseDevice_##own##_by_##other(void *device, void *properties) \
{ \
	char theirs[LC_SIZE_cudaDeviceProp_##other_layout] __attribute__((aligned(8))); \
\
	if (properties) { \
		lc_convert(theirs, properties, &LC_FROM(cudaDeviceProp_##other_layout, \
							cudaDeviceProp_##own_layout)); \
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
