/* SPDX-License-Identifier: MIT */
/* sources.c - compiles source, and plans again with the compiled code */
#include <string.h>

#include "handle.h"
#include "../formats/inspection.h"
#include "../plan/planning.h"

/* nvrtc reads source up to the first NUL, so a NUL inside would hide the rest. */
static bool is_text(struct lazycuda_link *link, const struct lazycuda_step *step,
		    const char *source, size_t length)
{
	while (length && !source[length - 1])
		length--;
	if (strlen(source) == length)
		return true;
	return lk_stop(link, LAZYCUDA_CODE_BAD_INPUT, step->input,
		       lc_format(link->arena, "%s: there is a NUL at %#zx in the source",
				 lc_printable(link->arena, step->name), strlen(source)));
}

static bool inspect(struct lazycuda_link *link, const struct lazycuda_step *step,
		    struct lk_compiled *compiled)
{
	compiled->inspection = lk_inspect(link->arena, compiled->bytes, compiled->length,
					  step->name, LAZYCUDA_INSPECT_PAYLOADS,
					  link->request.unpack_limit);
	return compiled->inspection || lk_stop_without_memory(link);
}

static bool compile(struct lazycuda_link *link, const struct lazycuda_step *step,
		    struct lk_compiled *compiled)
{
	struct lk_product product;
	size_t length;
	char *source = lk_read_input(link, step, &length);

	if (!source || !lk_own(link, source) || !is_text(link, step, source, length))
		return false;
	lk_nvrtc_compile(link->arena, link->plan, source, step->name, &product);
	if (!lk_take_product(link, &product, step->input))
		return false;
	if (!lk_own(link, product.image))
		return false;
	compiled->bytes = product.image;
	compiled->length = link->plan->compile_to == LAZYCUDA_KIND_PTX ?
		strnlen(product.image, product.length) : product.length;
	return inspect(link, step, compiled);
}

/* ---- the plan for the compiled code ---- */

static void replace(struct lazycuda_link *link, struct lazycuda_input *input,
		    const struct lk_compiled *compiled)
{
	input->kind = link->plan->compile_to;
	input->bytes = compiled->bytes;
	input->length = compiled->length;
	input->path = NULL;
	input->inspection = compiled->inspection;
	/* Source does not decide on support modules, nor does code compiled from it. */
	input->flags &= ~LAZYCUDA_INPUT_MAIN;
}

/* Returns the inputs, with code in place of source; NULL on allocation failure. */
static const struct lazycuda_input **compiled_inputs(struct lazycuda_link *link)
{
	struct lazycuda_input **inputs = lc_alloc(link->arena, (link->count + 1) *
						  sizeof(*inputs));
	struct lazycuda_input *copies = lc_alloc(link->arena, (link->count + 1) *
						 sizeof(*copies));

	if (!inputs || !copies)
		return NULL;
	for (size_t i = 0; i < link->count; i++) {
		copies[i] = *link->inputs[i];
		inputs[i] = &copies[i];
	}
	for (size_t i = 0; i < link->plan->step_count; i++) {
		const struct lazycuda_step *step = link->plan->steps[i];

		if (!link->compiled[i].bytes)
			continue;
		if (step->input != LAZYCUDA_NO_INDEX)
			replace(link, inputs[step->input], &link->compiled[i]);
		else
			replace(link, (struct lazycuda_input *)lk_input_of(link, step),
				&link->compiled[i]);
	}
	return (const struct lazycuda_input **)inputs;
}

/*
 * The first plan took nvrtc's output on trust.  The second one judges it like any
 * other input: by its real version, and by the symbols that it defines.
 */
static bool judge(struct lazycuda_link *link)
{
	const struct lazycuda_input **inputs = compiled_inputs(link);
	struct lazycuda_plan *plan = NULL;
	enum lazycuda_code code;

	if (inputs)
		plan = lk_plan(link->arena, &link->environment, &link->request,
			       (const struct lazycuda_input *const *)inputs, link->count);
	if (!plan)
		return lk_stop_without_memory(link);
	code = plan->code;
	if (code == LAZYCUDA_CODE_OK && plan->backend != link->plan->backend)
		code = LAZYCUDA_CODE_NVRTC_TOO_NEW;
	if (code != LAZYCUDA_CODE_OK)
		lk_stop(link, code, plan->input,
			lc_format(link->arena, "after compiling: %s", plan->message));
	return code == LAZYCUDA_CODE_OK;
}

bool lk_compile_sources(struct lazycuda_link *link)
{
	const struct lazycuda_plan *plan = link->plan;

	link->compiled = lc_alloc(link->arena, (plan->step_count + 1) * sizeof(*link->compiled));
	if (!link->compiled)
		return lk_stop_without_memory(link);
	if (plan->compile_to == LAZYCUDA_KIND_UNKNOWN)
		return true;
	for (size_t i = 0; i < plan->step_count; i++)
		if (plan->steps[i]->form == LAZYCUDA_FORM_COMPILED &&
		    !compile(link, plan->steps[i], &link->compiled[i]))
			return false;
	return judge(link);
}
