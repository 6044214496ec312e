/* SPDX-License-Identifier: MIT */
/*
 * alone.c - what needs no linker: source alone, of which nvrtc makes the image or LTO-IR, and Tile IR
 *
 * Tile IR is a program: it calls nothing outside, and what tileiras makes of it is linked.
 * nvJitLink takes such a cubin, and leaves its kernels out without a word.  So an image is that of
 * one piece of Tile IR, and of nothing else.
 */
#include "planning.h"
#include "../../stubs/base/count.h"
#include "../formats/inspection.h"
#include "../tables/sized.h"
#include "../tables/versions.h"

/* ---- source ---- */

/* Whether the request has options for a linker beside those that settings have written. */
static bool has_linker_options(struct lk_planning *planning)
{
	const char **words = lc_alloc(planning->arena, (lk_most_setting_words(planning) + 1) *
				      sizeof(*words));

	return !words || planning->request.option_count !=
			 lk_write_settings(planning, LK_NVJITLINK, words);
}

/* What nvrtc makes where a link of one source has this output; UNKNOWN: it takes a linker. */
static enum lazycuda_kind made_by_nvrtc(const struct lk_planning *planning)
{
	if (planning->request.output == LAZYCUDA_OUTPUT_LTOIR)
		return planning->environment.nvrtc < LC_CUDA(12, 0) ? LAZYCUDA_KIND_UNKNOWN : LAZYCUDA_KIND_LTOIR;
	return planning->needs ? LAZYCUDA_KIND_UNKNOWN : LAZYCUDA_KIND_CUBIN;
}

/* Whether it is one source, which needs no code beside it. */
static bool is_alone(struct lk_planning *planning)
{
	const struct lk_item *item = planning->items;

	return planning->count == 1 && item->input != LAZYCUDA_NO_INDEX && lk_is_source(item) &&
	       !((item->what.flags & LAZYCUDA_INPUT_MAIN) &&
		 lk_has_support_functions(&planning->request)) &&
	       !has_linker_options(planning);
}

/* Fills a side that has nvrtc make the result; false if the link is more than source alone, or if it
 * is refused. */
static bool plan_source(struct lk_planning *planning, struct lk_side *side)
{
	const int version = planning->environment.nvrtc;
	const enum lazycuda_kind made = made_by_nvrtc(planning);

	*side = (struct lk_side){
		.linker = lk_linker(LAZYCUDA_BACKEND_NVRTC, version, &planning->target,
				    planning->request.flags, false),
		.compilation = { made, planning->target },
		.ltoir = made == LAZYCUDA_KIND_LTOIR,
	};
	side->compilation.arch.virtual = side->ltoir;
	return version > 0 && made && is_alone(planning) &&
	       lk_arch_supported(&planning->target, LK_NVRTC, version) &&
	       lk_compiler_has_settings(planning, planning->items) &&
	       lk_check_debugging(planning, planning->items, NULL) &&
	       lk_take(planning, side, &(const struct lk_taken){
			.item = planning->items, .choice.form = LAZYCUDA_FORM_COMPILED });
}

/* ---- Tile IR ---- */

/* From this version on nvrtc makes Tile IR. */
#define NVRTC_SINCE LC_CUDA(13, 3)

/* The first tileiras that knows a GPU. */
static const struct { int sm, since; } targets[] = {
	{ 80, LC_CUDA(13, 2) }, { 86, LC_CUDA(13, 2) }, { 87, LC_CUDA(13, 2) },
	{ 88, LC_CUDA(13, 2) }, { 89, LC_CUDA(13, 2) }, { 90, LC_CUDA(13, 3) },
	{ 100, LC_CUDA(13, 1) }, { 103, LC_CUDA(13, 1) }, { 107, LC_CUDA(13, 4) },
	{ 110, LC_CUDA(13, 1) }, { 120, LC_CUDA(13, 1) }, { 121, LC_CUDA(13, 1) },
};

/* From this GPU on its images are for one GPU alone. */
#define SPECIFIC_SINCE 90

/* What the items have. */
struct tile_found {
	struct lk_taken tile;	/* the first piece; its item NULL: there is none */
	const struct lk_item *second;	/* an item with another piece */
	const struct lk_item *other;	/* one with other code */
};

/* ---- what there is ---- */

static bool is_for(const struct lazycuda_entry *entry, const struct lk_arch *target)
{
	const struct lk_arch code = { entry->arch, entry->suffix, true };

	return !entry->arch || lk_arch_fits(LAZYCUDA_KIND_PTX, &code, target,
					    LAZYCUDA_VERSION_UNKNOWN);
}

/* The Tile IR of a group for the target: the last, as of PTX; else any; NULL: there is none. */
static const struct lazycuda_entry *tile_of(const struct lk_group *group, const struct lk_arch *target)
{
	const struct lazycuda_entry *found = NULL;

	for (size_t i = 0; i < group->count; i++)
		if (lk_is_tile(group->entries[i]) && (!found || is_for(group->entries[i], target)))
			found = group->entries[i];
	return found;
}

