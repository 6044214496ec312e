/* SPDX-License-Identifier: MIT */
/* planning.c - what every step of a plan uses */
#include "planning.h"
#include "../formats/inspection.h"

bool lk_refuse(struct lk_planning *planning, enum lazycuda_code code, const struct lk_item *item,
	       const char *have, const char *need, const char *format, ...)
{
	const char *text;
	va_list arguments;

	va_start(arguments, format);
	text = lc_format_list(planning->arena, format, arguments);
	va_end(arguments);
	if (item)
		text = lc_format(planning->arena, "%s: %s", item->name, text);
	planning->refusal = (struct lk_refusal){ code, item ? item->input : LAZYCUDA_NO_INDEX, have, need,
						 text };
	return false;
}

void lk_note(struct lk_planning *planning, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	lc_add_string(planning->arena, &planning->notes,
		      lc_format_list(planning->arena, format, arguments));
	va_end(arguments);
}

void lk_plan_note(struct lc_arena *arena, struct lazycuda_plan *plan, const char *note)
{
	const char **notes = lc_alloc(arena, (plan->note_count + 1) * sizeof(*notes));

	if (!notes)
		return;
	for (size_t i = 0; i < plan->note_count; i++)
		notes[i] = plan->notes[i];
	notes[plan->note_count++] = note;
	plan->notes = notes;
}

void lk_add_symbol_error(struct lc_arena *arena, struct lk_symbol_errors *errors,
			 const struct lazycuda_symbol_error *error)
{
	struct lazycuda_symbol_error *copy = lc_alloc(arena, sizeof(*copy)), **slot;

	if (!copy)
		return;
	*copy = *error;
	copy->size = sizeof(*copy);
	copy->name = lc_text(arena, error->name);
	slot = lc_grow(arena, &errors->list, &errors->count, sizeof(*slot));
	if (slot)
		*slot = copy;
}

bool lk_texts_are_there(const char *const *texts, size_t count)
{
	if (count && !texts)
		return false;
	for (size_t i = 0; i < count; i++)
		if (!texts[i])
			return false;
	return true;
}

bool lk_next_group(const struct lk_item *item, struct lk_group *group)
{
	const struct lazycuda_inspection *inspection = item->inspection;
	size_t at = group->first + group->count;

	for (; inspection && at < inspection->entry_count; at += group->count) {
		const char *section = inspection->entries[at]->section;

		*group = lk_group_at(inspection, at);
		if (!item->section || !section || !strcmp(section, item->section))
			return true;
	}
	return false;
}

bool lk_group_has_ltoir(const struct lk_group *group)
{
	for (size_t i = 0; i < group->count; i++)
		if (group->entries[i]->kind == LAZYCUDA_KIND_LTOIR)
			return true;
	return false;
}

struct lk_linker lk_linker_of(const struct lk_planning *planning, enum lazycuda_backend backend)
{
	const struct lazycuda_request *request = &planning->request;

	return lk_linker(backend, backend == LAZYCUDA_BACKEND_DRIVER ?
			 planning->environment.driver : planning->environment.nvjitlink,
			 &planning->target, request->flags,
			 request->policy == LAZYCUDA_POLICY_STRICT);
}

/* ---- what the items are ---- */

bool lk_is_ir(const struct lk_item *item)
{
	return lk_is_llvm_ir(item->what.inspection) && !lk_is_ir_library(item);
}

bool lk_is_ir_library(const struct lk_item *item)
{
	return item->what.flags & LAZYCUDA_INPUT_LIBRARY;
}

bool lk_is_source(const struct lk_item *item)
{
	return !item->inspection && !lk_is_ir(item) && !lk_is_ir_library(item);
}

bool lk_is_tile(const struct lazycuda_entry *entry)
{
	return entry->kind == LAZYCUDA_KIND_TILEIR && !(entry->flags & LAZYCUDA_ENTRY_NO_ROOT);
}

/* ---- what is taken of them ---- */

bool lk_take(struct lk_planning *planning, struct lk_side *side, const struct lk_taken *what)
{
	struct lk_taken *taken = lc_grow(planning->arena, &side->taken, &side->count, sizeof(*taken));

	if (taken)
		*taken = *what;
	return taken;
}

bool lk_is_ir_taken(const struct lk_taken *taken)
{
	return taken->choice.form == LAZYCUDA_FORM_COMPILED &&
	       (lk_is_ir(taken->item) || taken->choice.entry);
}

const struct lazycuda_entry *lk_taken_entry(const struct lk_taken *taken)
{
	const struct lazycuda_inspection *inspection = taken->item->what.inspection;

	if (taken->choice.entry)
		return taken->choice.entry;
	return lk_is_ir(taken->item) && inspection->entry_count ? inspection->entries[0] : NULL;
}

enum lazycuda_kind lk_taken_kind(const struct lk_side *side, const struct lk_taken *taken)
{
	if (taken->choice.form != LAZYCUDA_FORM_COMPILED)
		return lk_taken_entry(taken)->kind;
	return lk_is_ir_taken(taken) ? side->ir.to : side->compilation.to;
}
