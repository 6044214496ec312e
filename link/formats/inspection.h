/* SPDX-License-Identifier: MIT */
/* inspection.h - an inspection, and the payloads of its entries */
#ifndef LINK_INSPECTION_H
#define LINK_INSPECTION_H

#include "../../include/lazycuda_link.h"
#include "../../stubs/base/arena.h"
#include "source.h"

struct lk_inspection {
	struct lazycuda_inspection public;	/* first: callers have its address */
	struct lc_arena *arena;			/* has it and all that it points to */
	struct lk_source source;
	int read_error;		/* errno of a read that failed */
	struct lk_budget budget;	/* of the source, until it is inspected */
	struct lazycuda_entry **entries;
	bool payloads;			/* are wanted */
	uint64_t unpack_limit, unpacked;	/* what they may unpack to in all, and did */
	const char *unread;		/* NULL, or why some entry could not be unpacked */
};

/* lazycuda_inspect() and lazycuda_inspect_file() in an arena that the caller
 * frees; NULL if memory is out.  The limit is that of lazycuda_inspect_input(). */
struct lazycuda_inspection *lk_inspect(struct lc_arena *arena, const void *bytes, size_t length,
				       const char *name, unsigned flags, uint64_t unpack_limit);
struct lazycuda_inspection *lk_inspect_file(struct lc_arena *arena, const char *path,
					    unsigned flags, uint64_t unpack_limit);

struct lazycuda_inspection *lk_inspect_input(struct lc_arena *arena,
					     const struct lazycuda_input *input, unsigned flags,
					     uint64_t unpack_limit);

/* Closes the file, if it was one, before the arena is freed.  NULL is none. */
void lk_inspection_close(struct lazycuda_inspection *inspection);

/*
 * An entry's payload as it is stored, or `unpack`ed; *code is to be freed, and
 * has a NUL behind it.  NULL or why not, as a phrase that lives as long as the
 * process; LK_NO_MEMORY is compared by address.
 */
const char *lk_payload_load(const struct lk_source *source, const struct lazycuda_entry *entry,
			    bool unpack, unsigned char **code, size_t *length);

extern const char LK_NO_MEMORY[];

#endif
