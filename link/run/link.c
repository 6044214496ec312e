/* SPDX-License-Identifier: MIT */
/* link.c - a link: runs the steps in order; the public functions */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../stubs/base/count.h"
#include "../../stubs/base/printable.h"
#include "../tables/arch.h"
#include "../tables/toolkit.h"
#include "../formats/formats.h"
#include "../formats/symbols.h"
#include "environment.h"
#include "handle.h"
#include "backends.h"
#include "tools.h"
#include "../formats/inspection.h"
#include "../plan/planning.h"

/* The component that has the functions of device code's runtime. */
#define DEVICE_RUNTIME "cudadevrt"

/* ---- the link ---- */

/* Whether libcudadevrt.a defines it: what device code launches kernels with. */
static bool is_of_device_runtime(const char *name)
{
	return !strncmp(name, "__cudaCDP2", 10) || !strncmp(name, "cuda", 4);
}

/* The libcudadevrt.a that goes with nvJitLink; NULL if there is none. */
static const char *device_runtime(struct lazycuda_link *link)
{
	const int version = link->plan->nvjitlink;
	const char *file = lk_nvjitlink_of(version)->path;

	if (!file)
		file = lk_loaded_file(LK_NVJITLINK);
	return file ? lk_fitting_component(link->arena, file, version, DEVICE_RUNTIME) : NULL;
}

/* Adds it to the support modules, if there is one and a name that the link missed is one of its. */
static bool add_device_runtime(struct lazycuda_link *link)
{
	const struct lazycuda_result *result = &link->result;
	const char *path = NULL;

	for (size_t i = 0; !path && i < result->symbol_error_count; i++)
		if (is_of_device_runtime(result->symbol_errors[i]->name))
			path = device_runtime(link);
	if (!path || link->device_runtime ||
	    !lk_add_support(link, &(const struct lazycuda_input){
			.size = sizeof(struct lazycuda_input), .kind = LAZYCUDA_KIND_ARCHIVE,
			.name = path, .path = path }))
		return false;
	link->device_runtime = path;
	return true;
}

static const char *where_is(struct lazycuda_link *link, const char *name)
{
	const char *package = lk_component_package(DEVICE_RUNTIME, link->plan->nvjitlink);
	const char *found = device_runtime(link);

	if (!is_of_device_runtime(name) || link->device_runtime)
		return "";
	return lc_format(link->arena, "; %s is in libcudadevrt.a, which dynamic parallelism needs: link"
			 " %s as well", lc_printable(link->arena, name), found ?
			 lc_printable(link->arena, found) :
			 package ? lc_format(link->arena, "that of the package %s", package) :
			 "that of the CUDA toolkit");
}

static const char *why_module_lacks(const struct lazycuda_link *link,
				    const struct lazycuda_support *support, size_t index)
{
	for (size_t i = 0; i < link->plan->step_count; i++)
		if (link->plan->steps[i]->support == index)
			return "is linked and lists it, and does not define it";
	return !support->enabled || link->request.flags & LAZYCUDA_LINK_NO_SUPPORT ?
	       "defines it, and is not enabled" :
	       "defines it: have the input that calls it need the module, or make it a main one";
}

/* Says which support module lists the name; "" if none does. */
static const char *support_with(struct lazycuda_link *link, const char *name)
{
	for (size_t i = 0; i < link->support_count; i++) {
		const struct lazycuda_support *support = link->support[i];

		for (size_t k = 0; k < support->function_count; k++)
			if (!strcmp(support->functions[k], name))
				return lc_format(link->arena, "; the support module %s %s", support->name ?
						 lc_printable(link->arena, support->name) : "",
						 why_module_lacks(link, support, i));
	}
	return "";
}

/* Other code that calls what LTO-IR defines; "" if that cannot be. */
static const char *what_lto_drops(struct lazycuda_link *link)
{
	bool ltoir = false, other = false;

	for (size_t i = 0; i < link->plan->step_count; i++)
		*(link->plan->steps[i]->kind == LAZYCUDA_KIND_LTOIR ? &ltoir : &other) = true;
	return ltoir && other ? "; if an input of LTO-IR defines it, give that input as PTX,"
				" or the caller as LTO-IR: of LTO-IR with a kernel nvJitLink"
				" keeps only what LTO-IR calls" : "";
}

/* ---- the names that a failed link missed ---- */

