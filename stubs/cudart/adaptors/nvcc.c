/* SPDX-License-Identifier: MIT */
/*
 * nvcc.c - nvcc's registrations that no header declares
 *
 * Their arguments, counted in the code of the libraries, are the same in every
 * version that has them (__cudaRegisterHostVar takes four words in all,
 * __cudaRegisterUnifiedTable five from 12.0 on), and nvcc's objects of each
 * major register with libraries of the others.  The stub has already replaced its
 * own handle by the library's.
 */
#include "adaptor.h"
#include "adaptors.h"

#define HOST_VAR(callers, runtimes) \
void lc_adapt___cudaRegisterHostVar_##callers##_by_##runtimes(void *handle, void *a2, void *a3, \
							      uint64_t a4) \
{ \
	lc_slots.__cudaRegisterHostVar_##runtimes(handle, a2, a3, a4); \
}
HOST_VAR(11, 12)
HOST_VAR(11, 13)
HOST_VAR(12, 11)
HOST_VAR(12, 13)
HOST_VAR(13, 11)
HOST_VAR(13, 12)

#define UNIFIED_TABLE(callers, runtimes) \
void lc_adapt___cudaRegisterUnifiedTable_##callers(void *a1, void *a2, void *a3, void *a4, void *a5) \
{ \
	lc_slots.__cudaRegisterUnifiedTable_##runtimes(a1, a2, a3, a4, a5); \
}
UNIFIED_TABLE(12, 13)
UNIFIED_TABLE(13, 12)
