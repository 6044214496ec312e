/* SPDX-License-Identifier: MIT */
/* sources.c - compiles source and LLVM IR, and judges the compiled code */
#include <errno.h>
#include <string.h>

#include "../../stubs/base/glibc.h"
#include "handle.h"
#include "tools.h"
#include "../formats/inspection.h"
#include "../formats/formats.h"
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
		       "%s: there is a NUL at %#zx in the source",
		       lc_printable(link->arena, step->name), strlen(source));
}

/* Notes in the result what the name expressions of an input are called in the code. */
static bool note_lowered_names(struct lazycuda_link *link, const struct lk_piece *source,
			       size_t input, const struct lk_product *product)
{
	struct lazycuda_lowered_name ***all =
		(struct lazycuda_lowered_name ***)&link->result.lowered_names;

	for (size_t i = 0; product->lowered_names && i < source->name_expression_count; i++) {
		struct lazycuda_lowered_name *name = lc_alloc(link->arena, sizeof(*name)), **slot;

		slot = lc_grow(link->arena, all, &link->result.lowered_name_count, sizeof(*slot));
		if (!name || !slot) {
			link->result.lowered_name_count -= slot != NULL;
			return lk_stop_without_memory(link);
		}
		*name = (struct lazycuda_lowered_name){
			.size = sizeof(*name), .input = input,
			.expression = source->name_expressions[i],
			.name = product->lowered_names[i],
		};
		*slot = name;
	}
	return true;
}

/* Takes what a compiler made, which the link owns. */
static bool take_compiled(struct lazycuda_link *link, const struct lazycuda_step *step,
			  enum lazycuda_kind kind, const struct lk_product *product,
			  struct lazycuda_input *compiled)
{
	*compiled = (struct lazycuda_input){ .size = sizeof(*compiled), .name = step->name,
					     .bytes = product->image, .length = product->length };
	if (kind == LAZYCUDA_KIND_PTX) {
		compiled->length = strnlen(product->image, product->length);
		lk_ptx_make_ascii(product->image, compiled->length);	/* comments of inline PTX */
	}
	compiled->inspection = lk_inspect_input(link->arena, compiled, LAZYCUDA_INSPECT_PAYLOADS,
						link->request.unpack_limit);
	compiled->kind = kind;
	return compiled->inspection || lk_stop_without_memory(link);
}

/* What __tile_global__ kernels become is beside the image, and nothing links it. */
static bool leave_tile(struct lazycuda_link *link, const struct lazycuda_step *step,
		       const struct lazycuda_plan *plan, const struct lk_product *product)
{
	const char *name = lc_printable(link->arena, step->name);

	if (!product->tile || plan != link->plan || plan->backend == LAZYCUDA_BACKEND_TILEIRAS)
		return true;
	if (link->request.flags & LAZYCUDA_LINK_IGNORE_TILE)
		return lk_add_note(link, "%s: %zu bytes of Tile IR are left out: the image lacks the"
				   " __tile_global__ kernels", name, product->tile);
	return lk_stop(link, LAZYCUDA_CODE_UNSUPPORTED_KIND, step->input,
		       "%s: its __tile_global__ kernels became %zu bytes of Tile IR, " LK_TILE_ADVICE
		       "; --ignore-tile (LAZYCUDA_LINK_IGNORE_TILE) links the rest of it", name,
		       product->tile);
}

/* Has a compiler do a job, and takes its logs and what it made. */
static bool compile(struct lazycuda_link *link, const struct lazycuda_step *step,
		    const struct lk_job *job, struct lk_product *product)
{
	lk_execute(link, job, product);
	if (job->plan != link->plan)
		product->info_log = NULL;	/* the caller has had it */
	return lk_take_product(link, product, step->input) && lk_own(link, product->image);
}

/* Compiles source as `plan` says: the link's plan, or another one for code that is only looked
 * at. */
