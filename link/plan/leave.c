/* SPDX-License-Identifier: MIT */
/*
 * leave.c - what leaves link-time optimisation, since code outside it may call it
 *
 * nvJitLink keeps no function of LTO-IR for code that takes no part: a call from there stays
 * undefined, or finds a weak definition that the other would have replaced.  Calls the other way
 * work.  So what could give its code as PTX or as a cubin does.
 */
#include <string.h>

#include "../formats/symbols.h"
#include "planning.h"
#include "../tables/text.h"

/* The code outside: PTX and cubins, and what compilers make PTX of. */
struct outside {
	/* By all of that code: `defined` if it defines a name, `weak` if it does so weakly; if
	 * neither, it needs the name. */
	struct lk_symbols names;
	const struct lk_taken *unseen;	/* the first that does not show its names; NULL */
};

/* ---- outside ---- */

static bool shows_names(const struct lk_taken *taken, const struct lazycuda_entry *entry)
{
	return entry && entry->kind != LAZYCUDA_KIND_BITCODE &&
	       !(entry->flags & LAZYCUDA_ENTRY_UNSEEN) &&
	       (!lk_is_ir(taken->item) || entry->flags & LAZYCUDA_ENTRY_LISTED ||
		entry->symbol_count);
}

static void look_outside(const struct lk_side *side, struct outside *outside)
{
	for (size_t i = 0; i < side->count; i++) {
		const struct lk_taken *taken = &side->taken[i];
		const struct lazycuda_entry *entry = lk_taken_entry(taken);

		if (lk_taken_kind(side, taken) == LAZYCUDA_KIND_LTOIR)
			continue;
		if (!shows_names(taken, entry)) {
			if (!outside->unseen)
				outside->unseen = taken;
			continue;
		}
		for (size_t k = 0; k < entry->symbol_count; k++) {
			const struct lazycuda_symbol *symbol = &entry->symbols[k];
			const struct lazycuda_symbol like = {
				.defined = symbol->defined && !symbol->weak,
				.weak = symbol->defined && symbol->weak,
				.kernel = symbol->kernel,
			};

			lk_symbols_add(&outside->names, symbol->name, strlen(symbol->name), &like);
		}
	}
}

/* The name of what has a symbol outside, for messages. */
static const char *who_has(const struct lk_side *side, const char *name)
{
	for (size_t i = 0; i < side->count; i++) {
		const struct lazycuda_entry *entry = lk_taken_entry(&side->taken[i]);

		if (lk_taken_kind(side, &side->taken[i]) == LAZYCUDA_KIND_LTOIR)
			continue;
		for (size_t k = 0; entry && k < entry->symbol_count; k++)
			if (!strcmp(entry->symbols[k].name, name))
				return side->taken[i].item->name;
	}
	return "code";
}

static const char *because_of(struct lk_planning *planning, const struct lk_side *side,
			      const struct lazycuda_symbol *symbol)
{
	const char *who = who_has(side, symbol->name);
	const char *name = lc_printable(planning->arena, symbol->name);

	if (symbol->defined || symbol->weak)
		return LK_CONCAT(planning->arena, who, ", which takes no part, defines ", name,
				 symbol->defined ? "" : " weakly");
	return LK_CONCAT(planning->arena, who, ", which takes no part, needs ", name,
			 ", and no PTX or cubin here defines it");
}

static const char *because_unseen(struct lk_planning *planning, const struct outside *outside)
{
	return outside->unseen ? LK_CONCAT(planning->arena, outside->unseen->item->name,
					   ", which takes no part, does not show here what it needs") :
				 NULL;
}

/* ---- inside ---- */

/* Why code whose names are known leaves.  If both definitions are weak, either can be taken. */
static const char *why_leave(struct lk_planning *planning, const struct lk_side *side,
			     const struct outside *outside, const struct lazycuda_entry *entry)
{
	for (size_t i = 0; i < entry->symbol_count; i++) {
		const struct lazycuda_symbol *symbol = &entry->symbols[i], *other;

		if (!symbol->defined)
			continue;
		other = lk_names_find(&outside->names, symbol->name);
		if (other && !(symbol->weak && other->weak && !other->defined))
			return because_of(planning, side, other);
	}
	return because_unseen(planning, outside);
}

/* Why code whose names are not known leaves.  Of kernels, nvJitLink itself takes the definition that
 * is not weak. */
static const char *why_leave_unseen(struct lk_planning *planning, const struct lk_side *side,
				    const struct outside *outside)
{
	for (size_t i = 0; i < outside->names.count; i++) {
		const struct lazycuda_symbol *symbol = &outside->names.list[i];

		if (symbol->defined || (symbol->weak && symbol->kernel) ||
		    (!symbol->weak && lk_symbol_is_provided(symbol->name)))
			continue;
		return because_of(planning, side, symbol);
	}
	return because_unseen(planning, outside);
}

/* Returns LK_LEAVERS for what cannot leave. */
static enum lk_leaver kind_of_leaver(const struct lk_side *side, const struct lk_taken *taken)
{
	if (lk_taken_kind(side, taken) != LAZYCUDA_KIND_LTOIR)
		return LK_LEAVERS;
	if (lk_is_ir_taken(taken))
		return LK_LEAVER_IR;
	if (taken->choice.form == LAZYCUDA_FORM_COMPILED)
		return LK_LEAVER_SOURCE;
	return taken->group.count > 1 && lk_choose(&side->linker, &taken->group, false).entry ?
	       LK_LEAVER_CONTAINER : LK_LEAVERS;
}

static const char *why_it_leaves(struct lk_planning *planning, const struct lk_side *side,
				 const struct outside *outside, const struct lk_taken *taken,
				 enum lk_leaver leaver)
{
	/* Of a container, what would be taken in place of its LTO-IR. */
	const struct lazycuda_entry *entry = leaver == LK_LEAVER_CONTAINER ?
		lk_choose(&side->linker, &taken->group, false).entry : lk_taken_entry(taken);

	return shows_names(taken, entry) ? why_leave(planning, side, outside, entry) :
					   why_leave_unseen(planning, side, outside);
}

/* ---- all of them ---- */

/* Whether the output is made from LTO-IR alone: then nothing helps code that takes no part. */
static bool is_all_ltoir(const struct lk_planning *planning)
{
	return planning->request.output == LAZYCUDA_OUTPUT_PTX ||
	       planning->request.output == LAZYCUDA_OUTPUT_LTOIR;
}

/* The kinds leave one after the other, since code that has left calls others from outside. */
static bool find_leaver(struct lk_planning *planning, struct lk_side *side,
			const struct outside *outside, enum lk_leaver leaver)
{
	for (size_t i = 0; i < side->count && !side->leaves[leaver]; i++)
		if (kind_of_leaver(side, &side->taken[i]) == leaver)
			side->leaves[leaver] = why_it_leaves(planning, side, outside,
							     &side->taken[i], leaver);
	return side->leaves[leaver];
}

bool lk_find_leavers(struct lk_planning *planning, struct lk_side *side)
{
	struct outside outside = { .names = { .arena = planning->arena } };

	if (!side->ltoir || side->ltoir == side->count || is_all_ltoir(planning))
		return false;
	look_outside(side, &outside);
	for (enum lk_leaver leaver = 0; leaver < LK_LEAVERS && !planning->arena->failed; leaver++)
		if (!side->leaves[leaver] && find_leaver(planning, side, &outside, leaver))
			return !planning->arena->failed;
	return false;
}
