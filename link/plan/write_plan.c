/* SPDX-License-Identifier: MIT */
/* write_plan.c - writes the plan, once the linker is chosen */
#include "../tables/options.h"
#include "planning.h"
#include "../tables/text.h"

/* CU_JIT_TARGET, and flags in the values of CUjit_target, as for cuLinkCreate(). */
#define JIT_TARGET 9
#define JIT_TARGET_ACCELERATED 0x10000u
#define JIT_TARGET_FAMILY 0x20000u

/* ---- options ---- */

static void note_dropped(struct lk_planning *planning, const char *option,
			 const struct lk_option_verdict *verdict)
{
	lk_note(planning, LK_CONCAT(planning->arena, "option ",
				    lc_printable(planning->arena, option), " is left out: ",
				    verdict->why));
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
	for (size_t i = 0; i < request->option_count; i++) {
		struct lk_option_verdict verdict =
			lk_option_judge(request->options[i], side->linker.backend,
					side->linker.version);

		if (verdict.fate == LK_OPTION_DROPPED)
			note_dropped(planning, request->options[i], &verdict);
		else
			options[count++] = request->options[i];
	}
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
	words[0] = lc_format(planning->arena, "CU_JIT_TARGET=%d%.1s", target->sm,
			     &target->suffix);
	for (size_t i = 0; i < request->option_count; i++) {
		struct lk_option_verdict verdict =
			lk_option_judge(request->options[i], side->linker.backend,
					side->linker.version);

		if (verdict.fate == LK_OPTION_DROPPED) {
			note_dropped(planning, request->options[i], &verdict);
			continue;
		}
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

static const char *step_name(struct lk_planning *planning, const struct lk_item *item,
			     const struct lazycuda_entry *entry)
{
	return entry->member ? lk_member_name(planning->arena, item->name, entry->member) :
			       item->name;
}

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

static void write_step(struct lk_planning *planning, const struct lk_side *side,
		       const struct lk_taken *taken, struct lazycuda_step *step)
{
	const struct lk_item *item = taken->item;
	const struct lazycuda_entry *entry;

	*step = (struct lazycuda_step){
		.size = sizeof(*step),
		.input = item->input,
		.support = item->support,
		.entry = taken->choice.entry,
		.form = taken->choice.form,
		.kind = lk_taken_kind(side, taken),
		.name = item->name,
	};
	if (taken->choice.entry == LAZYCUDA_NO_INDEX)
		return;
	entry = item->inspection->entries[taken->choice.entry];
	step->name = step_name(planning, item, entry);
	if (step->form == LAZYCUDA_FORM_COMPILED)
		return;
	if (step->form == LAZYCUDA_FORM_FATBIN)
		step->kind = LAZYCUDA_KIND_FATBIN;
	step->reason = lk_choice_reason(planning->arena, &side->linker, item->inspection,
					&taken->group, &taken->choice, side->lto);
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

void lk_plan_write(struct lk_planning *planning, const struct lk_side *side,
		   const struct lk_rule *rule, struct lazycuda_plan *plan)
{
	char linker[LK_LINKER_TEXT], arch[LK_ARCH_TEXT];

	lk_arch_text(&side->linker.target, arch);
	plan->backend = side->linker.backend;
	if (plan->backend == LAZYCUDA_BACKEND_NVJITLINK)
		write_nvjitlink_options(planning, side, arch, plan);
	else if (plan->backend == LAZYCUDA_BACKEND_DRIVER)
		write_driver_options(planning, side, plan);
	else if (plan->backend == LAZYCUDA_BACKEND_TILEIRAS)
		write_tileiras(planning, side, plan);
	write_compilation(planning, side, plan);
	write_steps(planning, side, plan);
	lk_plan_notes(planning, side, plan);
	plan->message = LK_CONCAT(planning->arena, lk_linker_text(&side->linker, linker),
				  plan->backend == LAZYCUDA_BACKEND_NVJITLINK ||
				  plan->backend == LAZYCUDA_BACKEND_DRIVER ? " links for " :
				  " alone makes the image for ", arch, ": ",
				  plan->backend == LAZYCUDA_BACKEND_TILEIRAS ?
				  "Tile IR is linked with nothing" : rule->reason);
}
