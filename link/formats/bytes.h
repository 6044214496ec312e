/* SPDX-License-Identifier: MIT */
/* bytes.h - many bytes of a part at once, copied only if they have to be */
#ifndef LINK_BYTES_H
#define LINK_BYTES_H

#include "containers.h"

struct lc_bytes {
	const unsigned char *at;	/* aligned to nothing */
	void *copy;
};

static inline bool lc_bytes_are(const struct lc_part *part, uint64_t offset, uint64_t size)
{
	return lc_part_has(part, offset, size) &&
	       lc_source_has(part->source, part->offset + offset, size);
}

/* lc_bytes_get() and lc_bytes_free() of what has to be copied. */
const char *lc_bytes_copy(struct lc_bytes *bytes, const struct lc_part *part, uint64_t offset,
			  uint64_t size, const char *what, struct lc_arena *arena);
void lc_bytes_drop(struct lc_bytes *bytes);

/*
 * `size` bytes of a part, for as long as the source is there and until
 * lc_bytes_free().  NULL, or why not, as a phrase: "ends at 0x40, inside its
 * symbols"; `what` is "symbols".
 */
static inline const char *lc_bytes_get(struct lc_bytes *bytes, const struct lc_part *part,
				       uint64_t offset, uint64_t size, const char *what,
				       struct lc_arena *arena)
{
	*bytes = (struct lc_bytes){ .at = NULL };
	if (!part->source->bytes || !lc_bytes_are(part, offset, size) ||
	    !lc_source_pay(part->source, part->offset + offset, size))
		return lc_bytes_copy(bytes, part, offset, size, what, arena);
	bytes->at = part->source->bytes + part->offset + offset;
	return NULL;
}

static inline void lc_bytes_free(struct lc_bytes *bytes)
{
	if (bytes->copy)
		lc_bytes_drop(bytes);
	bytes->at = NULL;
}

#endif
