/* SPDX-License-Identifier: MIT */
/* side.c - what each linker would take, and what it objects to */
#include <string.h>

#include "../tables/options.h"
#include "planning.h"
#include "../tables/text.h"
#include "../tables/versions.h"

/* ---- the target ---- */

static bool check_target(struct lk_planning *planning, struct lk_side *side)
{
	struct lc_arena *arena = planning->arena;
	bool driver = side->linker.backend == LAZYCUDA_BACKEND_DRIVER;
	enum lk_tool tool = driver ? LK_DRIVER : LK_NVJITLINK;
	const struct lk_arch *target = &planning->target;
	int version = side->linker.version, since, until;
	const char *linker = lk_linker_text(arena, &side->linker), *need = "a newer linker";

	if (lk_arch_supported(target, tool, version))
		return true;
	since = lk_arch_since(target, tool);
	until = lk_arch_until(target, tool);
	if (since && version < since)
		need = lk_or_later(arena, side->linker.backend, since);
	else if (until)
		need = lc_format(arena, "nvJitLink %s or earlier", lk_version(arena, until));
	return lk_refuse(planning, LAZYCUDA_CODE_ARCH_UNSUPPORTED, NULL, linker, need,
			 "%s does not link for %s; take %s", linker,
			 lk_arch(arena, target->sm, target->suffix), need);
}

static bool check_device(struct lk_planning *planning, const struct lk_side *side)
{
	struct lc_arena *arena = planning->arena;
	const char *need;

	if (side->linker.backend != LAZYCUDA_BACKEND_DRIVER || !planning->environment.no_device)
		return true;
	need = LK_CONCAT(arena, lk_or_later(arena, LAZYCUDA_BACKEND_NVJITLINK, LK_NVJITLINK_OLDEST),
			 ", or a GPU that the driver can use");
	return lk_refuse(planning, LAZYCUDA_CODE_DRIVER_FAILED, NULL, "a driver without a device", need,
			 "%s finds no device here, without which it links nothing; take %s",
			 lk_linker_text(arena, &side->linker), need);
}

/* ---- the inputs ---- */

static bool take_entry(struct lk_planning *planning, struct lk_side *side, const struct lk_item *item,
		       const struct lk_group *group, struct lk_choice choice, bool ltoir)
{
	side->ltoir += ltoir;
	return lk_take(planning, side, &(const struct lk_taken){ item, *group, choice });
}

static bool take_source(struct lk_planning *planning, struct lk_side *side,
			const struct lk_item *item)
{
	const struct lk_choice choice = { .form = LAZYCUDA_FORM_COMPILED };
	const bool lto = side->lto && !side->leaves[LK_LEAVER_SOURCE];

	if (side->compilation.to == LAZYCUDA_KIND_UNKNOWN &&
	    !lk_plan_compilation(planning, &side->linker, lto, item, &side->compilation))
		return false;
	return take_entry(planning, side, item, &(const struct lk_group){ .count = 0 }, choice, lto);
}

/* Whether bitcode in an input is taken, as take_code() does. */
static bool has_ir_to_take(const struct lk_side *side, const struct lk_item *item)
{
	struct lk_group group = { .count = 0 };

	while (lk_next_group(item, &group))
		if (lk_choose_ir(&side->linker, &group) &&
		    !lk_choose(&side->linker, &group, side->lto).entry)
			return true;
	return false;
}

/* NULL, or why LLVM IR that is taken is not to become LTO-IR.  One reason is enough for all of it:
 * modules may call each other, and LTO-IR keeps no function for what takes no part. */
static const char *why_ir_leaves(struct lk_planning *planning, const struct lk_side *side)
{
	/* What is not listed is left out, if that is asked for. */
	if (!side->lto || planning->request.flags & LAZYCUDA_LINK_IGNORE_NON_LTO)
		return NULL;
	for (size_t i = 0; i < planning->count; i++) {
		const struct lk_item *item = &planning->items[i];
		const char *why = NULL;

		if (lk_is_ir(item) || has_ir_to_take(side, item))
			why = lk_ir_unlisted(planning, item);
		if (why)
			return why;
	}
	return NULL;
}