static bool compile_step(struct lazycuda_link *link, const struct lazycuda_step *step,
			 const struct lazycuda_plan *plan, struct lazycuda_input *compiled)
{
	const struct lazycuda_input *input = lk_input_of(link, step);
	struct lk_piece piece = {
		.kind = LAZYCUDA_KIND_SOURCE, .name = step->name,
		.name_expressions = input->name_expressions,
		.name_expression_count = input->name_expression_count,
		.include_names = input->include_names, .headers = input->headers,
		.header_count = input->header_count,
	};
	struct lk_product product;
	const char *source = lk_read_step(link, step, &piece.length);

	if (!source || !is_text(link, step, source, piece.length))
		return false;
	piece.bytes = source;
	if (!compile(link, step, &(const struct lk_job){
			.tool = LK_NVRTC, .plan = plan, .pieces = &piece, .count = 1 }, &product) ||
	    !leave_tile(link, step, plan, &product) ||
	    (plan == link->plan && !note_lowered_names(link, &piece, step->input, &product)))
		return false;
	return take_compiled(link, step, plan->compile_to, &product, compiled);
}

/* ---- LLVM IR ---- */

/* Adds the inputs that are libraries; what is in memory is not copied. */
static bool add_libraries(struct lazycuda_link *link, struct lk_piece *pieces, size_t *count)
{
	for (size_t i = 0; i < link->count; i++) {
		const struct lazycuda_input *input = link->inputs[i];
		const struct lazycuda_step whole = {
			.input = i, .entry = LAZYCUDA_NO_INDEX,
			.name = input->inspection ? input->inspection->name : "",
		};
		struct lk_piece piece = { .kind = LAZYCUDA_KIND_BITCODE, .bytes = input->bytes,
					  .length = input->length, .name = whole.name };

		if (!(input->flags & LAZYCUDA_INPUT_LIBRARY))
			continue;
		if (!piece.bytes)
			piece.bytes = lk_read_step(link, &whole, &piece.length);
		if (!piece.bytes)
			return false;
		pieces[(*count)++] = piece;
	}
	return true;
}

/* Adds libdevice to the pieces, if the libnvvm of the plan has one. */
static bool add_libdevice(struct lazycuda_link *link, const struct lazycuda_step *step,
			  struct lk_piece *pieces, size_t *count)
{
	const char *path = lk_libdevice_of(link->plan->nvvm);
	struct lk_piece *piece = &pieces[*count];
	char *bytes;

	if (!path)
		return true;
	bytes = lk_read_file(path, &piece->length);
	if (!bytes && errno == ENOMEM)
		return lk_stop_without_memory(link);
	if (!bytes)
		return lk_stop(link, LAZYCUDA_CODE_BACKEND_MISSING, step->input, "%s cannot be read: %s",
			       lc_printable(link->arena, path), strerror(errno));
	piece->kind = LAZYCUDA_KIND_BITCODE;
	piece->name = "libdevice";
	piece->bytes = bytes;
	++*count;
	return lk_own(link, bytes);
}

/* Fills the pieces behind the first with what all LLVM IR of the link is compiled with, which is
 * read once. */
static bool take_libraries(struct lazycuda_link *link, const struct lazycuda_step *step,
			   struct lk_piece *pieces, size_t *count)
{
	if (!link->libraries) {
		struct lk_piece *libraries = lc_alloc(link->arena, (link->count + 1) *
						      sizeof(*libraries));

		if (!libraries)
			return lk_stop_without_memory(link);
		if (!add_libraries(link, libraries, &link->library_count) ||
		    !add_libdevice(link, step, libraries, &link->library_count))
			return false;
		link->libraries = libraries;
	}
	for (size_t i = 0; i < link->library_count; i++)
		pieces[(*count)++] = link->libraries[i];
	return true;
}

/* Compiles LLVM IR as `plan` says, like compile_step(). */
static bool compile_ir(struct lazycuda_link *link, const struct lazycuda_step *step,
		       const struct lazycuda_plan *plan, struct lazycuda_input *compiled)
{
	struct lk_piece *pieces = lc_alloc(link->arena, (link->count + 2) * sizeof(*pieces));
	struct lk_product product;
	size_t count = 1;

	if (!pieces)
		return lk_stop_without_memory(link);
	pieces[0].kind = LAZYCUDA_KIND_LLVMIR;
	pieces[0].name = step->name;
	pieces[0].bytes = lk_read_step(link, step, &pieces[0].length);
	if (!pieces[0].bytes || !take_libraries(link, step, pieces, &count))
		return false;
	return compile(link, step, &(const struct lk_job){
			.tool = LK_NVVM, .plan = plan, .pieces = pieces, .count = count }, &product) &&
	       take_compiled(link, step, plan->nvvm_to, &product, compiled);
}

