/* SPDX-License-Identifier: MIT */
/* write_plan.c - writes the plan, once the linker is chosen, with notes: worth knowing, but no reason to
 * refuse */
#include "planning.h"
#include "../tables/options.h"
#include "../tables/text.h"
#include "../tables/versions.h"

/* CU_JIT_TARGET, and flags in the values of CUjit_target, as for cuLinkCreate(). */
#define JIT_TARGET 9
#define JIT_TARGET_ACCELERATED 0x10000u
#define JIT_TARGET_FAMILY 0x20000u

/* ---- options ---- */

bool lk_asks_for(const struct lazycuda_request *request, const char *option)
{
	for (size_t i = 0; i < request->option_count; i++)
		if (!strncmp(request->options[i], option, strlen(option)))
			return true;
	return false;
}

/* Judges an option that the linker does not refuse; notes that it is dropped, and returns false, if
 * it is.  With -variables-used= alone every nvJitLink drops the kernels that are not LTO-IR. */
static bool is_kept(struct lk_planning *planning, const struct lk_side *side, const char *option,
		    struct lk_option_verdict *verdict)
{
	static const char used[] = "-variables-used=";

	*verdict = lk_option_judge(option, side->linker.backend, side->linker.version);
	if (verdict->fate == LK_OPTION_TAKEN && side->ltoir != side->count &&
	    !strncmp(option, used, strlen(used)) && !lk_asks_for(&planning->request, "-kernels-used="))
		*verdict = (struct lk_option_verdict){ .fate = LK_OPTION_DROPPED, .why =
			"without -kernels-used= beside it nvJitLink drops every kernel that is not LTO-IR" };
	if (verdict->fate == LK_OPTION_DROPPED)
		lk_note(planning, "option %s is left out: %s", lc_printable(planning->arena, option),
			verdict->why);
	return verdict->fate != LK_OPTION_DROPPED;
}

/* Room for the options of the request and `more` others. */
static const char **option_room(struct lk_planning *planning, size_t more)
{
	return lc_alloc(planning->arena, (planning->request.option_count + more) *
			sizeof(const char *));
}

static void write_nvjitlink_options(struct lk_planning *planning, const struct lk_side *side,
				    const char *arch, struct lazycuda_plan *plan)
{
	const struct lazycuda_request *request = &planning->request;
	const char **options = option_room(planning, 4);
	struct lk_option_verdict verdict;
	size_t count = 0;

	if (!options)
		return;
	plan->lto = side->lto && side->ltoir;
	options[count++] = LK_CONCAT(planning->arena, "-arch=", arch);
	if (plan->lto)
		options[count++] = "-lto";
	if (request->output == LAZYCUDA_OUTPUT_PTX)
		options[count++] = "-ptx";
	/* LTO-IR may leave names to later links, too; where it leaves none, -r changes no byte. */
	if (request->output == LAZYCUDA_OUTPUT_RELOCATABLE ||
	    request->output == LAZYCUDA_OUTPUT_LTOIR)
		options[count++] = "-r";
	for (size_t i = 0; i < request->option_count; i++)
		if (is_kept(planning, side, request->options[i], &verdict))
			options[count++] = request->options[i];
	plan->options = options;
	plan->option_count = count;
}

static void write_tileiras(struct lk_planning *planning, const struct lk_side *side,
			   struct lazycuda_plan *plan)
{
	const char **options = option_room(planning, 1);

	plan->tileiras = side->linker.version;
	plan->rule = NULL;	/* it is in no table */
	if (!options)
		return;
	options[0] = lc_format(planning->arena, "--gpu-name=sm_%d", planning->target.sm);
	plan->options = options;
	plan->option_count = 1;
}

static unsigned jit_target(const struct lk_arch *target)
{
	return (unsigned)target->sm + (target->suffix == 'a' ? JIT_TARGET_ACCELERATED :
				       target->suffix == 'f' ? JIT_TARGET_FAMILY : 0);
}

static void write_driver_options(struct lk_planning *planning, const struct lk_side *side,
				 struct lazycuda_plan *plan)
{
	const struct lazycuda_request *request = &planning->request;
	const struct lk_arch *target = &planning->target;
	const char **words = option_room(planning, 1);
	struct lazycuda_jit_option *options =
		lc_alloc(planning->arena, (request->option_count + 1) * sizeof(*options));
	size_t count = 1;

	if (!words || !options)
		return;
	options[0] = (struct lazycuda_jit_option){ JIT_TARGET, jit_target(target),
						   "CU_JIT_TARGET" };
	words[0] = lc_format(planning->arena, "CU_JIT_TARGET=%d%.1s", target->sm, &target->suffix);
	for (size_t i = 0; i < request->option_count; i++) {
		struct lk_option_verdict verdict;

		if (!is_kept(planning, side, request->options[i], &verdict))
			continue;
		options[count] = (struct lazycuda_jit_option){ verdict.jit_option,
							       verdict.jit_value,
							       verdict.jit_name };
		words[count++] = lc_format(planning->arena, "%s=%u", verdict.jit_name,
					   verdict.jit_value);
	}
	plan->jit_options = options;
	plan->options = words;
	plan->jit_option_count = plan->option_count = count;
}

