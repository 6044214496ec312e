/* SPDX-License-Identifier: MIT */
/* memory.c - memory advice, prefetch, batches of copies, pointer attributes */
#include "adaptor.h"
#include "adaptors.h"

/* cudaMemLocationType and cudaCpuDeviceId. */
enum { LOCATION_DEVICE = 1, LOCATION_HOST = 2, CPU_DEVICE = -1 };

static struct lc_cudaMemLocation location_of(int32_t device)
{
	uint32_t words[2] = { device == CPU_DEVICE ? LOCATION_HOST : LOCATION_DEVICE,
			      device == CPU_DEVICE ? 0 : (uint32_t)device };
	struct lc_cudaMemLocation location;

	memcpy(&location, words, sizeof(location));
	return location;
}

/* The device that a location stands for; false for a NUMA node, which `int device`
 * cannot express. */
static bool device_of(struct lc_cudaMemLocation location, int32_t *device)
{
	uint32_t words[2];

	memcpy(words, &location, sizeof(words));
	*device = words[0] == LOCATION_HOST ? CPU_DEVICE : (int32_t)words[1];
	return words[0] == LOCATION_HOST || words[0] == LOCATION_DEVICE;
}

/* cudaMemoryAdvise: advice that holds wherever the memory is, and ignores the location. */
enum { SET_READ_MOSTLY = 1, UNSET_READ_MOSTLY = 2, UNSET_PREFERRED_LOCATION = 4 };

static bool ignores_location(int32_t advice)
{
	return advice == SET_READ_MOSTLY || advice == UNSET_READ_MOSTLY ||
	       advice == UNSET_PREFERRED_LOCATION;
}

#define NO_NUMA "this CUDA knows devices and the host as locations, and no NUMA nodes"

/* 13.0 replaced `int device` by a location. */
int32_t lc_adapt_cudaMemAdvise_11(void *pointer, uint64_t count, int32_t advice, int32_t device)
{
	return lc_slots.cudaMemAdvise_13(pointer, count, advice, location_of(device));
}

int32_t lc_adapt_cudaMemAdvise_13(void *pointer, uint64_t count, int32_t advice,
				  struct lc_cudaMemLocation location)
{
	int32_t device;

	if (ignores_location(advice))
		device = CPU_DEVICE;
	else if (!device_of(location, &device))
		return LC_REFUSE(cudaMemAdvise_13, NO_NUMA);
	return lc_slots.cudaMemAdvise_11(pointer, count, advice, device);
}

/* 13.0 did the same here and added flags, which must be 0, since none is defined. */
#define PREFETCH(suffix) \
int32_t lc_adapt_cudaMemPrefetchAsync##suffix##_11(void *pointer, uint64_t count, int32_t device, \
						   void *stream) \
{ \
	return lc_slots.cudaMemPrefetchAsync##suffix##_13(pointer, count, location_of(device), 0, \
							  stream); \
} \
\
int32_t lc_adapt_cudaMemPrefetchAsync##suffix##_13(void *pointer, uint64_t count, \
						   struct lc_cudaMemLocation location, \
						   uint32_t flags, void *stream) \
{ \
	int32_t device; \
\
	if (!device_of(location, &device)) \
		return LC_REFUSE(cudaMemPrefetchAsync##suffix##_13, NO_NUMA); \
	if (flags) \
		return LC_REFUSE(cudaMemPrefetchAsync##suffix##_13, "this CUDA takes no flags here"); \
	return lc_slots.cudaMemPrefetchAsync##suffix##_11(pointer, count, device, stream); \
}
LC_BOTH(PREFETCH)

/*
 * 13.0 dropped failIdx, the index of the copy that failed.  In 12 SIZE_MAX stands
 * for an error that no single copy caused, which is all that 13 says.
 */
static int32_t tell_no_index(int32_t error, void *fail_index)
{
	if (error && fail_index)
		memset(fail_index, 0xff, sizeof(uint64_t));
	return error;
}

#define BATCH(suffix) \
int32_t lc_adapt_cudaMemcpyBatchAsync##suffix##_12(void *targets, void *sources, void *sizes, \
		uint64_t count, void *attributes, void *indexes, uint64_t attribute_count, \
		void *fail_index, void *stream) \
{ \
	return tell_no_index(lc_slots.cudaMemcpyBatchAsync##suffix##_13(targets, sources, sizes, \
		count, attributes, indexes, attribute_count, stream), fail_index); \
} \
\
int32_t lc_adapt_cudaMemcpyBatchAsync##suffix##_13(void *targets, void *sources, void *sizes, \
		uint64_t count, void *attributes, void *indexes, uint64_t attribute_count, \
		void *stream) \
{ \
	uint64_t fail_index; \
\
	return lc_slots.cudaMemcpyBatchAsync##suffix##_12(targets, sources, sizes, count, \
		attributes, indexes, attribute_count, &fail_index, stream); \
} \
\
int32_t lc_adapt_cudaMemcpy3DBatchAsync##suffix##_12(uint64_t count, void *operations, \
		void *fail_index, uint64_t flags, void *stream) \
{ \
	return tell_no_index(lc_slots.cudaMemcpy3DBatchAsync##suffix##_13(count, operations, \
		flags, stream), fail_index); \
} \
\
int32_t lc_adapt_cudaMemcpy3DBatchAsync##suffix##_13(uint64_t count, void *operations, \
		uint64_t flags, void *stream) \
{ \
	uint64_t fail_index; \
\
	return lc_slots.cudaMemcpy3DBatchAsync##suffix##_12(count, operations, &fail_index, flags, \
		stream); \
}
LC_BOTH(BATCH)

/* 13.0 added a reserved tail and writes all of it, even if the call fails. */
int32_t lc_adapt_cudaPointerGetAttributes_11(void *attributes, void *pointer)
{
	char wide[LC_SIZE_cudaPointerAttributes_B] = { 0 };
	int32_t error = lc_slots.cudaPointerGetAttributes_13(attributes ? wide : NULL, pointer);

	if (attributes)
		lc_convert(attributes, wide,
			   &LC_FROM(cudaPointerAttributes_A, cudaPointerAttributes_B));
	return error;
}

int32_t lc_adapt_cudaPointerGetAttributes_13(void *attributes, void *pointer)
{
	char narrow[LC_SIZE_cudaPointerAttributes_A] = { 0 };
	int32_t error = lc_slots.cudaPointerGetAttributes_11(attributes ? narrow : NULL, pointer);

	if (attributes)
		lc_convert(attributes, narrow,
			   &LC_FROM(cudaPointerAttributes_B, cudaPointerAttributes_A));
	return error;
}
