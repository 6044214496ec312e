/* SPDX-License-Identifier: MIT */
/* nvjitlink.c - what the linker's stub does beyond forwarding */
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "../loader/errors.h"
#include "../base/count.h"
#include "generated/libnvJitLink_stub.h"
#include "../loader/lasting.h"
#include "../loader/loader.h"
#include "../loader/specifics.h"

/*
 * nvJitLink explains errors through a handle's log.  Without a library there is
 * no handle either, so the log of any handle says why there is no library.  One
 * thread may ask for the size and another one for the text, with any number of
 * calls in between, so the text is the same for all of them.
 */
static const char *own_log(void)
{
	const struct lazycuda_status *status = lc_status();

	return status->cause == LAZYCUDA_CAUSE_NOTHING ? lc_last_error()->message : status->reason;
}

/* The smallest size that was announced.  If the first search could not be finished,
 * the text changes later; it is then cut to fit callers that have the first size. */
static _Atomic size_t least;

static size_t announce(size_t bytes)
{
	size_t known = atomic_load(&least);

	while ((!known || bytes < known) && !atomic_compare_exchange_weak(&least, &known, bytes))
		;
	return bytes;
}

int32_t lc_hook_nvJitLinkGetErrorLogSize(void *handle, void *size, unsigned slot)
{
	size_t bytes;

	if (lc_load_reaches(slot))
		return ((int32_t (*)(void *, void *))LC_REAL(slot))(handle, size);
	bytes = announce(strlen(own_log()) + 1);
	if (size)
		memcpy(size, &bytes, sizeof(bytes));
	return 0;
}

int32_t lc_hook_nvJitLinkGetErrorLog(void *handle, void *log, unsigned slot)
{
	const char *text;
	size_t room;

	if (lc_load_reaches(slot))
		return ((int32_t (*)(void *, void *))LC_REAL(slot))(handle, log);
	text = own_log();
	room = atomic_load(&least);
	if (!room || room > strlen(text) + 1)
		room = strlen(text) + 1;
	if (log)
		*stpncpy(log, text, room - 1) = 0;
	return 0;
}

static lc_version nvjitlink_version(lc_finder *find, void *data, int major)
{
	typedef int (*getter)(unsigned *, unsigned *);
	getter get = (getter)find("nvJitLinkVersion", data);
	unsigned said = 0, minor = 0;

	(void)major;
	/* Only from 12.3 on; the suffixes of older libraries' names tell their minor. */
	return get && get(&said, &minor) == 0 ? LC_VERSION(said, minor) : 0;
}

static lc_function nvjitlink_lasting(const char *name, lc_function function)
{
	const bool short_one = strstr(name, "Get") || strstr(name, "Version");

	return short_one ? function : lc_note_lasting(function);
}

/*
 * Result codes between 12 and 13.
 *
 * All functions have the same interface in both, and codes up to 9 mean the
 * same.  13.0 added finer codes.  The headers of 12.6 to 12.9 define the names of
 * six of these as older codes, which a caller of 12 therefore compares with; the
 * others become what 12's library returned in those cases.
 */
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
	for (size_t i = 0; i < LC_COUNT(codes); i++)
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

static const struct lc_adaptor nvjitlink_adaptors[] = {
	PAIRS(ROW)
	{ 0, 0, NULL }
};

const struct lc_specifics lc_specifics = {
	.unknown = LC_UNKNOWN("nvJitLink"),
	.advice = "Install one, for Python with `pip install nvidia-nvjitlink` (CUDA 13) or"
		  " nvidia-nvjitlink-cu12.",
	.version = nvjitlink_version,
	.lasting = nvjitlink_lasting,
	.await_lasting = lc_await_lasting,
	.adaptors = nvjitlink_adaptors,
};