/* Takes LLVM IR: a whole input, or an entry of one. */
static bool take_ir(struct lk_planning *planning, struct lk_side *side, const struct lk_item *item,
		    const struct lk_group *group, const struct lazycuda_entry *entry)
{
	struct lk_choice choice = { .entry = entry, .form = LAZYCUDA_FORM_COMPILED };

	if (!side->ir.any &&
	    !lk_plan_ir(planning, &side->linker, side->lto, side->leaves[LK_LEAVER_IR], item,
			&side->ir))
		return false;
	choice.doubt = side->ir.doubt;
	return take_entry(planning, side, item, group, choice, side->ir.to == LAZYCUDA_KIND_LTOIR);
}

/* NULL, or why LLVM IR is to be left out: it would not be compiled to LTO-IR. */
static const char *why_ir_ignored(struct lk_planning *planning, const struct lk_side *side,
				  const struct lk_item *item)
{
	struct lk_ir_compilation ir = side->ir;
	bool none;
	const char *why;

	if (!(planning->request.flags & LAZYCUDA_LINK_IGNORE_NON_LTO))
		return NULL;
	why = lk_ir_unlisted(planning, item);
	if (why)
		return why;
	if (!ir.any && !lk_plan_ir(planning, &side->linker, side->lto, NULL, item, &ir)) {
		none = planning->refusal.code == LAZYCUDA_CODE_NVVM_REQUIRED;
		planning->refusal = LK_NO_REFUSAL;
		return none ? "there is no libnvvm to compile it" : "no libnvvm here compiles it";
	}
	return ir.to == LAZYCUDA_KIND_LTOIR ? NULL : ir.no_lto ? ir.no_lto :
	       "the linker takes none";
}

/* Whether a group is to be left out, since what was chosen of it takes no part in link-time
 * optimisation. */
static bool is_ignored(const struct lk_planning *planning, const struct lk_group *group,
		       const struct lk_choice *choice)
{
	return planning->request.flags & LAZYCUDA_LINK_IGNORE_NON_LTO &&
	       (choice->entry ? choice->entry->kind != LAZYCUDA_KIND_LTOIR : !lk_group_has_ltoir(group));
}

/* `why` is NULL, or why LLVM IR among it does not become LTO-IR. */
static void note_ignored(struct lk_planning *planning, const struct lk_item *item, size_t ignored,
			 size_t taken, const char *why)
{
	const char *what = !taken ? " is left out: it is" :
			   lc_format(planning->arena, ": %zu of %zu pieces are left out: they are",
				     ignored, ignored + taken);

	lk_note(planning, "%s%s not LTO-IR%s%s", item->name, what, why ? ", for " : "", why ? why : "");
}

/* If containers leave link-time optimisation, those with LTO-IR alone still give it. */
static struct lk_choice choose(const struct lk_side *side, const struct lk_group *group)
{
	struct lk_choice choice = { .entry = NULL };

	if (side->leaves[LK_LEAVER_CONTAINER])
		choice = lk_choose(&side->linker, group, false);
	return choice.entry ? choice : lk_choose(&side->linker, group, side->lto);
}

/* ---- Tile IR ---- */

/* The first entry of Tile IR with kernels; NULL if there is none. */
static const struct lazycuda_entry *first_tile(const struct lazycuda_inspection *inspection)
{
	for (size_t i = 0; i < inspection->entry_count; i++)
		if (lk_is_tile(inspection->entries[i]))
			return inspection->entries[i];
	return NULL;
}

/* nvcc puts into the container of Tile IR what tileiras made of it, too. */
static bool is_tile(const struct lk_group *group)
{
	for (size_t i = 0; i < group->count; i++)
		if (group->entries[i]->kind == LAZYCUDA_KIND_TILEIR)
			return true;
	return false;
}

/* "PTX 9.5 of CUDA 13.5 for sm_100 in __nv_relfatbin": the first entry that is in no container of
 * Tile IR; NULL if all are. */
static const char *beside_tile(struct lk_planning *planning, const struct lk_item *item)
{
	const struct lazycuda_inspection *inspection = item->inspection;
	struct lk_group group = { .count = 0 };

	for (size_t first = 0; first < inspection->entry_count; first += group.count) {
		group = lk_group_at(inspection, first);
		if (!is_tile(&group))
			return lc_format(planning->arena, "%s%s%s",
					 lk_entry_text(planning->arena, group.entries[0]),
					 group.entries[0]->section ? " in " : "",
					 group.entries[0]->section ? group.entries[0]->section : "");
	}
	return NULL;
}

