/* SPDX-License-Identifier: MIT */
/* source.c - the bytes of a file, read piece by piece */
#include "source.h"

#include <errno.h>
#include <unistd.h>

bool lk_source_overspend(const struct lk_source *source, uint64_t offset)
{
	struct lk_budget *budget = source->budget;

	if (!budget->spent)
		budget->at = offset;
	budget->spent = true;
	budget->left = 0;	/* no later read succeeds, either */
	return false;
}

/* No file is 2^63 bytes long, so every offset fits an off_t. */
static bool read_now(const struct lk_source *source, uint64_t offset, void *into, size_t size)
{
	unsigned char *at = into;

	while (size) {
		ssize_t got = pread(source->fd, at, size, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && source->error)
			*source->error = errno;
		if (got <= 0)
			return false;
		at += got;
		offset += (uint64_t)got;
		size -= (size_t)got;
	}
	return true;
}

/* Returns true if the block has all of these bytes now.  A failure to read ahead is not
 * an error: the bytes that cannot be read may not be those that were asked for. */
static bool fill(const struct lk_source *source, uint64_t offset, size_t size)
{
	struct lk_block *block = source->block;
	const uint64_t begin = offset - offset % LK_BLOCK;

	if (offset - begin + size > LK_BLOCK)
		return false;
	if (begin != block->offset || !block->length) {
		ssize_t got = pread(source->fd, block->bytes, LK_BLOCK, (off_t)begin);

		block->offset = begin;
		block->length = got > 0 ? (size_t)got : 0;
	}
	return offset - begin + size <= block->length;
}

bool lk_source_read_file(const struct lk_source *source, uint64_t offset, void *into, size_t size)
{
	if (!source->block || !fill(source, offset, size))
		return read_now(source, offset, into, size);
	memcpy(into, source->block->bytes + (offset - source->block->offset), size);
	return true;
}
