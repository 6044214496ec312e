/* SPDX-License-Identifier: MIT */
/* dl.h - dlopen(), and why it failed */
#ifndef DL_H
#define DL_H

#include <stdbool.h>
#include <string.h>

#include "../base/arena.h"

/* The length of "$NAME" or "${NAME}" at a `$`, where ld.so replaces it; 0: it is something else. */
static inline size_t lc_token_length(const char *dollar, const char *end, const char *name)
{
	const bool braces = end - dollar > 1 && dollar[1] == '{';
	const char *at = dollar + 1 + braces;
	size_t length = strlen(name);

	if ((size_t)(end - at) < length + braces || strncmp(at, name, length))
		return 0;
	at += length;
	if (braces ? *at != '}' : at < end && (*at == '_' || (*at >= '0' && *at <= '9') ||
					       ((*at | 32) >= 'a' && (*at | 32) <= 'z')))
		return 0;
	return (size_t)(at - dollar) + braces;
}

/*
 * Returns the name by which dlopen() opens this file: the path itself, unless that has $LIB, $ORIGIN
 * or $PLATFORM in it, which ld.so would replace.  Then it is $ORIGIN and the way from the own folder
 * of this library: ld.so does not read again what it put in place of $ORIGIN.  Returns NULL if that way
 * has such a name in it, too.
 */
const char *lc_dlopen_name(struct lc_arena *arena, const char *path);

/*
 * dlopen() of a path, made again where a signal interrupted it.  If it fails, *said is what dlerror() says,
 * or NULL; and the arena is marked as starved if that is for want of memory or descriptors, which
 * may come back.
 */
void *lc_dlopen(struct lc_arena *arena, const char *path, int flags, const char **said);

#endif
