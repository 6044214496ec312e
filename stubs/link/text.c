/* SPDX-License-Identifier: MIT */
/* text.c - short texts put together */
#include "text.h"

const char *lc_concat(struct lc_arena *arena, const char *const *words)
{
	size_t length = 0;
	char *text, *at;

	for (const char *const *word = words; *word; word++)
		length += strlen(*word);
	text = lc_alloc(arena, length + 1);
	if (!text)
		return "";
	at = text;
	for (const char *const *word = words; *word; word++)
		at = lc_put(at, *word);
	return text;
}

bool lc_is_plain(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < 0x20 || (unsigned char)*text >= 0x7f)
			return false;
	return true;
}
