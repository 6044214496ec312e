/* SPDX-License-Identifier: MIT */
/* convert.c - structs whose layout differs between versions */
#include "../../entry/layout.h"

#include <string.h>

void lc_convert(void *target, const void *source, const struct lc_conversion *conversion)
{
	memset(target, 0, conversion->to);
	for (const struct lc_copy *copy = conversion->copies; copy->size; copy++)
		memcpy((char *)target + copy->to, (const char *)source + copy->from, copy->size);
}

bool lc_fits(const void *source, const struct lc_conversion *conversion)
{
	const char *bytes = source;

	for (const struct lc_lost *lost = conversion->lost; lost->size; lost++)
		for (uint32_t i = 0; i < lost->size; i++)
			if (bytes[lost->at + i])
				return false;
	return true;
}