/* ---- steps ---- */

static const char *source_reason(struct lk_planning *planning,
				 const struct lk_compilation *compilation)
{
	char text[LK_ARCH_TEXT];

	return lc_format(planning->arena, "compiled by nvrtc %s to %s for %s",
			 lk_version(planning->arena, planning->environment.nvrtc),
			 compilation->to == LAZYCUDA_KIND_LTOIR ? "LTO-IR" :
			 compilation->to == LAZYCUDA_KIND_PTX ? "PTX" :
			 compilation->to == LAZYCUDA_KIND_TILEIR ? "Tile IR" : "an image",
			 lk_arch_text(&compilation->arch, text));
}

/* The index of what is taken in its inspection; NO_INDEX for source and files of LLVM IR. */
static size_t index_of(const struct lk_taken *taken)
{
	for (size_t i = 0; i < taken->group.count; i++)
		if (taken->group.entries[i] == taken->choice.entry)
			return taken->group.first + i;
	return LAZYCUDA_NO_INDEX;
}

static void write_step(struct lk_planning *planning, const struct lk_side *side,
		       const struct lk_taken *taken, struct lazycuda_step *step)
{
	const struct lk_item *item = taken->item;

	*step = (struct lazycuda_step){
		.size = sizeof(*step),
		.input = item->input,
		.support = item->support,
		.entry = index_of(taken),
		.form = taken->choice.form,
		.kind = lk_taken_kind(side, taken),
		.name = item->name,
	};
	if (!taken->choice.entry)
		return;
	step->name = lk_member_name(planning->arena, item->name, taken->choice.entry->member);
	if (step->form == LAZYCUDA_FORM_COMPILED)
		return;
	if (step->form == LAZYCUDA_FORM_FATBIN)
		step->kind = LAZYCUDA_KIND_FATBIN;
	step->reason = lk_choice_reason(planning->arena, &side->linker, &taken->group, &taken->choice, side->lto);
}

static void write_steps(struct lk_planning *planning, const struct lk_side *side,
			struct lazycuda_plan *plan)
{
	struct lazycuda_step *steps = lc_alloc(planning->arena, side->count * sizeof(*steps));
	const struct lazycuda_step **list = lc_alloc(planning->arena,
						     side->count * sizeof(*list));
	const char *source = NULL, *ir = NULL;

	if (!steps || !list)
		return;
	if (side->compilation.to != LAZYCUDA_KIND_UNKNOWN)
		source = source_reason(planning, &side->compilation);
	if (side->ir.any)
		ir = lk_ir_reason(planning, &side->ir);
	for (size_t i = 0; i < side->count; i++) {
		write_step(planning, side, &side->taken[i], &steps[i]);
		if (!steps[i].reason)
			steps[i].reason = lk_is_ir_taken(&side->taken[i]) ? ir : source;
		list[i] = &steps[i];
	}
	plan->steps = list;
	plan->step_count = side->count;
}

static void write_compilation(struct lk_planning *planning, const struct lk_side *side,
			      struct lazycuda_plan *plan)
{
	plan->compile_to = side->compilation.to;
	if (plan->compile_to != LAZYCUDA_KIND_UNKNOWN)
		plan->compile_options = lk_compile_options(planning, &side->compilation,
							   &plan->compile_option_count);
	if (!side->ir.any)
		return;
	plan->nvvm = side->ir.version;
	plan->nvvm_to = side->ir.to;
	plan->nvvm_options = lk_ir_options(planning, &side->ir, &plan->nvvm_option_count);
}

/* ---- notes ---- */

/* Adds a note that names the first input that it holds for, and says how many more there are. */
static void note_some(struct lk_planning *planning, const struct lk_item *first, size_t count,
		      const char *what)
{
	if (count > 1)
		lk_note(planning, "%s and %zu more: %s", first->name, count - 1, what);
	else if (count)
		lk_note(planning, "%s: %s", first->name, what);
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
	lk_note(planning, "%s", side->linker.backend == LAZYCUDA_BACKEND_DRIVER ?
		"link-time optimisation is left out: the driver's linker has none" :
		"-lto is left out: nothing that is linked is LTO-IR");
}

static bool is_of_older_major(const struct lk_side *side, const struct lk_taken *taken)
{
	const struct lazycuda_entry *entry = taken->choice.entry;
	int oldest, newest;

	return entry && entry->kind == LAZYCUDA_KIND_LTOIR && side->linker.version > 0 &&
	       lk_entry_toolkits(entry, &oldest, &newest) &&
	       LC_CUDA_MAJOR(newest) < LC_CUDA_MAJOR(side->linker.version);
}