/* ---- the plan for the compiled code ---- */

static void replace(struct lazycuda_input *input, const struct lazycuda_input *compiled)
{
	input->kind = compiled->kind;
	input->bytes = compiled->bytes;
	input->length = compiled->length;
	input->path = NULL;
	input->name_expression_count = input->header_count = 0;
	input->inspection = compiled->inspection;
	/* What it needs of support modules is seen by now. */
	input->flags &= ~LAZYCUDA_INPUT_MAIN;
}

/* Replaces the inspection of an input by a copy in which entry `index` may be changed: a copy of
 * it, which is returned; NULL on allocation failure. */
static struct lazycuda_entry *own_entry(struct lazycuda_link *link, struct lazycuda_input *input,
					size_t index)
{
	const struct lazycuda_inspection *from = input->inspection;
	struct lk_inspection *inspection = lc_alloc(link->arena, sizeof(*inspection));
	const struct lazycuda_entry **entries = lc_alloc(link->arena, from->entry_count *
							 sizeof(*entries));
	struct lazycuda_entry *entry = lc_alloc(link->arena, sizeof(*entry));

	if (!inspection || !entries || !entry)
		return NULL;
	memcpy(entries, from->entries, from->entry_count * sizeof(*entries));
	*entry = *entries[index];
	entries[index] = entry;
	/* With all that is behind it: the other entries are still read from there. */
	*inspection = *(const struct lk_inspection *)from;
	inspection->public.entries = entries;
	input->inspection = &inspection->public;
	return entry;
}

/* Replaces one entry of an input by what was compiled.  It stays an alternative of its group, of which
 * it now is the best. */
static bool replace_entry(struct lazycuda_link *link, struct lazycuda_input *input, size_t index,
			  const struct lazycuda_input *compiled)
{
	const struct lazycuda_entry *before = input->inspection->entries[index];
	struct lazycuda_entry *entry = own_entry(link, input, index);

	if (!entry)
		return false;
	if (compiled->inspection->entry_count == 1)
		*entry = *compiled->inspection->entries[0];
	else
		entry->error = compiled->inspection->error ? compiled->inspection->error :
			       "was compiled to nothing that is known";
	entry->member = before->member;
	entry->section = before->section;
	entry->fatbin = before->fatbin;
	input->flags &= ~LAZYCUDA_INPUT_MAIN;
	return true;
}

/* Returns the inputs, with code in place of source and LLVM IR; NULL on allocation failure. */
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
		if (copies[i].flags & LAZYCUDA_INPUT_LIBRARY)
			copies[i].flags |= LK_INPUT_COMPILED_IN;
		inputs[i] = &copies[i];
	}
	for (size_t i = 0; i < link->plan->step_count; i++) {
		const struct lazycuda_step *step = link->plan->steps[i];
		struct lazycuda_input *input;

		if (!link->compiled[i].bytes)
			continue;
		input = step->input != LAZYCUDA_NO_INDEX ? inputs[step->input] :
			(struct lazycuda_input *)lk_input_of(link, step);
		if (step->entry == LAZYCUDA_NO_INDEX)
			replace(input, &link->compiled[i]);
		else if (!replace_entry(link, input, step->entry, &link->compiled[i]))
			return NULL;
	}
	return (const struct lazycuda_input **)inputs;
}

/*
 * The first plan took the compilers' output on trust.  The second one judges it like any
 * other input: by its real version, and by the symbols that it defines.  It may take LTO-IR of a
 * container that the first one did not, since it sees that nothing calls it; then no name of the
 * container's other code meets a name of the rest.
 */