static void collect_defined(const struct lazycuda_link *link, struct lk_symbols *defined)
{
	for (size_t i = 0; i < link->plan->step_count; i++) {
		const struct lazycuda_entry *entry = lk_entry_of(link, i);

		for (size_t k = 0; k < entry->symbol_count; k++)
			if (entry->symbols[k].defined)
				lk_names_add(defined, entry->symbols[k].name);
	}
}

/* LTO-IR shows no names, nor does code that was not unpacked. */
static bool shows_names(const struct lazycuda_entry *entry)
{
	return entry && (entry->kind == LAZYCUDA_KIND_PTX || entry->kind == LAZYCUDA_KIND_CUBIN) &&
	       !(entry->flags & LAZYCUDA_ENTRY_UNSEEN);
}

/* ---- the list ---- */

struct missing_names {
	struct lk_symbol_errors errors;
	struct lk_symbols names;	/* those in it */
};

static void add(struct lazycuda_link *link, struct missing_names *list, const char *name,
		size_t length, size_t input)
{
	const char *copy = lc_copy(link->arena, name, length);

	if (!copy || !length || lk_names_find(&list->names, copy))
		return;
	lk_names_add(&list->names, copy);
	lk_add_symbol_error(link->arena, &list->errors, &(const struct lazycuda_symbol_error){
				.name = copy, .input = input, .other = LAZYCUDA_NO_INDEX });
}

static void add_of_inputs(struct lazycuda_link *link, struct missing_names *list)
{
	struct lk_symbols defined = { .arena = link->arena };

	collect_defined(link, &defined);
	for (size_t i = 0; i < link->plan->step_count; i++) {
		const struct lazycuda_entry *entry = lk_entry_of(link, i);

		for (size_t k = 0; k < entry->symbol_count; k++) {
			const struct lazycuda_symbol *symbol = &entry->symbols[k];

			if (!symbol->defined && !symbol->weak &&
			    !lk_symbol_is_provided(symbol->name) &&
			    !lk_names_find(&defined, symbol->name))
				add(link, list, symbol->name, strlen(symbol->name),
				    link->plan->steps[i]->input);
		}
	}
}

/* The input of this name in a log; NO_INDEX if there is none, or several. */
static size_t input_called(const struct lazycuda_link *link, const char *name, size_t length)
{
	size_t found = LAZYCUDA_NO_INDEX;

	for (size_t i = 0; i < link->plan->step_count; i++) {
		const struct lazycuda_step *step = link->plan->steps[i];

		if (strlen(step->name) != length || memcmp(step->name, name, length))
			continue;
		if (found != LAZYCUDA_NO_INDEX && found != step->input)
			return LAZYCUDA_NO_INDEX;
		found = step->input;
	}
	return found;
}

/* Reads the linkers' messages: a quoted name follows the phrase, and the input follows some. */
static void add_of_log(struct lazycuda_link *link, const char *log, struct missing_names *list)
{
	static const char *const phrases[] = {
		"Undefined reference to '", "Unresolved extern function '",
		"Unresolved extern variable '",
	};

	for (size_t i = 0; i < LC_COUNT(phrases); i++)
		for (const char *at = log; (at = strstr(at, phrases[i]));) {
			size_t length = strcspn(at += strlen(phrases[i]), "'\n"), input;
			const char *name = at;

			at += length;
			input = strncmp(at, "' in '", 6) ? LAZYCUDA_NO_INDEX :
				input_called(link, at + 6, strcspn(at + 6, "'\n"));
			add(link, list, name, length, input);
		}
}

/* Lists in the result the names that some input needs and none defines; if not all inputs show
 * their names, those in a log, which may be NULL.  Returns the first; NULL if none is known. */
static const char *list_undefined(struct lazycuda_link *link, const char *log)
{
	struct missing_names list = { .names = { .arena = link->arena } };
	bool shown = true;

	for (size_t i = 0; i < link->plan->step_count; i++)
		shown &= shows_names(lk_entry_of(link, i));
	if (shown)
		add_of_inputs(link, &list);
	else if (log)
		add_of_log(link, log, &list);
	link->result.symbol_errors = (const struct lazycuda_symbol_error *const *)list.errors.list;
	link->result.symbol_error_count = list.errors.count;
	return list.errors.count ? list.errors.list[0]->name : NULL;
}

/* The first name that the linker missed, all of which the result lists; NULL if it failed for
 * something else.  Older linkers do not report which symbols are undefined. */
static const char *find_undefined(struct lazycuda_link *link, const struct lk_product *product)
{
	bool told = product->code == LAZYCUDA_CODE_UNDEFINED_SYMBOL;

	if ((!told && product->code != LAZYCUDA_CODE_LINK_FAILED) ||
	    product->piece != LAZYCUDA_NO_INDEX || !product->call ||
	    !strstr(product->call, "Complete"))
		return NULL;
	return list_undefined(link, told ? product->error_log : NULL);
}