/* nvcc writes a container of Tile IR beside that of the other code.  Linkers leave it out, and say
 * nothing.  Returns false if that is not allowed. */
static bool leave_tile(struct lk_planning *planning, const struct lk_item *item,
		       const struct lazycuda_entry *entry)
{
	struct lc_arena *arena = planning->arena;
	const char *have = !entry->arch ? "Tile IR" :
		lc_format(arena, "Tile IR for %s%s%s", lk_arch(arena, entry->arch, entry->suffix),
			  entry->section ? " in " : "", entry->section ? entry->section : "");
	const char *beside = beside_tile(planning, item);

	if (!beside)
		return lk_refuse(planning, LAZYCUDA_CODE_UNSUPPORTED_KIND, item, have,
				 LK_TILE_NEED,
				 "it has only %s, which no linker combines with other code", have);
	if (planning->request.flags & LAZYCUDA_LINK_IGNORE_TILE) {
		lk_note(planning, "%s: %s is left out: the image lacks its kernels", item->name, have);
		return true;
	}
	return lk_refuse(planning, LAZYCUDA_CODE_UNSUPPORTED_KIND, item, have, LK_TILE_NEED,
			 "there is %s, " LK_TILE_ADVICE "; the rest of it, %s, is linked with --ignore-tile"
			 " (LAZYCUDA_LINK_IGNORE_TILE)", have, beside);
}

static bool object(struct lk_planning *planning, struct lk_side *side, const struct lk_item *item,
		   const struct lk_group *group, const struct lk_choice *choice)
{
	planning->refusal.input = item->input;
	planning->refusal.code = choice->code;
	if (!planning->trial)
		lk_object(planning->arena, &side->linker, item->name, group, choice, &planning->refusal);
	return false;
}

static bool take_code(struct lk_planning *planning, struct lk_side *side,
		      const struct lk_item *item)
{
	struct lk_group group = { .count = 0 };
	size_t before = side->count, ignored = !item->inspection->entry_count;
	const struct lazycuda_entry *tile = first_tile(item->inspection);
	const char *why = NULL;

	if (tile && !leave_tile(planning, item, tile))
		return false;
	while (lk_next_group(item, &group)) {
		struct lk_choice choice = choose(side, &group);
		const struct lazycuda_entry *ir =
			choice.entry ? NULL : lk_choose_ir(&side->linker, &group);
		bool taken = true;

		if (is_tile(&group))
			continue;
		if (ir && !why)
			why = why_ir_ignored(planning, side, item);
		if (ir && !why)
			taken = take_ir(planning, side, item, &group, ir);
		else if (is_ignored(planning, &group, &choice))
			ignored++;
		else if (choice.entry)
			taken = take_entry(planning, side, item, &group, choice,
					   choice.entry->kind == LAZYCUDA_KIND_LTOIR);
		else
			taken = object(planning, side, item, &group, &choice);
		if (!taken)
			return false;
	}
	if (ignored)
		note_ignored(planning, item, ignored, side->count - before, why);
	return true;
}

static bool take_item(struct lk_planning *planning, struct lk_side *side,
		      const struct lk_item *item)
{
	const char *why;

	if (lk_is_ir_library(item))
		return true;
	if (item->inspection)
		return take_code(planning, side, item);
	if (!lk_is_ir(item))
		return take_source(planning, side, item);
	why = why_ir_ignored(planning, side, item);
	if (!why)
		return take_ir(planning, side, item, &(const struct lk_group){ .count = 0 }, NULL);
	note_ignored(planning, item, 1, 0, why);
	return true;
}

static bool take_items(struct lk_planning *planning, struct lk_side *side)
{
	for (size_t i = 0; i < planning->count; i++)
		if (!take_item(planning, side, &planning->items[i]))
			return false;
	return true;
}

/* Takes the items again as long as something has to leave link-time optimisation. */
static bool take_all(struct lk_planning *planning, struct lk_side *side)
{
	side->leaves[LK_LEAVER_IR] = why_ir_leaves(planning, side);
	do {
		side->count = side->ltoir = 0;
		side->taken = NULL;
		side->ir = (struct lk_ir_compilation){ .any = false };
		side->compilation = (struct lk_compilation){ .to = LAZYCUDA_KIND_UNKNOWN };
		if (!take_items(planning, side))
			return false;
	} while (lk_find_leavers(planning, side));
	return true;
}