static void note_piece(struct tile_found *found, const struct lk_taken *tile)
{
	if (!found->tile.item)
		found->tile = *tile;
	else if (!found->second)
		found->second = tile->item;
}

/* For each source nvcc writes both Tile IR and other code, whichever kernels it has. */
static bool is_empty(const struct lk_group *group)
{
	bool empty = true;

	for (size_t i = 0; i < group->count; i++) {
		const struct lazycuda_entry *entry = group->entries[i];

		if (entry->kind == LAZYCUDA_KIND_TILEIR)
			return true;
		empty &= entry->flags & LAZYCUDA_ENTRY_NO_ROOT && !entry->symbol_count;
	}
	return empty;
}

/* nvcc puts the cubin of tileiras into the Tile IR's container: entries of that do not count. */
static void look_into(const struct lk_planning *planning, const struct lk_item *item,
		      struct tile_found *found)
{
	struct lk_group group = { .count = 0 };

	while (lk_next_group(item, &group)) {
		const struct lazycuda_entry *entry = tile_of(&group, &planning->target);

		if (entry)
			note_piece(found, &(const struct lk_taken){
				.item = item, .group = group, .choice = { .entry = entry } });
		else if (!is_empty(&group))
			found->other = item;
	}
}

static bool is_only(const struct lk_planning *planning)
{
	return planning->request.flags & LAZYCUDA_LINK_TILE_ONLY;
}

static struct tile_found find_tile(const struct lk_planning *planning)
{
	struct tile_found found = { .other = NULL };

	for (size_t i = 0; i < planning->count; i++) {
		const struct lk_item *item = &planning->items[i];

		if (item->inspection)
			look_into(planning, item, &found);
		else if (is_only(planning) && lk_is_source(item))
			note_piece(&found, &(const struct lk_taken){
				.item = item, .choice.form = LAZYCUDA_FORM_COMPILED });
		else
			found.other = item;
	}
	return found;
}

/* ---- which tileiras ---- */

/* The first tileiras that knows the target; 0 if none in the table does. */
static int since_for(const struct lk_arch *target)
{
	for (size_t i = 0; i < LC_COUNT(targets); i++)
		if (targets[i].sm == target->sm)
			return targets[i].since;
	return 0;
}

static bool knows(const struct lk_arch *target, int version)
{
	const int since = since_for(target);

	return since ? version < 0 || version >= since : version > lk_newest_cuda();
}

/* The first that reads Tile IR of this version, NONE: not known, and knows the target; NONE if
 * there is none.  *newest becomes the newest of all. */
static int choose_tileiras(const struct lk_planning *planning, int toolkit, int *newest)
{
	struct lazycuda_others others;

	*newest = LAZYCUDA_VERSION_NONE;
	lk_sized_copy(&others, sizeof(others), planning->request.others);
	for (size_t i = 0; others.tileirases && i < others.tileiras_count; i++) {
		const int version = others.tileirases[i];

		if (!*newest || version > *newest)
			*newest = version;
		if (version && knows(&planning->target, version) &&
		    (version < 0 || version >= toolkit))
			return version;
	}
	return LAZYCUDA_VERSION_NONE;
}

/* What reads it and makes code for the target. */
static const char *what_is_needed(struct lk_planning *planning, int toolkit)
{
	const int since = since_for(&planning->target);

	if (since > toolkit)
		toolkit = since;
	return toolkit > 0 ? lc_format(planning->arena, "tileiras %s or later",
				       lk_version(planning->arena, toolkit)) : "tileiras";
}

/* ---- why not ---- */

