/* SPDX-License-Identifier: MIT */
/*
 * nvjitlink_results.c - nvJitLink's result codes between 12 and 13
 *
 * All functions have the same interface in both, and codes up to 9 mean the
 * same.  From 13.0 on there are finer ones.  The headers of 12.6 to 12.9 define
 * the names of six of them as older codes, so that is what a caller of 12
 * compares with; the rest is what 12's library returned in those cases.
 */
#include "generated/libnvJitLink_stub.h"
#include "nvjitlink_results.h"

enum { UNRECOGNIZED_OPTION = 1, INVALID_INPUT = 3, INTERNAL = 6 };

static const struct { int32_t of_13, of_12; } codes[] = {
	{ 10, INVALID_INPUT },		/* NULL_INPUT */
	{ 11, INVALID_INPUT },		/* INCOMPATIBLE_OPTIONS */
	{ 12, INVALID_INPUT },		/* INCORRECT_INPUT_TYPE */
	{ 13, INTERNAL },		/* ARCH_MISMATCH */
	{ 14, INTERNAL },		/* OUTDATED_LIBRARY */
	{ 15, INVALID_INPUT },		/* MISSING_FATBIN */
	/* 12 took any -arch and failed later: it is an option not recognized. */
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

/* A caller of 13 on 12 gets 12's codes, which mean the same there. */
#define BETWEEN(name, parameters, arguments) \
static int32_t name##_12 parameters { return as_12(lc_slots.name##_13 arguments); } \
static int32_t name##_13 parameters { return lc_slots.name##_12 arguments; }

BETWEEN(nvJitLinkCreate, (void *handle, uint32_t count, void *options), (handle, count, options))
BETWEEN(nvJitLinkDestroy, (void *handle), (handle))
BETWEEN(nvJitLinkAddData, (void *handle, int32_t kind, void *data, uint64_t size, void *name),
	(handle, kind, data, size, name))
BETWEEN(nvJitLinkAddFile, (void *handle, int32_t kind, void *name), (handle, kind, name))
BETWEEN(nvJitLinkComplete, (void *handle), (handle))
BETWEEN(nvJitLinkGetInfoLogSize, (void *handle, void *size), (handle, size))
BETWEEN(nvJitLinkGetInfoLog, (void *handle, void *log), (handle, log))
BETWEEN(nvJitLinkGetLinkedCubinSize, (void *handle, void *size), (handle, size))
BETWEEN(nvJitLinkGetLinkedCubin, (void *handle, void *cubin), (handle, cubin))
BETWEEN(nvJitLinkGetLinkedPtxSize, (void *handle, void *size), (handle, size))
BETWEEN(nvJitLinkGetLinkedPtx, (void *handle, void *ptx), (handle, ptx))

#define ROWS(name) \
	{ LC_SLOT_##name##_12, LC_SLOT_##name##_13, (lc_function)name##_12 }, \
	{ LC_SLOT_##name##_13, LC_SLOT_##name##_12, (lc_function)name##_13 },

const struct lc_adaptor lc_result_adaptors[] = {
	ROWS(nvJitLinkCreate)
	ROWS(nvJitLinkDestroy)
	ROWS(nvJitLinkAddData)
	ROWS(nvJitLinkAddFile)
	ROWS(nvJitLinkComplete)
	ROWS(nvJitLinkGetInfoLogSize)
	ROWS(nvJitLinkGetInfoLog)
	ROWS(nvJitLinkGetLinkedCubinSize)
	ROWS(nvJitLinkGetLinkedCubin)
	ROWS(nvJitLinkGetLinkedPtxSize)
	ROWS(nvJitLinkGetLinkedPtx)
	{ 0, 0, NULL }
};
