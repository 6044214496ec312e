/* SPDX-License-Identifier: MIT */
/* sized.h - structs of callers that were compiled with another lazycuda_link.h */
#ifndef LINK_SIZED_H
#define LINK_SIZED_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* No struct grows by more: a larger size is no size. */
#define LK_MOST_ADDED 1024

/* What is wrong with a struct that lk_sized_copy() does not take. */
#define LK_NO_STRUCT "is missing, its size is not set, or it has a field that this lazycuda does not know"

/*
 * Copies a struct that begins with its size as the caller knows it; fields that the
 * caller does not know become zero.  False if `from` is NULL, the size was not
 * set, or a field is set that only the caller knows.
 */
static inline bool lk_sized_copy(void *to, size_t known, const void *from)
{
	size_t size;

	memset(to, 0, known);
	if (!from)
		return false;
	memcpy(&size, from, sizeof(size));
	/* One that ends within a pointer is no size either. */
	if (size < sizeof(size) || size % sizeof(size) || size > known + LK_MOST_ADDED)
		return false;
	for (size_t i = known; i < size; i++)
		if (((const char *)from)[i])
			return false;
	memcpy(to, from, size < known ? size : known);
	return true;
}

#endif