static bool plan_again(struct lazycuda_link *link)
{
	const struct lazycuda_input **inputs = compiled_inputs(link);
	struct lazycuda_environment same = link->environment;
	struct lazycuda_request request = link->request;
	struct lazycuda_plan *plan = NULL;
	enum lazycuda_code code;

	same.nvjitlink = link->plan->nvjitlink;
	same.nvrtc = link->plan->nvrtc;
	request.others = NULL;
	if (inputs)
		plan = lk_plan(link->arena, &same, &request,
			       (const struct lazycuda_input *const *)inputs, link->count);
	if (!plan)
		return lk_stop_without_memory(link);
	code = plan->code;
	if (code == LAZYCUDA_CODE_OK && plan->backend != link->plan->backend)
		code = link->plan->compile_to != LAZYCUDA_KIND_UNKNOWN ?
			LAZYCUDA_CODE_NVRTC_TOO_NEW : LAZYCUDA_CODE_NVVM_TOO_NEW;
	link->result.symbol_errors = plan->symbol_errors;
	link->result.symbol_error_count = plan->symbol_error_count;
	if (code != LAZYCUDA_CODE_OK)
		lk_stop(link, code, plan->input, "after compiling: %s", plan->message);
	return code == LAZYCUDA_CODE_OK;
}

/* ---- the compiler ---- */

static bool is_same_compilation(const struct lazycuda_plan *plan, const struct lazycuda_plan *other)
{
	bool same = plan->compile_to == other->compile_to && plan->nvrtc == other->nvrtc &&
		    plan->nvvm == other->nvvm && plan->nvvm_to == other->nvvm_to &&
		    plan->compile_option_count == other->compile_option_count;

	for (size_t i = 0; same && i < plan->compile_option_count; i++)
		same = !strcmp(plan->compile_options[i], other->compile_options[i]);
	return same;
}

/* What an earlier plan, which compiled in the same way, made of the input of a step. */
static const struct lazycuda_input *compiled_before(const struct lazycuda_plan *plan,
						 const struct lazycuda_input *compiled,
						 const struct lazycuda_step *step)
{
	for (size_t i = 0; plan && i < plan->step_count; i++)
		if (plan->steps[i]->input == step->input &&
		    plan->steps[i]->support == step->support &&
		    plan->steps[i]->entry == step->entry && compiled[i].bytes)
			return &compiled[i];
	return NULL;
}

/* Forgets what compilers said of code that is not linked. */
static void forget_compiled(struct lazycuda_link *link)
{
	link->result.info_log = "";
	link->result.lowered_names = NULL;
	link->result.lowered_name_count = 0;
}

static bool is_ir_step(const struct lazycuda_link *link, const struct lazycuda_step *step)
{
	return step->entry != LAZYCUDA_NO_INDEX ||
	       lk_is_llvm_ir(lk_input_of(link, step)->inspection);
}

/* Compiles what the plan says, except for what the plan `before` compiled in the same way. */
static bool compile_all(struct lazycuda_link *link, const struct lazycuda_plan *before)
{
	const struct lazycuda_plan *plan = link->plan;
	const struct lazycuda_input *compiled = link->compiled;

	if (before && !is_same_compilation(plan, before)) {
		before = NULL;
		forget_compiled(link);
	}
	link->compiled = lc_alloc(link->arena, (plan->step_count + 1) * sizeof(*link->compiled));
	if (!link->compiled)
		return lk_stop_without_memory(link);
	for (size_t i = 0; i < plan->step_count; i++) {
		const struct lazycuda_step *step = plan->steps[i];
		const struct lazycuda_input *known = compiled_before(before, compiled, step);

		if (known)
			link->compiled[i] = *known;
		else if (step->form == LAZYCUDA_FORM_COMPILED &&
			 !(is_ir_step(link, step) ?
			   compile_ir(link, step, plan, &link->compiled[i]) :
			   compile_step(link, step, plan, &link->compiled[i])))
			return false;
	}
	return true;
}

/* ---- support modules ---- */

/* Compiles source or LLVM IR to PTX, for its names alone: LTO-IR shows none. */
static bool compile_for_names(struct lazycuda_link *link, const struct lazycuda_step *step,
			      struct lazycuda_input *compiled)
{
	struct lazycuda_plan plan = *link->plan;

	if (!lk_compile_to_ptx(link->arena, &plan))
		return lk_stop_without_memory(link);
	return is_ir_step(link, step) ? compile_ir(link, step, &plan, compiled) :
					compile_step(link, step, &plan, compiled);
}

