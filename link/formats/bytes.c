/* SPDX-License-Identifier: MIT */
/* bytes.c - bytes of a part, copied only if necessary */
#include "bytes.h"

#include <inttypes.h>
#include <stdlib.h>

const char *lk_bytes_copy(struct lk_bytes *bytes, const struct lk_part *part, uint64_t offset,
			  uint64_t size, const char *what, struct lc_arena *arena)
{
	if (!lk_bytes_are(part, offset, size))
		return lc_format(arena, "ends at 0x%" PRIx64 ", inside its %s", part->length, what);
	bytes->copy = malloc(size ? (size_t)size : 1);
	if (!bytes->copy) {
		arena->failed = true;
		return "is too large for the memory that is left";
	}
	if (!lk_part_read(part, offset, bytes->copy, (size_t)size)) {
		lk_bytes_drop(bytes);
		return lc_format(arena, "cannot be read at 0x%" PRIx64 ", its %s", offset, what);
	}
	bytes->at = bytes->copy;
	return NULL;
}

void lk_bytes_drop(struct lk_bytes *bytes)
{
	free(bytes->copy);
	*bytes = (struct lk_bytes){ .at = NULL };
}