static void name_undefined(struct lazycuda_link *link, const struct lk_product *product,
			   const char *name)
{
	const char *message = product->code == LAZYCUDA_CODE_UNDEFINED_SYMBOL ? product->message :
		lc_format(link->arena, "%s (nothing defines %s)", product->message,
			  lc_printable(link->arena, name));

	lk_stop(link, LAZYCUDA_CODE_UNDEFINED_SYMBOL, LAZYCUDA_NO_INDEX, "%s%s%s%s", message,
		where_is(link, name), support_with(link, name), what_lto_drops(link));
}

/* Names the input that defines what another of LTO-IR does, by nvJitLink's log. */
static void name_duplicate(struct lazycuda_link *link, const struct lk_product *product)
{
	static const char phrase[] = ": link error: error: Linking globals named '";
	const char *log = product->error_log, *at = log ? strstr(log, phrase) : NULL, *name = at;
	const struct lazycuda_step *second = NULL, *first = NULL;
	struct lk_symbol_errors errors = { NULL, 0 };
	bool same = false;
	size_t others = 0, length;

	while (name > log && name[-1] != '\n')
		name--;
	length = (size_t)(at - name);
	for (size_t i = 0; at && i < link->plan->step_count; i++)
		if (strlen(link->plan->steps[i]->name) == length &&
		    !memcmp(link->plan->steps[i]->name, name, length))
			second = link->plan->steps[i];
	for (size_t i = 0; second && !same && i < link->plan->step_count; i++) {
		const struct lazycuda_step *step = link->plan->steps[i];

		if (step == second || step->kind != LAZYCUDA_KIND_LTOIR)
			continue;
		same = lk_is_given_twice(lk_input_of(link, step), lk_input_of(link, second));
		first = step;
		others++;
	}
	if (!same && others != 1)
		return;
	at += strlen(phrase);
	lk_add_symbol_error(link->arena, &errors, &(const struct lazycuda_symbol_error){
				.name = lc_copy(link->arena, at, strcspn(at, "'\n")), .twice = 1,
				.input = first->input, .other = second->input });
	link->result.symbol_errors = (const struct lazycuda_symbol_error *const *)errors.list;
	link->result.symbol_error_count = errors.count;
	lk_stop(link, LAZYCUDA_CODE_DUPLICATE_SYMBOL, second->input, same ?
		"%s; it is the same as %s, and is given twice: leave one out" :
		"%s; %s defines it, too: leave one out", product->message, first->name);
}

/* Returns true if the driver could not be started, which an isolated link learns only now. */
static bool lacks_device(struct lazycuda_link *link, const struct lk_product *product)
{
	if (!link->is_here || link->environment.no_device || product->code != LAZYCUDA_CODE_DRIVER_FAILED ||
	    !product->call || strcmp(product->call, "cuInit"))
		return false;
	link->environment.no_device = 1;
	return lk_add_note(link, "%s", product->message);
}

/* Sets `again` if the link lacks nothing but libcudadevrt.a, which it has now, or if the driver lacks a
 * device. */
static bool link_pieces(struct lazycuda_link *link, const struct lk_piece *pieces, bool *again)
{
	const struct lazycuda_plan *plan = link->plan;
	const struct lk_job job = {
		.tool = plan->backend == LAZYCUDA_BACKEND_DRIVER ? LK_DRIVER :
			plan->backend == LAZYCUDA_BACKEND_TILEIRAS ? LK_TILEIRAS : LK_NVJITLINK,
		.plan = plan, .output = link->request.output, .device = link->request.device,
		.pieces = pieces, .count = plan->step_count,
	};
	struct lk_product product;
	const char *undefined;

	lk_execute(link, &job, &product);
	link->image = product.image;
	link->result.image_length = product.length;
	undefined = find_undefined(link, &product);
	*again = (undefined && add_device_runtime(link)) || lacks_device(link, &product);
	if (*again || lk_take_product(link, &product, product.piece == LAZYCUDA_NO_INDEX ?
				      LAZYCUDA_NO_INDEX : plan->steps[product.piece]->input))
		return true;
	if (undefined)
		name_undefined(link, &product, undefined);
	if (product.code == LAZYCUDA_CODE_DUPLICATE_SYMBOL)
		name_duplicate(link, &product);
	return false;
}

