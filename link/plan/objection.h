/* SPDX-License-Identifier: MIT */
/* objection.h - why an entry is not taken, in words */
#ifndef LINK_OBJECTION_H
#define LINK_OBJECTION_H

#include "choose.h"

/* Before an architecture and a colon: of that GPU, the one that the inputs need. */
#define LK_FROM_INPUTS "from-inputs"

/* Why there is no image, as struct lazycuda_plan says it. */
struct lk_refusal {
	enum lazycuda_code code;
	size_t input;
	const char *have, *need, *message;
};

/* What an entry is: "PTX 9.0 of CUDA 13.0 for sm_90". */
const char *lk_entry_text(struct lc_arena *arena, const struct lazycuda_entry *entry);

/* Fills a refusal, except for its input, for a group without an entry that can be
 * taken; `name` is the input's. */
void lk_object(struct lc_arena *arena, const struct lk_linker *linker, const char *name,
	       const struct lazycuda_inspection *inspection, const struct lk_group *group,
	       const struct lk_choice *choice, struct lk_refusal *refusal);

#endif
