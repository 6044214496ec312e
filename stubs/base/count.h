/* SPDX-License-Identifier: MIT */
/* count.h - how many elements an array has, and whether a text is among them */
#ifndef COUNT_H
#define COUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define LC_COUNT(array) (sizeof(array) / sizeof(*(array)))

static inline bool lc_is_among(const char *text, const char *const *texts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(texts[i], text))
			return true;
	return false;
}

#endif
