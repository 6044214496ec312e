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

/* Each of these writes at `at`, where there has to be room, and returns the end of
 * the text: the address of its NUL. */
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

/* Joins words in the arena; "" on allocation failure. */
#define LK_CONCAT(arena, ...) \
	lc_join(arena, (const char *const[]){ __VA_ARGS__ }, \
		sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(const char *), "")

/* Returns true if a text from outside may stand in a message as it is; else use
 * what lc_printable() makes of it. */
bool lk_is_plain(const char *text);

#endif
