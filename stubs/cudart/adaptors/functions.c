/* SPDX-License-Identifier: MIT */
/* functions.c - kernels, their attributes and launches */
#include "adaptor.h"
#include "adaptors.h"

/* 12.0 appended fields. */
int32_t lc_adapt_cudaFuncGetAttributes_11(void *out, void *function)
{
	char wide[LC_SIZE_cudaFuncAttributes_B] __attribute__((aligned(8))) = { 0 };
	int32_t error = lc_slots.cudaFuncGetAttributes_12(out ? wide : NULL, function);

	if (out)
		lc_convert(out, wide, &LC_FROM(cudaFuncAttributes_A, cudaFuncAttributes_B));
	return error;
}

int32_t lc_adapt_cudaFuncGetAttributes_12(void *out, void *function)
{
	char narrow[LC_SIZE_cudaFuncAttributes_A] __attribute__((aligned(8))) = { 0 };
	int32_t error = lc_slots.cudaFuncGetAttributes_11(out ? narrow : NULL, function);

	if (out)
		lc_convert(out, narrow, &LC_FROM(cudaFuncAttributes_B, cudaFuncAttributes_A));
	return error;
}

/*
 * From 12.4 on nvcc's code asks for a kernel handle, which stands for a host
 * function.  CUDA 11 has no such handles and launches the host function itself,
 * so the host function serves as the handle.
 */
int32_t lc_adapt___cudaGetKernel(void *kernel, void *function)
{
	if (!kernel)
		return LC_FAIL(__cudaGetKernel, LC_INVALID_VALUE, "there is no place for the handle");
	memcpy(kernel, &function, sizeof(function));
	return 0;
}

#define LAUNCH(suffix) \
int32_t lc_adapt___cudaLaunchKernel##suffix(void *kernel, struct lc_dim3 grid, struct lc_dim3 block, \
		void *arguments, uint64_t shared, void *stream) \
{ \
	return lc_slots.cudaLaunchKernel##suffix(kernel, grid, block, arguments, shared, stream); \
}
LC_BOTH(LAUNCH)

/* 13.2 added a mode for how the stream waits; 0 is how it has always waited. */
#define HOST_FUNCTION(suffix) \
int32_t lc_adapt_cudaLaunchHostFunc_v2##suffix(void *stream, void *function, void *data, \
					       uint32_t mode) \
{ \
	if (mode) \
		return LC_REFUSE(cudaLaunchHostFunc_v2##suffix, "this CUDA knows no such mode"); \
	return lc_slots.cudaLaunchHostFunc##suffix(stream, function, data); \
}
LC_BOTH(HOST_FUNCTION)

/*
 * Attributes of streams and of kernel nodes are unions: 32 bytes in 11.7, 64
 * from 11.8 on.  A caller of 11 may be of either.  No attribute that 11 knows is
 * larger than 32 bytes, so only 32 bytes are read and written.
 */
enum { SMALL_ATTRIBUTE = LC_SIZE_cudaStreamAttrValue_A, LAST_ATTRIBUTE_OF_11 = 8 };

/* 11.7 knows access policy, cooperative, synchronization policy and priority. */
static bool known_to_11_7(int32_t attribute)
{
	return attribute == 1 || attribute == 2 || attribute == 3 || attribute == 8;
}

#define NEW_ATTRIBUTE "CUDA 11 has no such attribute"

#define ATTRIBUTES(name, suffix) \
int32_t lc_adapt_##name##GetAttribute##suffix##_11(void *object, int32_t attribute, void *value) \
{ \
	char wide[LC_SIZE_cudaLaunchAttributeValue_A] __attribute__((aligned(8))) = { 0 }; \
	int32_t error; \
\
	if (attribute > LAST_ATTRIBUTE_OF_11) { \
		if (value) \
			memset(value, 0, SMALL_ATTRIBUTE); \
		return LC_REFUSE(name##GetAttribute##suffix##_11, NEW_ATTRIBUTE); \
	} \
	error = lc_slots.name##GetAttribute##suffix##_12(object, attribute, value ? wide : NULL); \
	if (value) \
		memcpy(value, wide, SMALL_ATTRIBUTE); \
	return error; \
} \
\
int32_t lc_adapt_##name##SetAttribute##suffix##_11(void *object, int32_t attribute, void *value) \
{ \
	char wide[LC_SIZE_cudaLaunchAttributeValue_A] __attribute__((aligned(8))) = { 0 }; \
\
	if (attribute > LAST_ATTRIBUTE_OF_11) \
		return LC_REFUSE(name##SetAttribute##suffix##_11, NEW_ATTRIBUTE); \
	if (value) \
		memcpy(wide, value, SMALL_ATTRIBUTE); \
	return lc_slots.name##SetAttribute##suffix##_12(object, attribute, value ? wide : NULL); \
} \
\
int32_t lc_adapt_##name##GetAttribute##suffix##_12(void *object, int32_t attribute, void *value) \
{ \
	if (value) \
		memset(value, 0, LC_SIZE_cudaLaunchAttributeValue_A); \
	if (!known_to_11_7(attribute)) \
		return LC_REFUSE(name##GetAttribute##suffix##_12, NEW_ATTRIBUTE); \
	return lc_slots.name##GetAttribute##suffix##_11(object, attribute, value); \
} \
\
int32_t lc_adapt_##name##SetAttribute##suffix##_12(void *object, int32_t attribute, void *value) \
{ \
	if (!known_to_11_7(attribute)) \
		return LC_REFUSE(name##SetAttribute##suffix##_12, NEW_ATTRIBUTE); \
	return lc_slots.name##SetAttribute##suffix##_11(object, attribute, value); \
}
ATTRIBUTES(cudaStream,)
ATTRIBUTES(cudaStream, _ptsz)
ATTRIBUTES(cudaGraphKernelNode,)
