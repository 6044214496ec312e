/* SPDX-License-Identifier: MIT */
/* bytes.h - many bytes of a part at once, copied only if they have to be */
#ifndef LINK_BYTES_H
#define LINK_BYTES_H

#include "formats.h"

struct lc_bytes {
	const unsigned char *at;	/* aligned to nothing */
	void *copy;
};

/*
 * `size` bytes of a part, for as long as the source is there and until
 * lc_bytes_free().  NULL, or why not, as a phrase: "ends at 0x40, inside its
 * symbols"; `what` is "symbols".
 */
const char *lc_bytes_get(struct lc_bytes *bytes, const struct lc_part *part, uint64_t offset,
			 uint64_t size, const char *what, struct lc_arena *arena);
void lc_bytes_free(struct lc_bytes *bytes);

#endif