static void note_entries(struct lk_planning *planning, const struct lk_side *side)
{
	const struct lk_item *doubtful = NULL, *older = NULL;
	size_t doubtful_count = 0, older_count = 0, hidden = 0;

	for (size_t i = 0; i < side->count; i++) {
		const struct lk_taken *taken = &side->taken[i];
		const struct lazycuda_entry *entry = taken->choice.entry;

		if (taken->choice.doubt && !doubtful_count++)
			doubtful = taken->item;
		if (is_of_older_major(side, taken) && !older_count++)
			older = taken->item;
		/* Of what LTO-IR defines, too, nvJitLink reports an error or takes the other. */
		hidden += entry && entry->kind != LAZYCUDA_KIND_LTOIR &&
			  entry->flags & LAZYCUDA_ENTRY_UNSEEN;
	}
	note_some(planning, doubtful, doubtful_count, "the linker checks more than is known here,"
		  " and may refuse");
	note_some(planning, older, older_count, "LTO-IR of an older major, which works in every"
		  " case tried and is promised in none");
	if (hidden && side->count - side->ltoir > 1 && side->linker.version == LC_CUDA(13, 0) &&
	    side->linker.backend == LAZYCUDA_BACKEND_NVJITLINK &&
	    !(planning->request.flags & LAZYCUDA_LINK_ISOLATED))
		lk_note(planning, "nvJitLink 13.0 crashes on a symbol that is defined twice after a link"
			" with -lto in this process; code that cannot be unpacked here is not"
			" searched for one");
}

static void note_items(struct lk_planning *planning)
{
	for (size_t i = 0; i < planning->count; i++) {
		const struct lk_item *item = &planning->items[i];

		if (item->what.inspection && item->what.inspection->warning)
			lk_note(planning, "%s: %s", item->name, item->what.inspection->warning);
		if (item->section)
			lk_note(planning, "%s: only what is in %s is taken; the rest was linked from it",
				item->name, item->section);
	}
}

static void note_compilation(struct lk_planning *planning, const struct lk_side *side)
{
	const struct lk_arch *target = &planning->target, *arch = &side->compilation.arch;
	const char *nvrtc = lk_version(planning->arena, planning->environment.nvrtc);

	if (side->compilation.to != LAZYCUDA_KIND_UNKNOWN &&
	    (arch->sm != target->sm || arch->suffix != target->suffix))
		lk_note(planning, "nvrtc %s does not know %s: source is compiled for compute_%d, which is"
			" linked for it", nvrtc, lk_arch(planning->arena, target->sm, target->suffix),
			arch->sm);
	if (side->leaves[LK_LEAVER_CONTAINER])
		lk_note(planning, "PTX or cubins are taken from containers in place of LTO-IR where there"
			" are some, for %s", side->leaves[LK_LEAVER_CONTAINER]);
	if (side->leaves[LK_LEAVER_SOURCE])
		lk_note(planning, "source takes no part in link-time optimisation: nvrtc %s compiles it to PTX,"
			" for %s", nvrtc, side->leaves[LK_LEAVER_SOURCE]);
}

static void write_notes(struct lk_planning *planning, const struct lk_side *side,
			struct lazycuda_plan *plan)
{
	note_items(planning);
	note_compilation(planning, side);
	lk_note_ir(planning, &side->ir);
	note_entries(planning, side);
	note_virtual_arch(planning, side);
	note_lto(planning, side);
	if (side->linker.backend == LAZYCUDA_BACKEND_NVJITLINK && side->linker.version >= LC_CUDA(12, 0) &&
	    side->linker.version <= LC_CUDA(12, 4))
		lk_note(planning, "nvJitLink 12.0 to 12.4 may leak memory at every link; 12.5 does not");
	if (side->linker.backend == LAZYCUDA_BACKEND_DRIVER &&
	    planning->environment.nvjitlink == LAZYCUDA_VERSION_NONE)
		lk_note(planning, "the driver links, since there is no nvJitLink");
	plan->notes = planning->notes.list;
	plan->note_count = planning->notes.count;
}

/* ---- all of it ---- */

void lk_plan_write(struct lk_planning *planning, const struct lk_side *side,
		   const struct lk_rule *rule, struct lazycuda_plan *plan)
{
	char arch[LK_ARCH_TEXT];
	const char *makes = side->ltoir ? " alone makes the LTO-IR for " : " alone makes the image for ";

	lk_arch_text(&side->linker.target, arch);
	plan->backend = side->linker.backend;
	if (plan->backend == LAZYCUDA_BACKEND_NVJITLINK)
		write_nvjitlink_options(planning, side, arch, plan);
	else if (plan->backend == LAZYCUDA_BACKEND_DRIVER)
		write_driver_options(planning, side, plan);
	else if (plan->backend == LAZYCUDA_BACKEND_TILEIRAS)
		write_tileiras(planning, side, plan);
	if (plan->backend == LAZYCUDA_BACKEND_NVJITLINK || plan->backend == LAZYCUDA_BACKEND_DRIVER)
		makes = " links for ";
	write_compilation(planning, side, plan);
	write_steps(planning, side, plan);
	write_notes(planning, side, plan);
	plan->message = LK_CONCAT(planning->arena, lk_linker_text(planning->arena, &side->linker), makes, arch,
				  ": ", plan->backend == LAZYCUDA_BACKEND_TILEIRAS ?
				  "Tile IR is linked with nothing" : rule->reason);
}
