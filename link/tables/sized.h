/* SPDX-License-Identifier: MIT */
/* sized.h - structs of callers that were compiled with another lazycuda_link.h */
#ifndef LINK_SIZED_H
#define LINK_SIZED_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/*
 * Copies a struct that begins with its size as the caller knows it; fields that the
 * caller does not know become zero.  False if `from` is NULL, or the size was not
 * set.
 */
static inline bool lk_sized_copy(void *to, size_t known, const void *from)
{
	size_t size;

	memset(to, 0, known);
	if (!from)
		return false;
	memcpy(&size, from, sizeof(size));
	if (size < sizeof(size))
		return false;
	memcpy(to, from, size < known ? size : known);
	return true;
}

#endif