static bool note_device_runtime(struct lazycuda_link *link)
{
	return !link->device_runtime ||
	       lk_add_note(link, "%s is linked as well, since something calls its functions",
			   lc_printable(link->arena, link->device_runtime));
}

/* Linkers may report success and hand out an empty or broken image. */
static bool check_image(struct lazycuda_link *link)
{
	static const char *const makers[] = {
		[LAZYCUDA_BACKEND_NVJITLINK] = "nvJitLink",
		[LAZYCUDA_BACKEND_DRIVER] = "the driver's linker",
		[LAZYCUDA_BACKEND_NVRTC] = "nvrtc",
		[LAZYCUDA_BACKEND_TILEIRAS] = "tileiras",
	};
	const struct lazycuda_request *request = &link->request;
	struct lk_arch arch = { .sm = 0 };
	const char *wrong;

	if (request->output == LAZYCUDA_OUTPUT_PTX)
		link->result.image_length = strnlen(link->image, link->result.image_length);
	lk_arch_parse(link->plan->arch, &arch);
	/* From sm_90 on its images are for that GPU alone. */
	if (link->plan->backend == LAZYCUDA_BACKEND_TILEIRAS && arch.sm >= 90)
		arch.suffix = 'a';
	wrong = lk_image_check(link->image, link->result.image_length, request->output, arch.sm,
			       arch.suffix, request->symbols, request->symbol_count, link->arena);
	return !wrong || lk_stop(link, LAZYCUDA_CODE_BAD_IMAGE, LAZYCUDA_NO_INDEX,
				 "%s reported success, but the image %s%s", makers[link->plan->backend],
				 wrong, lk_asks_for(&link->request, "-kernels-used=") ?
				 "; -kernels-used= keeps only the kernels that it names" : "");
}

/* Leaves out the lowered names that the image does not have: of kernels that became Tile IR, and of
 * what the linker found that nothing uses. */
static bool check_names(struct lazycuda_link *link)
{
	struct lazycuda_result *result = &link->result;
	const size_t count = result->lowered_name_count;
	const struct lazycuda_lowered_name **left = lc_alloc(link->arena, (count + 1) * sizeof(*left));
	const char **names = lc_alloc(link->arena, (count + 1) * sizeof(*names));
	bool *found = lc_alloc(link->arena, (count + 1) * sizeof(*found));

	if (!left || !names || !found)
		return lk_stop_without_memory(link);
	for (size_t i = 0; i < count; i++)
		names[i] = result->lowered_names[i]->name;
	lk_image_find(link->image, result->image_length, link->request.output, names, count, found,
		      link->arena);
	result->lowered_name_count = 0;
	for (size_t i = 0; i < count; i++) {
		const struct lazycuda_lowered_name *name = result->lowered_names[i];

		if (found[i])
			left[result->lowered_name_count++] = name;
		else if (!lk_add_note(link, "the image does not define %s, which the name expression %s"
				      " became", lc_printable(link->arena, name->name),
				      lc_printable(link->arena, name->expression)))
			return false;
	}
	result->lowered_names = left;
	return true;
}

/* Records the inputs whose callbacks are to be called, each once. */
static bool note_linked(struct lazycuda_link *link)
{
	size_t all = link->count + link->support_count;
	bool *seen = lc_alloc(link->arena, all * sizeof(*seen));

	link->linked = lc_alloc(link->arena, all * sizeof(*link->linked));
	if (!seen || !link->linked)
		return lk_stop_without_memory(link);
	for (size_t i = 0; i < link->plan->step_count; i++) {
		const struct lazycuda_step *step = link->plan->steps[i];
		size_t index = step->input != LAZYCUDA_NO_INDEX ? step->input :
			link->count + step->support;

		if (seen[index])
			continue;
		seen[index] = true;
		link->linked[link->linked_count++] = lk_input_of(link, step);
	}
	return true;
}

/* What nvrtc made is the image. */
static bool take_image_of_nvrtc(struct lazycuda_link *link)
{
	struct lk_product product = { .image = NULL };

	if (!lk_copy_image(link->arena, link->compiled->bytes, link->compiled->length, &product))
		return lk_stop(link, product.code, LAZYCUDA_NO_INDEX, "%s", product.message);
	link->image = product.image;
	link->result.image_length = product.length;
	return true;
}

/*
 * Up to an image: plans, compiles what is new, and plans again with the support modules that the code
 * turns out to need, or with libcudadevrt.a.  If one of these is the first LTO-IR in the link, all
 * source is compiled again, to LTO-IR.
 */
