/* SPDX-License-Identifier: MIT */
/* notes.c - notes on a plan: worth knowing, but no reason to refuse */
#include <stdbool.h>

#include "planning.h"
#include "../tables/text.h"
#include "../tables/versions.h"

static bool always(const struct lk_planning *planning, const struct lk_side *side)
{
	(void)planning, (void)side;
	return true;
}

/*
 * Whether PTX or cubins may define a name twice without this being seen here: there are at
 * least two, and one of them could not be unpacked.  LTO-IR does not count: for a name that it
 * defines, too, nvJitLink reports an error or takes the other definition.
 */
static bool may_hide_definitions(const struct lk_planning *planning, const struct lk_side *side)
{
	size_t hidden = 0;

	for (size_t i = 0; i < side->count; i++) {
		const struct lk_taken *taken = &side->taken[i];
		const struct lazycuda_entry *entry;

		if (taken->choice.entry == LAZYCUDA_NO_INDEX)
			continue;
		entry = taken->item->inspection->entries[taken->choice.entry];
		hidden += entry->kind != LAZYCUDA_KIND_LTOIR &&
			  entry->flags & LAZYCUDA_ENTRY_UNSEEN;
	}
	return hidden && side->count - side->ltoir > 1 &&
	       !(planning->request.flags & LAZYCUDA_LINK_ISOLATED);
}

/* Quirks of nvJitLink, by version. */
static const struct {
	int since, until;
	bool (*concerns)(const struct lk_planning *planning, const struct lk_side *side);
	const char *text;
} quirks[] = {
	{ LC_CUDA(12, 0), LC_CUDA(12, 4), always,
	  "nvJitLink 12.0 to 12.4 may leak memory at every link; 12.5 does not" },
	{ LC_CUDA(13, 0), LC_CUDA(13, 0), may_hide_definitions,
	  "nvJitLink 13.0 crashes on a definition that is there twice after a link with -lto in the"
	  " process; of what cannot be unpacked here that is not seen beforehand" },
};

static void note_quirks(struct lk_planning *planning, const struct lk_side *side)
{
	int version = side->linker.version;

	for (size_t i = 0; i < sizeof(quirks) / sizeof(*quirks); i++)
		if (version >= quirks[i].since && version <= quirks[i].until &&
		    quirks[i].concerns(planning, side))
			lk_note(planning, quirks[i].text);
}

/* Adds a note that names the first input that it holds for, and says how many more there are. */
static void note_some(struct lk_planning *planning, const struct lk_item *first, size_t count,
		      const char *what)
{
	if (count > 1)
		lk_note(planning, lc_format(planning->arena, "%s and %zu more: %s", first->name,
					    count - 1, what));
	else if (count)
		lk_note(planning, LK_CONCAT(planning->arena, first->name, ": ", what));
}

/* The image's header names, up to 12.9, the earliest virtual architecture of the PTX. */
static void note_virtual_arch(struct lk_planning *planning, const struct lk_side *side)
{
	const struct lk_item *first = NULL;
	int arch = planning->target.sm;
	size_t count = 0;

	if (side->linker.version <= 0 || LC_CUDA_MAJOR(side->linker.version) > 12 || side->ltoir)
		return;
	for (size_t i = 0; i < side->count; i++) {
		const struct lazycuda_entry *entry = lk_taken_entry(&side->taken[i]);

		if (!entry || entry->kind != LAZYCUDA_KIND_PTX || !entry->arch ||
		    entry->arch >= planning->target.sm)
			continue;
		if (!count++)
			first = side->taken[i].item;
		arch = entry->arch < arch ? entry->arch : arch;
	}
	note_some(planning, first, count, lc_format(planning->arena, "PTX for an earlier architecture:"
						    " the image for sm_%d says in its header that"
						    " its code is of compute_%d",
						    planning->target.sm, arch));
}

static void note_lto(struct lk_planning *planning, const struct lk_side *side)
{
	if (!planning->lto || side->ltoir)
		return;
	lk_note(planning, side->linker.backend == LAZYCUDA_BACKEND_DRIVER ?
		"link-time optimisation is left out: the driver's linker has none" :
		"-lto is left out: nothing that is linked is LTO-IR");
}