/* If all but LTO-IR is left out, there has to be LTO-IR, and a linker that takes it. */
static bool check_ignored(struct lk_planning *planning, struct lk_side *side)
{
	if (!(planning->request.flags & LAZYCUDA_LINK_IGNORE_NON_LTO))
		return true;
	if (side->linker.backend == LAZYCUDA_BACKEND_DRIVER)
		return lk_refuse(planning, LAZYCUDA_CODE_LTOIR_ON_DRIVER, NULL,
				 "the driver's linker", "nvJitLink",
				 "what is not LTO-IR is to be left out, and the driver's linker"
				 " takes nothing else; install nvJitLink");
	return side->count ||
	       lk_refuse(planning, LAZYCUDA_CODE_NO_USABLE_ENTRY, NULL, "no LTO-IR",
			 "LTO-IR, or source",
			 "no input is LTO-IR, and all else is to be left out; pass LTO-IR, or link"
			 " without leaving it out");
}

/* ---- the output ---- */

/* The first nvJitLink that makes each output: `since_ltoir` if every input is LTO-IR,
 * and `since` if one is not. */
static const struct output {
	const char *text;
	bool from_ltoir_alone;
	int since_ltoir, since;
	const char *why;
} outputs[] = {
	[LAZYCUDA_OUTPUT_CUBIN] = { "an image", false, 0, 0, NULL },
	[LAZYCUDA_OUTPUT_PTX] = { "PTX", true, 0, 0, NULL },
	[LAZYCUDA_OUTPUT_RELOCATABLE] = {
		"a relocatable cubin", false, LC_CUDA(13, 3), LC_CUDA(13, 0),
		"earlier ones have no -r, or ignore it where all inputs are LTO-IR" },
	[LAZYCUDA_OUTPUT_LTOIR] = {
		"LTO-IR", true, LC_CUDA(13, 4), LC_CUDA(13, 4), "earlier ones do not give it out" },
};

/* Whether what is taken is not LTO-IR on its own: listed LLVM IR becomes PTX for the sake of other. */
static bool is_no_ltoir(struct lk_planning *planning, const struct lk_side *side,
			const struct lk_taken *taken)
{
	return lk_taken_kind(side, taken) != LAZYCUDA_KIND_LTOIR &&
	       (!lk_is_ir_taken(taken) || !side->leaves[LK_LEAVER_IR] ||
		lk_ir_unlisted(planning, taken->item));
}

static bool check_inputs_of_output(struct lk_planning *planning, struct lk_side *side,
				   const struct output *output)
{
	for (size_t i = 0; output->from_ltoir_alone && i < side->count; i++) {
		const struct lk_taken *taken = &side->taken[i];
		const bool ir = lk_is_ir_taken(taken);

		if (!is_no_ltoir(planning, side, taken))
			continue;
		return lk_refuse(planning, LAZYCUDA_CODE_PTX_NEEDS_LTO, taken->item,
				 ir ? "LLVM IR" : lk_entry_text(planning->arena, lk_taken_entry(taken)),
				 "LTO-IR", "%s output is made from LTO-IR alone, and this is %s%s; pass"
				 " LTO-IR, or ask for an image", output->text,
				 ir ? "LLVM IR, which is compiled to PTX, for " :
				 lazycuda_kind_name(lk_taken_kind(side, taken)),
				 ir ? side->ir.no_lto : "");
	}
	return true;
}

static bool check_output(struct lk_planning *planning, struct lk_side *side)
{
	const struct output *output = &outputs[planning->request.output];
	struct lc_arena *arena = planning->arena;
	int since = side->ltoir == side->count ? output->since_ltoir : output->since;
	const char *have, *need;

	if (side->linker.backend == LAZYCUDA_BACKEND_DRIVER)
		return planning->request.output == LAZYCUDA_OUTPUT_CUBIN ||
		       lk_refuse(planning, LAZYCUDA_CODE_NVJITLINK_REQUIRED, NULL,
				 "the driver's linker", "nvJitLink", "the driver's linker makes images only,"
				 " not %s; install nvJitLink", output->text);
	if (!check_inputs_of_output(planning, side, output))
		return false;
	if (side->linker.version < 0 || side->linker.version >= since)
		return true;
	have = lc_format(arena, "nvJitLink %s", lk_version(arena, side->linker.version));
	need = lk_or_later(arena, side->linker.backend, since);
	return lk_refuse(planning, LAZYCUDA_CODE_NVJITLINK_TOO_OLD, NULL, have, need,
			 "%s does not make %s of these inputs: %s; take %s", have, output->text,
			 output->why, need);
}

