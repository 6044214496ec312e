/* SPDX-License-Identifier: MIT */
/* nvjitlink.c - what the linker's stub does beyond forwarding */
#include <string.h>

#include "errors.h"
#include "generated/libnvJitLink_stub.h"
#include "loader.h"
#include "nvjitlink_results.h"

/*
 * nvJitLink explains itself through a handle's log.  Where there is no library
 * there is no handle either, so the log, of any handle, is the stub's own text.
 */
static const char *own_log(void)
{
	return lc_last_refusal() != LC_NONE ? lc_last_error()->message : lc_status()->reason;
}

int32_t lc_hook_nvJitLinkGetErrorLogSize(void *handle, void *size, unsigned slot)
{
	size_t bytes;

	if (lc_reaches(slot))
		return ((int32_t (*)(void *, void *))lc_slot_table[slot])(handle, size);
	bytes = strlen(own_log()) + 1;
	if (size)
		memcpy(size, &bytes, sizeof(bytes));
	return 0;
}

int32_t lc_hook_nvJitLinkGetErrorLog(void *handle, void *log, unsigned slot)
{
	if (lc_reaches(slot))
		return ((int32_t (*)(void *, void *))lc_slot_table[slot])(handle, log);
	if (log)
		strcpy(log, own_log());
	return 0;
}

static lc_version version(lc_finder *find, void *data, int major)
{
	typedef int (*getter)(unsigned *, unsigned *);
	getter get = (getter)find("nvJitLinkVersion", data);
	unsigned said = 0, minor = 0;

	(void)major;
	/* From 12.3 on; the suffixes of older ones tell their minor. */
	return get && get(&said, &minor) == 0 ? LC_VERSION(said, minor) : 0;
}

const struct lc_specifics lc_specifics = {
	.unknown = LC_UNKNOWN("nvJitLink"),
	.advice = "Install one, for instance with `pip install nvidia-nvjitlink` (CUDA 13) or"
		  " nvidia-nvjitlink-cu12.",
	.version = version,
	.adaptors = lc_result_adaptors,
};
