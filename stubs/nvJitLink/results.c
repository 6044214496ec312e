/* SPDX-License-Identifier: MIT */
/*
 * results.c - nvJitLink's result codes between 12 and 13
 *
 * All functions have the same interface in both, and codes up to 9 mean the
 * same.  13.0 added finer codes.  The headers of 12.6 to 12.9 define the names of
 * six of these as older codes, which a caller of 12 therefore compares with; the
 * others become what 12's library returned in those cases.
 */
#include "generated/libnvJitLink_stub.h"
#include "results.h"

enum { UNRECOGNIZED_OPTION = 1, INVALID_INPUT = 3, INTERNAL = 6 };

static const struct { int32_t of_13, of_12; } codes[] = {
	{ 10, INVALID_INPUT },		/* NULL_INPUT */
	{ 11, INVALID_INPUT },		/* INCOMPATIBLE_OPTIONS */
	{ 12, INVALID_INPUT },		/* INCORRECT_INPUT_TYPE */
	{ 13, INTERNAL },		/* ARCH_MISMATCH */
	{ 14, INTERNAL },		/* OUTDATED_LIBRARY */
	{ 15, INVALID_INPUT },		/* MISSING_FATBIN */
	/* 12 took any -arch and failed later; its callers know the option as unrecognized. */
	{ 16, UNRECOGNIZED_OPTION },	/* UNRECOGNIZED_ARCH */
	{ 17, UNRECOGNIZED_OPTION },	/* UNSUPPORTED_ARCH */
	{ 18, INTERNAL },		/* LTO_NOT_ENABLED */
};

static int32_t as_12(int32_t result)
{
	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++)
		if (codes[i].of_13 == result)
			return codes[i].of_12;
	return result;
}

/* Codes of the older library mean the same in the newer one. */
static int32_t as_it_is(int32_t result)
{
	return result;
}

/* X for each function whose result is translated: `callers` and `runtimes` are the
 * majors of the caller and of the library. */
#define FUNCTIONS(X, callers, runtimes, as) \
	X(callers, runtimes, as, nvJitLinkCreate, (void *handle, uint32_t count, void *options), \
	  (handle, count, options)) \
	X(callers, runtimes, as, nvJitLinkDestroy, (void *handle), (handle)) \
	X(callers, runtimes, as, nvJitLinkAddData, \
	  (void *handle, int32_t kind, void *data, uint64_t size, void *name), \
	  (handle, kind, data, size, name)) \
	X(callers, runtimes, as, nvJitLinkAddFile, (void *handle, int32_t kind, void *name), \
	  (handle, kind, name)) \
	X(callers, runtimes, as, nvJitLinkComplete, (void *handle), (handle)) \
	X(callers, runtimes, as, nvJitLinkGetInfoLogSize, (void *handle, void *size), \
	  (handle, size)) \
	X(callers, runtimes, as, nvJitLinkGetInfoLog, (void *handle, void *log), (handle, log)) \
	X(callers, runtimes, as, nvJitLinkGetLinkedCubinSize, (void *handle, void *size), \
	  (handle, size)) \
	X(callers, runtimes, as, nvJitLinkGetLinkedCubin, (void *handle, void *cubin), \
	  (handle, cubin)) \
	X(callers, runtimes, as, nvJitLinkGetLinkedPtxSize, (void *handle, void *size), \
	  (handle, size)) \
	X(callers, runtimes, as, nvJitLinkGetLinkedPtx, (void *handle, void *ptx), (handle, ptx))

/* A new major adds two lines for each major that is here already. */
#define PAIRS(X) \
	FUNCTIONS(X, 12, 13, as_12) \
	FUNCTIONS(X, 13, 12, as_it_is)

#define DEFINE(callers, runtimes, as, name, parameters, arguments) \
static int32_t name##_##callers##_by_##runtimes parameters \
{ \
	return as(lc_slots.name##_##runtimes arguments); \
}
PAIRS(DEFINE)

#define ROW(callers, runtimes, as, name, parameters, arguments) \
	{ LC_SLOT_##name##_##callers, LC_SLOT_##name##_##runtimes, \
	  (lc_function)name##_##callers##_by_##runtimes },

const struct lc_adaptor lc_result_adaptors[] = {
	PAIRS(ROW)
	{ 0, 0, NULL }
};