/* Whether something of it stays in the result.  LTO-IR, source and LLVM IR do not show it here,
 * and count as if it did. */
static bool stays(const struct lk_taken *taken, enum lazycuda_output output)
{
	const struct lazycuda_entry *entry = taken->choice.entry;

	if (!entry || !(entry->flags & LAZYCUDA_ENTRY_NO_ROOT))
		return true;
	for (size_t i = 0; output == LAZYCUDA_OUTPUT_RELOCATABLE && i < entry->symbol_count; i++)
		if (entry->symbols[i].defined)
			return true;
	return false;
}

/* nvJitLink leaves out of an image what no kernel and no visible variable needs, and reports
 * success for an empty image. */
static bool check_roots(struct lk_planning *planning, struct lk_side *side)
{
	for (size_t i = 0; i < side->count; i++)
		if (stays(&side->taken[i], planning->request.output))
			return true;
	return !side->count ||
	       lk_refuse(planning, LAZYCUDA_CODE_NO_DEVICE_CODE, NULL,
			 "functions alone", "a kernel, or a variable that others see",
			 "no input has a kernel, nor a variable that others see: nvJitLink would"
			 " leave out everything; add the kernel");
}

/* ---- the options ---- */

static bool check_options(struct lk_planning *planning, struct lk_side *side)
{
	const struct lazycuda_request *request = &planning->request;
	struct lc_arena *arena = planning->arena;

	for (size_t i = 0; i < request->option_count; i++) {
		struct lk_option_verdict verdict =
			lk_option_judge(request->options[i], side->linker.backend,
					side->linker.version);
		const char *option, *need = "no such option";

		if (verdict.fate != LK_OPTION_REFUSED)
			continue;
		option = lc_printable(arena, request->options[i]);
		if (side->linker.backend == LAZYCUDA_BACKEND_DRIVER)
			need = "nvJitLink";
		else if (verdict.since > side->linker.version)
			need = lk_or_later(arena, side->linker.backend, verdict.since);
		return lk_refuse(planning, LAZYCUDA_CODE_OPTION_UNSUPPORTED, NULL, option,
				 need, "option %s: %s does not take it: %s; needed: %s", option,
				 lk_linker_text(arena, &side->linker), verdict.why, need);
	}
	return true;
}

/* ---- what ptxas does not compile for debugging, in nvJitLink and in nvrtc ---- */

static bool is_debug(const char *option)
{
	return !strcmp(option, "-g");
}

static bool is_level(const char *option)
{
	return option[0] == '-' && option[1] == 'O' && option[2] >= '1' && option[2] <= '9';
}

/* The option that is it, or that tells ptxas so behind `prefix`; NULL if there is none. */
static const char *find_option(const struct lazycuda_request *request,
			       bool (*is_it)(const char *option), const char *prefix)
{
	for (size_t i = 0; i < request->option_count; i++) {
		const char *option = request->options[i];

		if (is_it(option + (strncmp(option, prefix, strlen(prefix)) ? 0 : strlen(prefix))))
			return option;
	}
	return NULL;
}

/* Whether nvrtc is told to compile for debugging, and has no option to optimise as well. */
static bool compiles_for_debugging(const struct lazycuda_request *request)
{
	bool debug = false;

	for (size_t i = 0; i < request->compile_option_count; i++) {
		const char *option = request->compile_options[i];

		option += strspn(option, "-");
		if (!strncmp(option, "dopt", 4))
			return false;
		debug |= !strcmp(option, "G") || !strcmp(option, "device-debug");
	}
	return debug;
}

/* What has PTX, or source, compiled for debugging; NULL if nothing has. */
static const char *why_debugging(struct lk_planning *planning, const struct lk_item *item,
				 const struct lazycuda_entry *ptx)
{
	const char *option = find_option(&planning->request, is_debug, "-Xptxas=");

	if (option)
		return lc_format(planning->arena, "option %s", lc_printable(planning->arena, option));
	if (ptx && ptx->flags & LAZYCUDA_ENTRY_DEBUG)
		return "its .target, which says debug";
	return !item->inspection && !lk_is_ir(item) && compiles_for_debugging(&planning->request) ?
	       "compile option -G" : NULL;
}

