/* SPDX-License-Identifier: MIT */
/*
 * text.h - short texts put together
 *
 * Every link has its plan in words, whether somebody reads them or not, and
 * printf would be most of the time that a plan takes.
 */
#ifndef LINK_TEXT_H
#define LINK_TEXT_H

#include <stdbool.h>
#include <string.h>

#include "../../stubs/base/arena.h"

/* Each of these writes at `at`, where there has to be room, and returns where
 * the text ends: at its NUL. */
static inline char *lk_put(char *at, const char *word)
{
	return stpcpy(at, word);
}

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
	return lk_put(at, first);
}

/* Words behind each other, in the arena; "" when memory is out. */
#define LK_CONCAT(arena, ...) \
	lc_join(arena, (const char *const[]){ __VA_ARGS__ }, \
		sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(const char *), "")

/* Whether a text of others may stand in a message as it is; if not, what
 * lc_printable() makes of it may. */
bool lk_is_plain(const char *text);

#endif
