/* SPDX-License-Identifier: MIT */
/* inspection.h - an inspection, and the payloads of its entries */
#ifndef LINK_INSPECTION_H
#define LINK_INSPECTION_H

#include "../../include/lazycuda_link.h"
#include "../arena.h"
#include "source.h"

struct lc_inspection {
	struct lazycuda_inspection public;	/* first: callers have its address */
	struct lc_arena arena;			/* has all that it points to */
	struct lc_source source;
	struct lazycuda_entry **entries;
	bool payloads;			/* are wanted */
	const char *unread;		/* NULL, or why some entry could not be unpacked */
};

/*
 * An entry's payload as it is stored, or `unpack`ed; *code is to be freed, and
 * has a NUL behind it.  NULL or why not, as a phrase that lives as long as the
 * process; LC_NO_MEMORY is compared by address.
 */
const char *lc_payload_load(const struct lc_source *source, const struct lazycuda_entry *entry,
			    bool unpack, unsigned char **code, size_t *length);

extern const char LC_NO_MEMORY[];

#endif