static bool is_of_older_major(const struct lk_side *side, const struct lk_taken *taken)
{
	const struct lazycuda_entry *entry;
	int oldest, newest;

	if (taken->choice.entry == LAZYCUDA_NO_INDEX)
		return false;
	entry = taken->item->inspection->entries[taken->choice.entry];
	return entry->kind == LAZYCUDA_KIND_LTOIR && side->linker.version > 0 &&
	       lk_entry_toolkits(entry, &oldest, &newest) &&
	       LC_CUDA_MAJOR(newest) < LC_CUDA_MAJOR(side->linker.version);
}

static void note_entries(struct lk_planning *planning, const struct lk_side *side)
{
	const struct lk_item *doubtful = NULL, *older = NULL;
	size_t doubtful_count = 0, older_count = 0;

	for (size_t i = 0; i < side->count; i++) {
		const struct lk_taken *taken = &side->taken[i];

		if (taken->choice.doubt && !doubtful_count++)
			doubtful = taken->item;
		if (is_of_older_major(side, taken) && !older_count++)
			older = taken->item;
	}
	note_some(planning, doubtful, doubtful_count, "not all is known that the linker looks at,"
		  " and it may refuse");
	note_some(planning, older, older_count, "LTO-IR of an older major, which works in every"
		  " case tried and is promised in none");
}

static void note_items(struct lk_planning *planning)
{
	for (size_t i = 0; i < planning->count; i++) {
		const struct lk_item *item = &planning->items[i];

		if (item->what.inspection && item->what.inspection->warning)
			lk_note(planning, LK_CONCAT(planning->arena, item->name, ": ",
						    item->what.inspection->warning));
		if (item->section)
			lk_note(planning, LK_CONCAT(planning->arena, item->name, ": only what is"
						    " in ", item->section, " is taken; the rest"
						    " was linked from it"));
	}
}

static void note_leavers(struct lk_planning *planning, const struct lk_side *side)
{
	if (side->leaves[LK_LEAVER_CONTAINER])
		lk_note(planning, LK_CONCAT(planning->arena, "of containers, other code than LTO-IR is"
					    " taken where there is some, for ",
					    side->leaves[LK_LEAVER_CONTAINER]));
	if (side->leaves[LK_LEAVER_SOURCE])
		lk_note(planning, lc_format(planning->arena, "source takes no part in link-time"
					    " optimisation: nvrtc %s compiles it to PTX, for %s",
					    lk_version(planning->arena,
						       planning->environment.nvrtc),
					    side->leaves[LK_LEAVER_SOURCE]));
}

static void note_compilation(struct lk_planning *planning, const struct lk_compilation *compilation)
{
	const struct lk_arch *target = &planning->target;

	if (compilation->to == LAZYCUDA_KIND_UNKNOWN ||
	    (compilation->arch.sm == target->sm && compilation->arch.suffix == target->suffix))
		return;
	lk_note(planning, lc_format(planning->arena, "nvrtc %s does not know sm_%d%.1s: source is"
				    " compiled for compute_%d, which is linked for it",
				    lk_version(planning->arena, planning->environment.nvrtc),
				    target->sm, &target->suffix, compilation->arch.sm));
}

void lk_plan_notes(struct lk_planning *planning, const struct lk_side *side,
		   struct lazycuda_plan *plan)
{
	note_items(planning);
	note_compilation(planning, &side->compilation);
	note_leavers(planning, side);
	lk_note_ir(planning, &side->ir);
	note_entries(planning, side);
	note_virtual_arch(planning, side);
	note_lto(planning, side);
	if (side->linker.backend == LAZYCUDA_BACKEND_NVJITLINK)
		note_quirks(planning, side);
	else if (planning->environment.nvjitlink == LAZYCUDA_VERSION_NONE &&
		 side->linker.backend == LAZYCUDA_BACKEND_DRIVER)
		lk_note(planning, "the driver links, since there is no nvJitLink");
	plan->notes = planning->notes;
	plan->note_count = planning->note_count;
}
