/* SPDX-License-Identifier: MIT */
/* source.h - the bytes of a file or of memory, read piece by piece */
#ifndef LINK_SOURCE_H
#define LINK_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * Memory if `bytes`, else a file.  Everything that is read is copied, so that
 * nothing need be aligned and a file that changes meanwhile changes nothing
 * that was checked.
 */
struct lc_source {
	const unsigned char *bytes;
	int fd;
	uint64_t length;
	int *error;	/* where the errno of a read that fails is noted, or NULL */
};

/* A part of a source that is known to lie within it. */
static inline bool lc_source_has(const struct lc_source *source, uint64_t offset, uint64_t size)
{
	return offset <= source->length && size <= source->length - offset;
}

/* lc_source_read() of a file that has the bytes. */
bool lc_source_read_file(const struct lc_source *source, uint64_t offset, void *into, size_t size);

/* Copies `size` bytes.  False if they do not all exist, or cannot be read. */
static inline bool lc_source_read(const struct lc_source *source, uint64_t offset, void *into,
				  size_t size)
{
	if (!lc_source_has(source, offset, size))
		return false;
	if (!source->bytes)
		return lc_source_read_file(source, offset, into, size);
	if (size)
		memcpy(into, source->bytes + offset, size);
	return true;
}

#endif