bool lk_check_debugging(struct lk_planning *planning, const struct lk_item *item,
			const struct lazycuda_entry *ptx)
{
	const char *level = find_option(&planning->request, is_level, "-Xptxas=");
	const char *why = why_debugging(planning, item, ptx);

	return !why || !level ||
	       lk_refuse(planning, LAZYCUDA_CODE_BAD_OPTION, item, why, "-O0",
			 "what is compiled for debugging, by %s, is not optimised, by %s; leave one out",
			 why, level);
}

/* What ptxas compiles for debugging is not optimised, has 64-bit addresses, and debug information
 * where it says so.  This holds for nvJitLink 12.0 to 13.5. */
static bool check_one_debugged(struct lk_planning *planning, struct lk_side *side,
			       const struct lk_taken *taken)
{
	const struct lazycuda_entry *ptx = lk_taken_entry(taken);
	const enum lazycuda_kind kind = lk_taken_kind(side, taken);
	const enum lazycuda_output output = planning->request.output;
	const struct lk_item *item = taken->item;
	const char *why;

	if (kind != LAZYCUDA_KIND_PTX && (kind != LAZYCUDA_KIND_LTOIR ||
					  output == LAZYCUDA_OUTPUT_PTX || output == LAZYCUDA_OUTPUT_LTOIR))
		return true;
	if (ptx && ptx->kind != LAZYCUDA_KIND_PTX)
		ptx = NULL;
	if (!lk_check_debugging(planning, item, ptx))
		return false;
	why = why_debugging(planning, item, ptx);
	if (why && ptx && ptx->flags & LAZYCUDA_ENTRY_32_BIT)
		return lk_refuse(planning, LAZYCUDA_CODE_BAD_OPTION, item, why,
				 "PTX with .address_size 64", "nvJitLink compiles PTX with 32-bit addresses,"
				 " but not for debugging, by %s; leave that out, or pass PTX with"
				 " .address_size 64", why);
	if (ptx && ptx->flags & LAZYCUDA_ENTRY_NO_DEBUG_INFO)
		return lk_refuse(planning, LAZYCUDA_CODE_BAD_INPUT, item,
				 "PTX for debugging without debug information", "a .section .debug_info",
				 "its .target says debug and it has no debug information, so that nvJitLink"
				 " does not compile it; take the word out, or make it again with -G");
	return true;
}

/* Refuses what nvJitLink would be given to compile for debugging, and does not compile. */
static bool check_debugging(struct lk_planning *planning, struct lk_side *side)
{
	for (size_t i = 0; i < side->count; i++)
		if (!check_one_debugged(planning, side, &side->taken[i]))
			return false;
	/* Others take both with cubins. */
	if (!find_option(&planning->request, is_debug, "") ||
	    !find_option(&planning->request, is_level, "") ||
	    (side->linker.version > 0 && side->linker.version < LC_CUDA(13, 5)))
		return true;
	return lk_refuse(planning, LAZYCUDA_CODE_BAD_OPTION, NULL, "-g and -O3", "-O0",
			 "nvJitLink 13.5 takes no -O3 with -g, whatever the inputs; leave one out");
}

/* ---- all of it ---- */

void lk_plan_side(struct lk_planning *planning, enum lazycuda_backend backend,
		  struct lk_side *side)
{
	*side = (struct lk_side){
		.linker = lk_linker_of(planning, backend),
		.lto = planning->lto && backend != LAZYCUDA_BACKEND_DRIVER,
	};
	planning->refusal = LK_NO_REFUSAL;
	if (check_device(planning, side) && check_target(planning, side) && take_all(planning, side) &&
	    lk_check_ir_libraries(planning, &side->ir) &&
	    check_ignored(planning, side) && check_output(planning, side) &&
	    check_options(planning, side) && backend != LAZYCUDA_BACKEND_DRIVER &&
	    check_debugging(planning, side))
		check_roots(planning, side);
	side->refusal = planning->refusal;
	planning->refusal = LK_NO_REFUSAL;
}
