/* SPDX-License-Identifier: MIT */
/*
 * backends.h - what carries a plan out
 *
 * Each function takes what the plan says and bytes that are ready, and fills a
 * product.  On failure `call` and `status` say what failed; logs are filled in
 * either case.  Everything it made is undone on every path.
 */
#ifndef LINK_BACKENDS_H
#define LINK_BACKENDS_H

#include "../../include/lazycuda_link.h"
#include "../../stubs/base/arena.h"

/* Ready to be handed over. */
struct lk_piece {
	enum lazycuda_kind kind;	/* PTX (NUL behind it), CUBIN, LTOIR, FATBIN */
	const void *bytes;
	size_t length;			/* without the NUL */
	const char *name;
};

struct lk_product {
	enum lazycuda_code code;
	const char *call;		/* that failed; NULL */
	int status;
	size_t piece;			/* that it failed at; NO_INDEX */
	const char *message;		/* in the arena */
	void *image;			/* malloc()ed, a NUL behind it */
	size_t length;
	char *info_log, *error_log;	/* in the arena, or NULL */
};

void lk_nvjitlink_link(struct lc_arena *arena, const struct lazycuda_plan *plan,
		       enum lazycuda_output output, const struct lk_piece *pieces, size_t count,
		       struct lk_product *product);

void lk_driver_link(struct lc_arena *arena, const struct lazycuda_plan *plan, int device,
		    const struct lk_piece *pieces, size_t count, struct lk_product *product);

/* One source to plan->compile_to, with plan->compile_options. */
void lk_nvrtc_compile(struct lc_arena *arena, const struct lazycuda_plan *plan,
		      const char *source, const char *name, struct lk_product *product);

#endif
