/* SPDX-License-Identifier: MIT */
/* taken.c - what is known of what a linker is going to be given */
#include "planning.h"

const struct lazycuda_entry *lk_taken_entry(const struct lk_taken *taken)
{
	const struct lazycuda_inspection *inspection = taken->item->what.inspection;

	if (taken->choice.entry != LAZYCUDA_NO_INDEX)
		return taken->item->inspection->entries[taken->choice.entry];
	return lk_is_ir(taken->item) && inspection->entry_count ? inspection->entries[0] : NULL;
}

enum lazycuda_kind lk_taken_kind(const struct lk_side *side, const struct lk_taken *taken)
{
	if (taken->choice.form != LAZYCUDA_FORM_COMPILED)
		return lk_taken_entry(taken)->kind;
	return lk_is_ir_taken(taken) ? side->ir.to : side->compilation.to;
}