/* Refuses an item with a code, what is needed instead, and a format and what follows it. */
#define REFUSE(code, item, ...) \
	lk_refuse(planning, LAZYCUDA_CODE_##code, item, "Tile IR", __VA_ARGS__)

/* Whether the request asks for nothing that linkers alone do. */
static bool is_image_asked(struct lk_planning *planning, const struct lk_item *item)
{
	const struct lazycuda_request *request = &planning->request;

	if (request->output != LAZYCUDA_OUTPUT_CUBIN || request->lto)
		return REFUSE(UNSUPPORTED_KIND, item, LK_TILE_NEED, "Tile IR takes no part in link-time"
			      " optimisation, and becomes an image only");
	if (request->option_count || request->setting_count)
		return REFUSE(OPTION_UNSUPPORTED, item, "no options for a linker", "tileiras makes the image"
			      " of its Tile IR, and takes no options of linkers");
	return planning->target.suffix != 'f' ||
	       REFUSE(ARCH_UNSUPPORTED, item, "a target of one GPU", "tileiras makes images for one GPU, not"
		      " for a family");
}

static bool check_piece(struct lk_planning *planning, const struct tile_found *found)
{
	const struct lk_item *item = found->tile.item;
	const struct lazycuda_entry *entry = lk_taken_entry(&found->tile);

	if (found->second)
		return REFUSE(UNSUPPORTED_KIND, found->second, "one piece of Tile IR", "its Tile IR and that"
			      " of %s are not linked: each is an image of its own; give one alone",
			      item->name);
	if (!entry)
		return true;
	if (entry->error)
		return REFUSE(BAD_INPUT, item, "Tile IR that is whole", "%s", entry->error);
	if (entry->flags & LAZYCUDA_ENTRY_UNSEEN)
		return REFUSE(CANNOT_UNPACK, item, "Tile IR that can be unpacked", "its Tile IR is compressed,"
			      " and cannot be unpacked here");
	return is_for(entry, &planning->target) ||
	       REFUSE(ARCH_MISMATCH, item, "Tile IR for the target", "its Tile IR is for sm_%d, and the"
		      " target is sm_%d", entry->arch, planning->target.sm);
}

static bool check_compiler(struct lk_planning *planning, const struct lk_item *item)
{
	const int nvrtc = planning->environment.nvrtc;

	return nvrtc >= NVRTC_SINCE || nvrtc < 0 ||
	       lk_refuse(planning, LAZYCUDA_CODE_NVRTC_REQUIRED, item,
			 nvrtc ? lc_format(planning->arena, "nvrtc %s", lk_version(planning->arena, nvrtc)) :
			 "no nvrtc", "nvrtc 13.3 or later",
			 "it is source, and nvrtc 13.3 or later makes Tile IR of source");
}

static bool check_tileiras(struct lk_planning *planning, const struct lk_item *item, int toolkit,
			   int version, int newest)
{
	struct lc_arena *arena = planning->arena;
	const char *need = what_is_needed(planning, toolkit);
	const char *have = newest ? lc_format(arena, "tileiras %s", lk_version(arena, newest)) :
				    "no tileiras";

	if (version)
		return true;
	if (!since_for(&planning->target))
		return REFUSE(ARCH_UNSUPPORTED, item, "sm_80 or later", "no tileiras makes code for sm_%d",
			      planning->target.sm);
	return lk_refuse(planning, LAZYCUDA_CODE_TILEIRAS_REQUIRED, item, have, need,
			 "of its Tile IR, for sm_%d, %s makes an image, and %s%s is beside the nvrtc or"
			 " nvJitLink here; install the package nvidia-cuda-tileiras", planning->target.sm,
			 need, newest ? "none but " : "none", newest ? lk_version(arena, newest) : "");
}

/* ---- the plan ---- */

static void note_left(struct lk_planning *planning, const struct tile_found *found)
{
	if (lk_is_source(found->tile.item))
		lk_note(planning, "%s: only its __tile_global__ kernels are in the image",
			found->tile.item->name);
	if (found->other)
		lk_note(planning, "%s: what is not Tile IR is left out", found->other->name);
}

/* Fills a side that has tileiras make the image; false if that is not what the link asks for, or if it
 * is refused. */
static bool plan_tile(struct lk_planning *planning, struct lk_side *side)
{
	struct tile_found found = find_tile(planning);
	const struct lk_item *item = found.tile.item;
	const bool source = item && !found.tile.choice.entry;
	struct lk_arch target = planning->target;
	int toolkit, version, newest;

	*side = (struct lk_side){ .count = 0 };
	if (!item && is_only(planning))
		return lk_refuse(planning, LAZYCUDA_CODE_NO_DEVICE_CODE, NULL, "no Tile IR",
				 "Tile IR", "no input has Tile IR");
	if (!item || planning->request.flags & LAZYCUDA_LINK_IGNORE_TILE ||
	    (found.other && !is_only(planning)) ||
	    !is_image_asked(planning, item) || !check_piece(planning, &found) ||
	    (source && !check_compiler(planning, item)))
		return false;
	toolkit = source ? planning->environment.nvrtc : lk_taken_entry(&found.tile)->toolkit;
	version = choose_tileiras(planning, toolkit, &newest);
	if (!check_tileiras(planning, item, toolkit, version, newest))
		return false;
	if (source)
		side->compilation = (struct lk_compilation){ LAZYCUDA_KIND_TILEIR, target };
	else if (lk_taken_entry(&found.tile)->flags & LK_PACKED)
		found.tile.choice.form = LAZYCUDA_FORM_UNPACKED;
	if (target.sm >= SPECIFIC_SINCE)
		target.suffix = 'a';
	side->linker = lk_linker(LAZYCUDA_BACKEND_TILEIRAS, version, &target,
				 planning->request.flags, false);
	note_left(planning, &found);
	return lk_take(planning, side, &found.tile);
}

/* ---- either ---- */

const struct lk_side *lk_plan_alone(struct lk_planning *planning, struct lk_side *alone)
{
	const struct lk_refusal before = planning->refusal;
	bool source;

	planning->refusal = LK_NO_REFUSAL;
	source = !(planning->request.flags & LAZYCUDA_LINK_TILE_ONLY) && plan_source(planning, alone);
	if (!source && planning->refusal.code == LAZYCUDA_CODE_BAD_OPTION)
		return NULL;	/* no linker would help */
	if (!source) {
		planning->refusal = LK_NO_REFUSAL;
		if (!plan_tile(planning, alone)) {
			if (!planning->refusal.code)
				planning->refusal = before;
			return NULL;
		}
	}
	if (lk_plan_result(planning, alone))
		return alone;
	if (source)	/* of Tile IR no linker makes an image */
		planning->refusal = before;
	return NULL;
}
