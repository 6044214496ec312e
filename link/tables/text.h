/* SPDX-License-Identifier: MIT */
/*
 * text.h - builds short texts without printf
 *
 * Every link has its plan in words, whether or not somebody reads them, and printf
 * would take most of a plan's time.
 */
#ifndef LINK_TEXT_H
#define LINK_TEXT_H

#include <stdbool.h>
#include <string.h>

#include "../../stubs/base/arena.h"

/* As stpcpy(), of a number. */
static inline char *lk_put_number(char *at, int number)
{
	unsigned value = number < 0 ? -(unsigned)number : (unsigned)number;
	char digits[12], *first = digits + sizeof(digits);

	*--first = '\0';
	do
		*--first = (char)('0' + value % 10);
	while (value /= 10);
	if (number < 0)
		*--first = '-';
	return stpcpy(at, first);
}

/* Joins words in the arena; "" on allocation failure. */
#define LK_CONCAT(arena, ...) \
	lc_join(arena, (const char *const[]){ __VA_ARGS__ }, \
		sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(const char *), "")

#endif
