/* SPDX-License-Identifier: MIT */
/* source.c - the bytes of a file or of memory, read piece by piece, and parts of them */
#include "source.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "../../stubs/base/regular.h"

bool lk_source_overspend(const struct lk_source *source, uint64_t offset)
{
	struct lk_budget *budget = source->budget;

	if (!budget->spent)
		budget->at = offset;
	budget->spent = true;
	budget->left = 0;	/* no later read succeeds, either */
	return false;
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
	int ignored;

	if (!source->block || !fill(source, offset, size))
		return lc_read_at(source->fd, offset, into, size,
				  source->error ? source->error : &ignored);
	memcpy(into, source->block->bytes + (offset - source->block->offset), size);
	return true;
}

const char *lk_bytes_get(struct lk_bytes *bytes, const struct lk_part *part, uint64_t offset,
			 uint64_t size, const char *what, struct lc_arena *arena)
{
	const struct lk_source *source = part->source;
	const uint64_t begin = part->offset + offset;

	*bytes = (struct lk_bytes){ .at = NULL };
	if (!lk_part_has(part, offset, size) || !lk_source_has(source, begin, size))
		return lc_format(arena, "ends at 0x%" PRIx64 ", inside its %s", part->length, what);
	if (source->bytes && lk_source_pay(source, begin, size)) {
		bytes->at = source->bytes + begin;
		return NULL;
	}
	bytes->at = bytes->copy = malloc(size ? (size_t)size : 1);
	if (!bytes->copy) {
		arena->failed = true;
		return "is too large for the memory that is left";
	}
	if (lk_source_read(source, begin, bytes->copy, (size_t)size))
		return NULL;
	lk_bytes_free(bytes);
	return lc_format(arena, "cannot be read at 0x%" PRIx64 ", its %s", offset, what);
}

void lk_bytes_free(struct lk_bytes *bytes)
{
	free(bytes->copy);
	*bytes = (struct lk_bytes){ .at = NULL };
}