static bool link_all(struct lazycuda_link *link)
{
	const struct lazycuda_plan *before = NULL;
	const struct lk_piece *pieces;
	bool again;

	do {
		if (!lk_inspect_inputs(link) || !lk_decide(link) || !note_device_runtime(link) ||
		    !lk_compile_sources(link, before, &again))
			return false;
		if (link->plan->backend == LAZYCUDA_BACKEND_NVRTC)
			return take_image_of_nvrtc(link);
		before = link->plan;
		if (again)
			continue;
		pieces = lk_make_pieces(link);
		if (!pieces || !link_pieces(link, pieces, &again))
			return false;
	} while (again);
	return true;
}

static bool carry_out(struct lazycuda_link *link)
{
	return link_all(link) && check_image(link) &&
	       (!link->result.lowered_name_count || check_names(link)) && note_linked(link);
}

static void free_blocks(struct lazycuda_link *link)
{
	for (size_t i = 0; i < link->block_count; i++)
		free(link->blocks[i]);
	link->block_count = 0;
}

/* ---- public functions ---- */

struct lazycuda_link *lazycuda_link_new(const struct lazycuda_request *request,
					const struct lazycuda_environment *environment)
{
	struct lc_arena *arena = lc_arena_new();
	struct lazycuda_link *link = arena ? lc_alloc(arena, sizeof(*link)) : NULL;

	if (!link) {
		lc_arena_free(arena);
		return NULL;
	}
	link->arena = arena;
	link->cancel = -1;
	link->is_here = !environment;
	if (environment)
		lk_take_struct(&link->environment, sizeof(link->environment), environment);
	if (!lk_take_request(link, request)) {
		lazycuda_link_free(link);
		return NULL;
	}
	lk_prepare_isolation(link);
	link->result = (struct lazycuda_result){
		.size = sizeof(link->result), .input = LAZYCUDA_NO_INDEX,
		.info_log = "", .error_log = "",
	};
	return link;
}

enum lazycuda_code lazycuda_link_add(struct lazycuda_link *link, const struct lazycuda_input *input)
{
	struct lazycuda_input *copy = link ? lc_alloc(link->arena, sizeof(*copy)) : NULL, **slot;
	enum lazycuda_code code;

	if (!copy)
		return LAZYCUDA_CODE_NO_MEMORY;
	if (link->ran)
		return LAZYCUDA_CODE_BAD_REQUEST;
	code = lk_input_refusal(link->arena, &link->request, input);
	lk_take_struct(copy, sizeof(*copy), input);
	slot = lc_grow(link->arena, &link->inputs, &link->count, sizeof(*slot));
	if (!slot)
		return LAZYCUDA_CODE_NO_MEMORY;
	*slot = copy;
	return code;
}

const struct lazycuda_result *lazycuda_link_run(struct lazycuda_link *link)
{
	static const struct lazycuda_result no_memory = {
		.size = sizeof(no_memory), .code = LAZYCUDA_CODE_NO_MEMORY,
		.message = LK_NO_MEMORY, .input = LAZYCUDA_NO_INDEX,
		.info_log = "", .error_log = "",
	};
	struct lazycuda_result *result;

	if (!link)
		return &no_memory;
	result = &link->result;
	if (link->ran)
		return result;
	link->ran = true;
	result->code = LAZYCUDA_CODE_OK;	/* a key may have been refused */
	if (carry_out(link))
		result->image = link->image;
	else
		result->image_length = 0;
	/* An allocation failure that had no effect so far makes the link fail here. */
	if (link->arena->failed) {
		lk_stop_without_memory(link);
		result->image = NULL;
		result->image_length = 0;
		link->linked_count = 0;
	}
	free_blocks(link);
	return result;
}

void lazycuda_link_setup(struct lazycuda_link *link, void *module)
{
	for (size_t i = 0; link && i < link->linked_count; i++)
		if (link->linked[i]->setup)
			link->linked[i]->setup(module, link->linked[i]->data);
}

void lazycuda_link_teardown(struct lazycuda_link *link, void *module)
{
	for (size_t i = link ? link->linked_count : 0; i-- > 0;)
		if (link->linked[i]->teardown)
			link->linked[i]->teardown(module, link->linked[i]->data);
}

void lazycuda_link_free(struct lazycuda_link *link)
{
	if (!link)
		return;
	if (link->cancel >= 0)
		close(link->cancel);
	free(link->image);
	free_blocks(link);
	for (size_t i = 0; i < link->inspected_count; i++)
		lk_inspection_close(link->inspected[i]);
	lc_arena_free(link->arena);
}
