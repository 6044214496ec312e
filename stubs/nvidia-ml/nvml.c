/* SPDX-License-Identifier: MIT */
/* nvml.c - what the stub of NVML does beyond forwarding */
#include "../loader/driver.h"
#include "../loader/errors.h"
#include "generated/libnvidia-ml_stub.h"
#include "../loader/loader.h"
#include "../loader/specifics.h"

void *lc_hook_nvmlErrorString(int32_t result, unsigned slot)
{
	return (void *)lc_error_text(result, slot, "Unknown Error");
}

/* NVML reports only its major; its exports prove the minor. */
static lc_version nvml_version(lc_finder *find, void *data, int major)
{
	lc_version said = lc_nvml_version(find, data, major);

	for (size_t i = 0; said && i < lc_library.since_count; i++) {
		const struct lc_since *since = &lc_library.since[i];

		if (LC_MAJOR(since->version) == LC_MAJOR(said) &&
		    find(lc_library.names + since->name, data))
			return since->version;
	}
	return said;
}

const struct lc_specifics lc_specifics = {
	.unknown = LC_UNKNOWN("nvml"),
	.advice = LC_DRIVER_ADVICE,
	.version = nvml_version,
};
