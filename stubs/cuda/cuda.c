/* SPDX-License-Identifier: MIT */
/* cuda.c - what the driver's stub does beyond forwarding */
#include <string.h>

#include "../loader/driver.h"
#include "../loader/errors.h"
#include "generated/libcuda_stub.h"
#include "../loader/loader.h"
#include "../loader/specifics.h"

enum { INVALID_VALUE = 1 };

/* Answers as a driver does: 0 and a text, or INVALID_VALUE and NULL. */
static int32_t answer_text(void *into, const char *text)
{
	if (!into)
		return INVALID_VALUE;
	memcpy(into, &text, sizeof(text));
	return text ? 0 : INVALID_VALUE;
}

int32_t lc_hook_cuGetErrorName(int32_t error, void *into, unsigned slot)
{
	if (lc_load_reaches(slot))
		return ((int32_t (*)(int32_t, void *))LC_REAL(slot))(error, into);
	return answer_text(into, lc_status_name(error));
}

int32_t lc_hook_cuGetErrorString(int32_t error, void *into, unsigned slot)
{
	const char *text = lc_refusal_text(error);

	if (!text && lc_load_reaches(slot))
		return ((int32_t (*)(int32_t, void *))LC_REAL(slot))(error, into);
	return answer_text(into, text ? text : lc_status_name(error));
}

const struct lc_specifics lc_specifics = {
	.unknown = LC_UNKNOWN("cuda"),
	.advice = LC_DRIVER_ADVICE,
	.version = lc_cuda_version,
};