/* Whether PTX or a cubin defines a function or a variable that source may define, too. */
static bool is_definition_outside(const struct lazycuda_link *link)
{
	for (size_t i = 0; i < link->plan->step_count; i++) {
		const struct lazycuda_entry *entry = lk_entry_of(link, i);

		for (size_t k = 0; entry && entry->kind != LAZYCUDA_KIND_LTOIR &&
				   k < entry->symbol_count; k++)
			if (entry->symbols[k].defined && !entry->symbols[k].weak &&
			    !entry->symbols[k].kernel)
				return true;
	}
	return false;
}

/* Gives LTO-IR of source the names that its PTX shows, by which plan_again() finds what is defined twice:
 * of a function that PTX defines, too, nvJitLink says nothing, and each part calls its own. */
static bool name_ltoir(struct lazycuda_link *link)
{
	if (!link->plan->lto || !is_definition_outside(link))
		return true;
	for (size_t i = 0; i < link->plan->step_count; i++) {
		struct lazycuda_input *compiled = &link->compiled[i], named = { .bytes = NULL };
		struct lazycuda_input holder = { .inspection = compiled->inspection };
		struct lazycuda_entry *entry;

		if (compiled->kind != LAZYCUDA_KIND_LTOIR || is_ir_step(link, link->plan->steps[i]) ||
		    compiled->inspection->entry_count != 1)
			continue;
		if (!compile_for_names(link, link->plan->steps[i], &named))
			return false;
		if (named.inspection->entry_count != 1)
			continue;
		entry = own_entry(link, &holder, 0);
		if (!entry)
			return lk_stop_without_memory(link);
		entry->symbols = named.inspection->entries[0]->symbols;
		entry->symbol_count = named.inspection->entries[0]->symbol_count;
		compiled->inspection = holder.inspection;
	}
	return true;
}

static uint64_t linked_modules(const struct lazycuda_plan *plan)
{
	uint64_t modules = 0;

	for (size_t i = 0; i < plan->step_count; i++)
		if (plan->steps[i]->input == LAZYCUDA_NO_INDEX)
			modules |= UINT64_C(1) << plan->steps[i]->support;
	return modules;
}

/* If step `i` is source of the program itself, adds to its needs the modules whose functions the
 * code declares, and sets `more` if the plan lacks one of them. */
static bool need_declared(struct lazycuda_link *link, size_t i, bool *more)
{
	const struct lazycuda_step *step = link->plan->steps[i];
	struct lazycuda_input compiled = link->compiled[i];
	struct lazycuda_input *input;
	uint64_t modules;

	if (!compiled.bytes || step->input == LAZYCUDA_NO_INDEX ||
	    !(link->inputs[step->input]->flags & LAZYCUDA_INPUT_MAIN))
		return true;
	if (compiled.kind != LAZYCUDA_KIND_PTX &&
	    !compile_for_names(link, step, &compiled))
		return false;
	if (!compiled.inspection->entry_count)
		return true;
	input = link->inputs[step->input];
	modules = lk_support_declared(link->arena, &link->request, compiled.inspection->entries[0]);
	input->needs |= modules;
	*more |= (modules & ~linked_modules(link->plan)) != 0;
	return true;
}

static bool find_needs(struct lazycuda_link *link, bool *more)
{
	if (!lk_has_support_functions(&link->request))
		return true;
	for (size_t i = 0; i < link->plan->step_count; i++)
		if (!need_declared(link, i, more))
			return false;
	return true;
}

bool lk_compile_sources(struct lazycuda_link *link, const struct lazycuda_plan *before, bool *again)
{
	const char *note = lk_other_headers(link->arena, link->plan);

	*again = false;
	if (!compile_all(link, before) || (note && !lk_add_note(link, "%s", note)))
		return false;
	if ((link->plan->compile_to == LAZYCUDA_KIND_UNKNOWN && !link->plan->nvvm) ||
	    link->plan->backend == LAZYCUDA_BACKEND_NVRTC ||
	    link->plan->backend == LAZYCUDA_BACKEND_TILEIRAS)
		return true;
	if (!before && !find_needs(link, again))
		return false;
	return *again || (name_ltoir(link) && plan_again(link));
}
