/* SPDX-License-Identifier: MIT */
/* nvjitlink.c - what the linker's stub does beyond forwarding */
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "../loader/errors.h"
#include "generated/libnvJitLink_stub.h"
#include "../loader/lasting.h"
#include "../loader/loader.h"
#include "../loader/specifics.h"
#include "results.h"

/*
 * nvJitLink explains errors through a handle's log.  Without a library there is
 * no handle either, so the log of any handle says why there is no library.  One
 * thread may ask for the size and another one for the text, with any number of
 * calls in between, so the text is the same for all of them.
 */
static const char *own_log(void)
{
	const struct lazycuda_status *status = lc_status();

	return status->cause == LAZYCUDA_NOTHING ? lc_last_error()->message : status->reason;
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

	if (lc_reaches(slot))
		return ((int32_t (*)(void *, void *))lc_slot_table[slot])(handle, size);
	bytes = announce(strlen(own_log()) + 1);
	if (size)
		memcpy(size, &bytes, sizeof(bytes));
	return 0;
}

int32_t lc_hook_nvJitLinkGetErrorLog(void *handle, void *log, unsigned slot)
{
	const char *text;
	size_t room;

	if (lc_reaches(slot))
		return ((int32_t (*)(void *, void *))lc_slot_table[slot])(handle, log);
	text = own_log();
	room = atomic_load(&least);
	if (!room || room > strlen(text) + 1)
		room = strlen(text) + 1;
	if (log)
		*stpncpy(log, text, room - 1) = 0;
	return 0;
}

static lc_version version(lc_finder *find, void *data, int major)
{
	typedef int (*getter)(unsigned *, unsigned *);
	getter get = (getter)find("nvJitLinkVersion", data);
	unsigned said = 0, minor = 0;

	(void)major;
	/* Only from 12.3 on; the suffixes of older libraries' names tell their minor. */
	return get && get(&said, &minor) == 0 ? LC_VERSION(said, minor) : 0;
}

static lc_function lasting(const char *name, lc_function function)
{
	const bool short_one = strstr(name, "Get") || strstr(name, "Version");

	return short_one ? function : lc_note_lasting(function);
}

const struct lc_specifics lc_specifics = {
	.unknown = LC_UNKNOWN("nvJitLink"),
	.advice = "Install one, for instance with `pip install nvidia-nvjitlink` (CUDA 13) or"
		  " nvidia-nvjitlink-cu12.",
	.version = version,
	.lasting = lasting,
	.await_lasting = lc_await_lasting,
	.adaptors = lc_result_adaptors,
};
