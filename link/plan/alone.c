/* SPDX-License-Identifier: MIT */
/* alone.c - source alone, of which nvrtc makes the image without a linker */
#include "planning.h"

/* Whether the request has options for a linker beside those that settings have written. */
static bool has_linker_options(struct lk_planning *planning)
{
	const char **words = lc_alloc(planning->arena, (lk_most_setting_words(planning) + 1) *
				      sizeof(*words));

	return !words || planning->request.option_count !=
			 lk_write_settings(planning, LK_NVJITLINK, words);
}

/* Whether it is one source, of which an image is wanted, and which needs no code beside it. */
static bool is_alone(struct lk_planning *planning)
{
	const struct lk_item *item = planning->items;

	return planning->count == 1 && item->input != LAZYCUDA_NO_INDEX && !item->inspection &&
	       !lk_is_ir(item) && !lk_is_ir_library(item) && !planning->needs &&
	       !((item->what.flags & LAZYCUDA_INPUT_MAIN) &&
		 lk_has_support_functions(&planning->request)) &&
	       !has_linker_options(planning);
}

bool lk_plan_alone(struct lk_planning *planning, struct lk_side *side)
{
	const int version = planning->environment.nvrtc;
	struct lk_taken *taken;

	*side = (struct lk_side){
		.linker = lk_linker(LAZYCUDA_BACKEND_NVRTC, version, &planning->target,
				    planning->request.flags, false),
		.compilation = { LAZYCUDA_KIND_CUBIN, planning->target },
	};
	if (version <= 0 || !is_alone(planning) ||
	    !lk_arch_supported(&planning->target, LK_NVRTC, version) ||
	    !lk_compiler_has_settings(planning, planning->items, &side->refusal) ||
	    !lk_check_debugging(planning, planning->items, NULL, &side->refusal))
		return false;
	taken = lc_grow(planning->arena, &side->taken, &side->count, sizeof(*taken));
	if (!taken)
		return false;
	*taken = (struct lk_taken){ .item = planning->items,
				    .choice = { .entry = LAZYCUDA_NO_INDEX,
						.form = LAZYCUDA_FORM_COMPILED } };
	return true;
}
