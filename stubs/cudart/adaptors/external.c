/* SPDX-License-Identifier: MIT */
/* external.c - memory and semaphores of other APIs */
#include "adaptor.h"
#include "adaptors.h"

#include <stdlib.h>

/*
 * 13.0 gave the descriptors a reserved tail, which begins in what was padding.
 * They are converted field by field, so that no padding ends up in the tail.
 */
#define DESCRIBED(name, layout, parameters, arguments) \
int32_t lc_adapt_##name##_11 parameters \
{ \
	char wide[LC_SIZE_##layout##_B] __attribute__((aligned(8))); \
\
	if (description) { \
		lc_convert(wide, description, &LC_FROM(layout##_B, layout##_A)); \
		description = wide; \
	} \
	return lc_slots.name##_13 arguments; \
} \
\
int32_t lc_adapt_##name##_13 parameters \
{ \
	char narrow[LC_SIZE_##layout##_A] __attribute__((aligned(8))); \
\
	if (description && !lc_fits(description, &LC_FROM(layout##_A, layout##_B))) { \
		if (output) \
			memset(output, 0, sizeof(void *)); \
		return LC_REFUSE(name##_13, LC_LOST); \
	} \
	if (description) { \
		lc_convert(narrow, description, &LC_FROM(layout##_A, layout##_B)); \
		description = narrow; \
	} \
	return lc_slots.name##_11 arguments; \
}
DESCRIBED(cudaImportExternalMemory, cudaExternalMemoryHandleDesc,
	  (void *output, void *description), (output, description))
DESCRIBED(cudaImportExternalSemaphore, cudaExternalSemaphoreHandleDesc,
	  (void *output, void *description), (output, description))
DESCRIBED(cudaExternalMemoryGetMappedBuffer, cudaExternalMemoryBufferDesc,
	  (void *output, void *memory, void *description), (output, memory, description))
DESCRIBED(cudaExternalMemoryGetMappedMipmappedArray, cudaExternalMemoryMipmappedArrayDesc,
	  (void *output, void *memory, void *description), (output, memory, description))

/*
 * 11.2 gave the parameters of signals and waits a reserved tail, in functions with
 * the suffix _v2, and 13.0 dropped the functions without it.  The parameters come
 * in arrays.
 */
#define SOME 8		/* this many are converted without an allocation */

static int32_t with_wide(unsigned slot, void *semaphores, void *parameters, uint32_t count,
			 void *stream, const struct lc_conversion *conversion,
			 int32_t (*call)(void *, void *, uint32_t, void *))
{
	char few[SOME * LC_SIZE_cudaExternalSemaphoreWaitParams_A] __attribute__((aligned(8)));
	char *wide = few;
	int32_t error;

	if (!parameters)
		return call(semaphores, NULL, count, stream);
	if (count > SOME && !(wide = calloc(count, conversion->to)))
		return lc_refuse_with(slot, LC_REFUSED, LC_NO_MEMORY,
				      "there is no memory to convert its parameters");
	for (uint32_t i = 0; i < count; i++)
		lc_convert(wide + (size_t)i * conversion->to,
			   (char *)parameters + (size_t)i * conversion->from, conversion);
	error = call(semaphores, wide, count, stream);
	if (wide != few)
		free(wide);
	return error;
}

#define SEMAPHORES(suffix) \
int32_t lc_adapt_cudaSignalExternalSemaphoresAsync##suffix##_11(void *semaphores, \
		void *parameters, uint32_t count, void *stream) \
{ \
	return with_wide(LC_SLOT_cudaSignalExternalSemaphoresAsync##suffix##_11, semaphores, \
			 parameters, count, stream, \
			 &LC_FROM(cudaExternalSemaphoreSignalParams_A, \
				  cudaExternalSemaphoreSignalParams_v1_A), \
			 lc_slots.cudaSignalExternalSemaphoresAsync##suffix##_13); \
} \
\
int32_t lc_adapt_cudaWaitExternalSemaphoresAsync##suffix##_11(void *semaphores, \
		void *parameters, uint32_t count, void *stream) \
{ \
	return with_wide(LC_SLOT_cudaWaitExternalSemaphoresAsync##suffix##_11, semaphores, \
			 parameters, count, stream, \
			 &LC_FROM(cudaExternalSemaphoreWaitParams_A, \
				  cudaExternalSemaphoreWaitParams_v1_A), \
			 lc_slots.cudaWaitExternalSemaphoresAsync##suffix##_13); \
}
LC_BOTH(SEMAPHORES)

_Static_assert((int)LC_SIZE_cudaExternalSemaphoreSignalParams_A <=
	       (int)LC_SIZE_cudaExternalSemaphoreWaitParams_A, "with_wide() has room for either");
