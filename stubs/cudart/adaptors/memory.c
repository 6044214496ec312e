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

/*
 * 12.8 added batches of copies, which have no order among themselves.  On an older runtime
 * each copy is made by itself, in the order of the batch and of the stream.  Where the memory
 * is and whether copies are to overlap with kernels are hints, which are dropped.
 */
enum { DURING_CALL = 2, ANY_ORDER = 3 };	/* cudaMemcpySrcAccessOrder */
enum { PREFER_OVERLAP = 1 };			/* cudaMemcpyFlags */
enum { COPY_DEFAULT = 4 };			/* cudaMemcpyKind */

struct batch {
	void **targets;
	const void **sources;
	const uint64_t *sizes;
	uint64_t count;
	const char *attributes;		/* of cudaMemcpyAttributes */
	const uint64_t *indexes;	/* of the first copy that each is for */
	uint64_t attribute_count;
};

static bool is_whole_batch(const struct batch *batch)
{
	if (!batch->targets || !batch->sources || !batch->sizes || !batch->attributes ||
	    !batch->indexes || !batch->attribute_count ||
	    batch->attribute_count > batch->count || batch->indexes[0])
		return false;
	for (uint64_t i = 1; i < batch->attribute_count; i++)
		if (batch->indexes[i] <= batch->indexes[i - 1] || batch->indexes[i] >= batch->count)
			return false;
	return true;
}

/* Returns why the attributes cannot be kept, or NULL. */
static const char *lost_attribute(const struct batch *batch)
{
	for (uint64_t i = 0; i < batch->attribute_count; i++) {
		const char *attributes = batch->attributes + i * LC_SIZE_cudaMemcpyAttributes_A;
		uint32_t order, flags;

		memcpy(&order, attributes + LC_AT_cudaMemcpyAttributes_A_srcAccessOrder,
		       sizeof(order));
		memcpy(&flags, attributes + LC_AT_cudaMemcpyAttributes_A_flags, sizeof(flags));
		if (order == DURING_CALL)
			return "this CUDA does not promise to have read the source when a call"
			       " returns";
		if (!order || order > ANY_ORDER || flags & ~(uint32_t)PREFER_OVERLAP)
			return "this CUDA knows no such attribute of a copy";
	}
	return NULL;
}

/* `look` fails if the runtime cannot start or does not know the stream.  Such an error comes before
 * any that is about the batch. */
static int32_t copy_batch(unsigned slot, const struct batch *batch, void *fail_index, void *stream,
			  int32_t (*look)(void *, void *),
			  int32_t (*copy)(void *, void *, uint64_t, int32_t, void *))
{
	const char *lost;
	uint32_t flags;
	int32_t error = look(stream, &flags);

	if (error)
		return tell_no_index(error, fail_index);
	if (!is_whole_batch(batch))
		return tell_no_index(lc_refuse_with(slot, LC_REFUSED, LC_INVALID_VALUE,
						    "the batch is not whole"), fail_index);
	lost = lost_attribute(batch);
	if (lost)
		return tell_no_index(lc_refuse_because(slot, LC_REFUSED, lost), fail_index);
	for (uint64_t i = 0; i < batch->count; i++) {
		error = copy(batch->targets[i], (void *)batch->sources[i], batch->sizes[i],
			     COPY_DEFAULT, stream);
		if (!error)
			continue;
		if (fail_index)
			memcpy(fail_index, &i, sizeof(i));
		return error;
	}
	return 0;
}

#define ONE_BY_ONE(suffix) \
int32_t lc_adapt_cudaMemcpyBatchAsync##suffix##_12_one_by_one(void *targets, void *sources, \
		void *sizes, uint64_t count, void *attributes, void *indexes, \
		uint64_t attribute_count, void *fail_index, void *stream) \
{ \
	struct batch batch = { targets, sources, sizes, count, attributes, indexes, \
			       attribute_count }; \
\
	return copy_batch(LC_SLOT_cudaMemcpyBatchAsync##suffix##_12, &batch, fail_index, stream, \
			  lc_slots.cudaStreamGetFlags##suffix, lc_slots.cudaMemcpyAsync##suffix); \
} \
\
int32_t lc_adapt_cudaMemcpyBatchAsync##suffix##_13_one_by_one(void *targets, void *sources, \
		void *sizes, uint64_t count, void *attributes, void *indexes, \
		uint64_t attribute_count, void *stream) \
{ \
	struct batch batch = { targets, sources, sizes, count, attributes, indexes, \
			       attribute_count }; \
\
	return copy_batch(LC_SLOT_cudaMemcpyBatchAsync##suffix##_13, &batch, NULL, stream, \
			  lc_slots.cudaStreamGetFlags##suffix, lc_slots.cudaMemcpyAsync##suffix); \
}
LC_BOTH(ONE_BY_ONE)

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
