/* SPDX-License-Identifier: MIT */
/* bytes.h - bytes of a part, copied only if necessary */
#ifndef LINK_BYTES_H
#define LINK_BYTES_H

#include "containers.h"

struct lk_bytes {
	const unsigned char *at;	/* not aligned */
	void *copy;
};

static inline bool lk_bytes_are(const struct lk_part *part, uint64_t offset, uint64_t size)
{
	return lk_part_has(part, offset, size) &&
	       lk_source_has(part->source, part->offset + offset, size);
}

/* The slow paths of lk_bytes_get() and lk_bytes_free(), for bytes that have to be copied. */
const char *lk_bytes_copy(struct lk_bytes *bytes, const struct lk_part *part, uint64_t offset,
			  uint64_t size, const char *what, struct lc_arena *arena);
void lk_bytes_drop(struct lk_bytes *bytes);

/*
 * Gets `size` bytes of a part.  They are valid while the source exists and until
 * lk_bytes_free().  Returns NULL, or an error phrase: "ends at 0x40, inside its
 * symbols", where `what` is "symbols".
 */
static inline const char *lk_bytes_get(struct lk_bytes *bytes, const struct lk_part *part,
				       uint64_t offset, uint64_t size, const char *what,
				       struct lc_arena *arena)
{
	*bytes = (struct lk_bytes){ .at = NULL };
	if (!part->source->bytes || !lk_bytes_are(part, offset, size) ||
	    !lk_source_pay(part->source, part->offset + offset, size))
		return lk_bytes_copy(bytes, part, offset, size, what, arena);
	bytes->at = part->source->bytes + part->offset + offset;
	return NULL;
}

static inline void lk_bytes_free(struct lk_bytes *bytes)
{
	if (bytes->copy)
		lk_bytes_drop(bytes);
	bytes->at = NULL;
}

#endif
