/* SPDX-License-Identifier: MIT */
/* inputs.c - whether the inputs make sense, and what is to be linked: they, and the support modules
 * that they need */
#include <limits.h>
#include <string.h>

#include "planning.h"
#include "../formats/formats.h"
#include "../formats/inspection.h"
#include "../formats/symbols.h"
#include "../tables/sized.h"
#include "../tables/text.h"

/* ---- one input ---- */

static const char *name_of(struct lk_planning *planning, const struct lk_item *item)
{
	const struct lazycuda_input *what = &item->what;
	const char *name = what->name ? what->name : what->path;

	if (!name && what->inspection)
		name = what->inspection->name;
	if (!name && item->input == LAZYCUDA_NO_INDEX)
		return lc_format(planning->arena, "support module %zu", item->support);
	if (!name)
		return lc_format(planning->arena, "input %zu", item->input);
	return lc_printable(planning->arena, name);
}

static bool may_have_host_code(enum lazycuda_kind kind)
{
	return kind == LAZYCUDA_KIND_OBJECT || kind == LAZYCUDA_KIND_ARCHIVE ||
	       kind == LAZYCUDA_KIND_SHARED;
}

static bool is_container(enum lazycuda_kind kind)
{
	return may_have_host_code(kind) || kind == LAZYCUDA_KIND_FATBIN ||
	       kind == LAZYCUDA_KIND_OFFLOAD;
}

/* Content of an unknown kind is source if it is declared as such. */
static bool is_source(const struct lazycuda_input *what)
{
	if (!what->inspection)
		return what->kind == LAZYCUDA_KIND_SOURCE;
	return what->inspection->kind == LAZYCUDA_KIND_SOURCE ||
	       (what->inspection->kind == LAZYCUDA_KIND_UNKNOWN &&
		what->kind == LAZYCUDA_KIND_SOURCE);
}

/* Not called for content of an unknown kind that is declared as source. */
static bool check_declared(struct lk_planning *planning, const struct lk_item *item)
{
	enum lazycuda_kind declared = item->what.kind, kind = item->what.inspection->kind;
	const char *have = lazycuda_kind_name(kind), *said = lazycuda_kind_name(declared);

	return declared == LAZYCUDA_KIND_UNKNOWN || declared == kind ||
	       lk_refuse(planning, LAZYCUDA_CODE_KIND_MISMATCH, item, have, said,
			 "it is declared as %s and its content is %s; declare what it is, or nothing",
			 said, kind ? have : "none of these");
}

static bool check_kind(struct lk_planning *planning, const struct lk_item *item)
{
	static const char needed[] = "PTX, a cubin, LTO-IR, a fatbin, a host file or CUDA source";
	enum lazycuda_kind kind = item->what.inspection->kind;
	const bool thin = kind == LAZYCUDA_KIND_THIN_ARCHIVE;

	if (!check_declared(planning, item))
		return false;
	if (kind == LAZYCUDA_KIND_UNKNOWN)
		return lk_refuse(planning, LAZYCUDA_CODE_UNKNOWN_KIND, item, "unknown content",
				 needed, "it is neither device code nor text with a word of CUDA source,"
				 " such as __global__; other source has to be declared");
	return kind <= LAZYCUDA_KIND_SOURCE || is_container(kind) || kind == LAZYCUDA_KIND_TILEIR ||
	       lk_is_llvm_ir(item->what.inspection) ||
	       lk_refuse(planning, LAZYCUDA_CODE_UNSUPPORTED_KIND, item,
			 lazycuda_kind_name(kind), thin ? "an archive that has its members in it" : needed,
			 "it is %s, which no linker here takes%s", lazycuda_kind_name(kind),
			 thin ? "; make it without -T" : "");
}

/* A name that another header has, too; NULL if there is none. */
static const char *header_twice(struct lk_planning *planning, const struct lazycuda_input *what)
{
	struct lk_symbols names = { .arena = planning->arena };

	for (size_t i = 0; i < what->header_count && !planning->arena->failed; i++) {
		if (lk_names_find(&names, what->include_names[i]))
			return what->include_names[i];
		lk_names_add(&names, what->include_names[i]);
	}
	return NULL;
}

/* Refuses what makes no sense, for a reason in a format and what follows it. */
#define BAD(...) \
	lk_refuse(planning, LAZYCUDA_CODE_BAD_REQUEST, item, NULL, NULL, __VA_ARGS__)

/* Checks what nvrtc reads unchecked, or refuses without a message. */
static bool check_lists(struct lk_planning *planning, const struct lk_item *item)
{
	const struct lazycuda_input *what = &item->what;
	const char *twice;

	if (!lk_texts_are_there(what->name_expressions, what->name_expression_count))
		return BAD("a name expression is NULL");
	if (what->header_count > INT_MAX ||
	    !lk_texts_are_there(what->include_names, what->header_count) ||
	    !lk_texts_are_there(what->headers, what->header_count))
		return BAD("a header has no name or no text");
	twice = header_twice(planning, what);
	return !twice || BAD("the header %s is there twice", lc_printable(planning->arena, twice));
}

/* Whether it is no source: as it is declared, or else by its content.  What cannot be read may be
 * source. */
static bool is_other(const struct lazycuda_input *what)
{
	return what->kind ? what->kind != LAZYCUDA_KIND_SOURCE :
	       what->inspection && !what->inspection->error && !is_source(what);
}

/* Checks what can be told of an input without its content. */
static bool check_given(struct lk_planning *planning, const struct lk_item *item)
{
	const struct lazycuda_input *what = &item->what;

	if ((unsigned)what->kind >= LK_KINDS)
		return BAD("it is declared as a kind that does not exist");
	if (what->flags & ~(LAZYCUDA_INPUT_MAIN | LAZYCUDA_INPUT_LIBRARY | LK_INPUT_COMPILED_IN))
		return BAD("it has flags that do not exist");
	if (what->bytes && what->path)
		return BAD("it has both bytes and a path");
	if (what->needs && planning->request.support_count < 64 &&
	    what->needs >> planning->request.support_count)
		return BAD("it needs a support module behind the request's %zu",
			   planning->request.support_count);
	if (lk_is_ir_library(item) && item->input == LAZYCUDA_NO_INDEX)
		return BAD("a support module cannot be a library");
	if ((what->name_expression_count || what->header_count) && is_other(what))
		return BAD("it is not source, and is given name expressions or headers");
	return check_lists(planning, item);
}

/* Takes an input as the caller knows it. */
static bool take_input(struct lk_planning *planning, struct lk_item *item,
		       const struct lazycuda_input *input)
{
	const bool sound = lk_sized_copy(&item->what, sizeof(item->what), input);

	item->name = name_of(planning, item);
	return sound ? check_given(planning, item) : BAD("it " LK_NO_STRUCT);
}

enum lazycuda_code lk_input_refusal(struct lc_arena *arena, const struct lazycuda_request *request,
				    const struct lazycuda_input *input)
{
	struct lk_planning planning = { .arena = arena, .request = *request,
					.refusal = LK_NO_REFUSAL };
	struct lk_item item = { .support = LAZYCUDA_NO_INDEX };

	if (!take_input(&planning, &item, input))
		return planning.refusal.code;
	return lk_bytes_wrong(&item.what) ? LAZYCUDA_CODE_BAD_INPUT : LAZYCUDA_CODE_OK;
}

/*
 * A program or library that was linked from relocatable code holds that code
 * beside the linked result; linking both would define each symbol twice.
 */
static const char *only_section(const struct lazycuda_inspection *inspection)
{
	for (size_t i = 0; i < inspection->entry_count; i++) {
		const char *section = inspection->entries[i]->section;

		if (section && !strcmp(section, LK_RELOCATABLE_SECTION))
			return section;
	}
	return NULL;
}

static bool check_item(struct lk_planning *planning, struct lk_item *item)
{
	const struct lazycuda_inspection *inspection = item->what.inspection;
	const enum lazycuda_kind kind = inspection ? inspection->kind : item->what.kind;

	if (lk_is_ir_library(item) && kind != LAZYCUDA_KIND_BITCODE &&
	    !(inspection && inspection->error))
		return lk_refuse(planning, LAZYCUDA_CODE_UNSUPPORTED_KIND, item,
				 lazycuda_kind_name(kind), "bitcode",
				 "it is given as a library, which libnvvm takes as bitcode alone, and is %s",
				 kind ? lazycuda_kind_name(kind) : "nothing that is known");
	if (inspection && inspection->error)
		return lk_refuse(planning, LAZYCUDA_CODE_BAD_INPUT, item, inspection->error,
				 "a file that is whole", "%s", inspection->error);
	if (is_source(&item->what))
		return item->what.kind == LAZYCUDA_KIND_SOURCE || check_declared(planning, item);
	if (!inspection)
		return lk_refuse(planning, LAZYCUDA_CODE_BAD_INPUT, item, NULL, "an inspection",
				 "it has not been inspected, and is not declared to be source");
	if (!check_kind(planning, item))
		return false;
	if (lk_is_llvm_ir(inspection))
		return true;
	item->inspection = inspection;
	if (inspection->kind == LAZYCUDA_KIND_SHARED)
		item->section = only_section(inspection);
	if (inspection->entry_count || planning->request.flags & LAZYCUDA_LINK_IGNORE_NON_LTO)
		return true;
	return lk_refuse(planning, LAZYCUDA_CODE_NO_DEVICE_CODE, item,
			 lazycuda_kind_name(inspection->kind), "device code", "there is no %scode in it%s%s",
			 inspection->warning || is_container(inspection->kind) ? "device " : "",
			 inspection->warning ? ": " : may_have_host_code(inspection->kind) ?
			 "; leave it to the host's linker" : "",
			 inspection->warning ? inspection->warning : "");
}

/* ---- support modules ---- */

/* The functions of all enabled modules, and the modules that define each. */
struct functions {
	struct lk_symbols symbols;
	uint64_t *modules;	/* by the symbol's index */
	uint64_t lengths;	/* bit n % 64: some name has n bytes; most names that a
				   program declares have none of these lengths */
};

static uint64_t bit_of(size_t length)
{
	return UINT64_C(1) << (length & 63);
}

static bool is_enabled(const struct lk_planning *planning, size_t module,
		       struct lazycuda_support *support)
{
	return lk_sized_copy(support, sizeof(*support), planning->request.support[module]) &&
	       support->enabled && !(planning->request.flags & LAZYCUDA_LINK_NO_SUPPORT);
}

static size_t function_total(const struct lk_planning *planning)
{
	struct lazycuda_support support;
	size_t total = 0;

	for (size_t i = 0; i < planning->request.support_count; i++)
		if (is_enabled(planning, i, &support))
			total += support.function_count;
	return total;
}

static bool collect(struct lk_planning *planning, struct functions *functions)
{
	struct lazycuda_support support;
	size_t total = function_total(planning);

	*functions = (struct functions){ .symbols.arena = planning->arena };
	if (!total)
		return false;
	functions->modules = lc_alloc(planning->arena, total * sizeof(*functions->modules));
	for (size_t i = 0; functions->modules && i < planning->request.support_count; i++) {
		if (!is_enabled(planning, i, &support))
			continue;
		for (size_t k = 0; k < support.function_count; k++) {
			const char *name = support.functions[k];
			const struct lazycuda_symbol *symbol;

			lk_names_add(&functions->symbols, name);
			symbol = lk_names_find(&functions->symbols, name);
			if (!symbol)
				continue;
			functions->modules[symbol - functions->symbols.list] |= UINT64_C(1) << i;
			functions->lengths |= bit_of(strlen(name));
		}
	}
	return functions->modules;
}

/* The modules that define functions which the code of an entry declares. */
static uint64_t declared(const struct functions *functions, const struct lazycuda_entry *entry)
{
	uint64_t modules = 0;

	for (size_t i = 0; i < entry->symbol_count; i++) {
		const struct lazycuda_symbol *symbol = &entry->symbols[i], *found;
		size_t length;

		if (symbol->defined)
			continue;
		length = strlen(symbol->name);
		if (!(functions->lengths & bit_of(length)))
			continue;
		found = lk_symbols_find(&functions->symbols, symbol->name, length);
		if (found)
			modules |= functions->modules[found - functions->symbols.list];
	}
	return modules;
}

/*
 * The modules that define functions which the program itself declares.  In each
 * container, the PTX or cubin counts that would be taken for the target if versions
 * did not matter, so that every linker is given the same modules.
 */
static uint64_t declared_by(struct lk_planning *planning, const struct functions *functions,
			    const struct lk_item *item)
{
	const struct lk_linker any = lk_linker(LAZYCUDA_BACKEND_NVJITLINK,
					       LAZYCUDA_VERSION_UNKNOWN, &planning->target, 0,
					       false);
	struct lk_group group = { .count = 0 };
	uint64_t modules = 0;

	if (!(item->what.flags & LAZYCUDA_INPUT_MAIN))
		return 0;
	if (!item->inspection)
		lk_note(planning, "%s: which support modules it needs is seen once it is compiled",
			item->name);
	while (lk_next_group(item, &group)) {
		const struct lazycuda_entry *entry = lk_choose(&any, &group, false).entry;

		if (entry)
			modules |= declared(functions, entry);
	}
	return modules;
}

/* A module that an input needs is left out if it is not enabled; one note says so. */
static void note_disabled(struct lk_planning *planning, const struct lk_item *item,
			  uint64_t *noted)
{
	struct lazycuda_support support;

	for (size_t i = 0; i < planning->request.support_count; i++) {
		if (!((item->what.needs & ~*noted) >> i & 1) ||
		    is_enabled(planning, i, &support))
			continue;
		*noted |= UINT64_C(1) << i;
		lk_note(planning, "support module %zu (%s), which %s needs, is not enabled", i,
			support.name ? support.name : "", item->name);
	}
}

/* Adds the modules that modules need, and drops those that are not enabled. */
static uint64_t with_their_needs(const struct lk_planning *planning, uint64_t modules)
{
	uint64_t seen = 0;

	while (modules & ~seen) {
		size_t i = (size_t)__builtin_ctzll(modules & ~seen);
		struct lazycuda_support support;
		struct lazycuda_input input;

		seen |= UINT64_C(1) << i;
		if (i >= planning->request.support_count || !is_enabled(planning, i, &support))
			modules &= ~(UINT64_C(1) << i);
		else if (lk_sized_copy(&input, sizeof(input), support.input))
			modules |= input.needs;
	}
	return modules;
}

/* Bit n is set if support module n is linked.  So far the items are only the inputs. */
static uint64_t support_needed(struct lk_planning *planning)
{
	struct functions functions;
	uint64_t modules = 0, noted = 0;
	bool any = planning->request.support_count && collect(planning, &functions);

	for (size_t i = 0; i < planning->count; i++) {
		const struct lk_item *item = &planning->items[i];

		modules |= item->what.needs;
		if (item->what.needs)
			note_disabled(planning, item, &noted);
		if (any)
			modules |= declared_by(planning, &functions, item);
	}
	return with_their_needs(planning, modules);
}

bool lk_has_support_functions(const struct lazycuda_request *request)
{
	const struct lk_planning planning = { .request = *request };

	return request->support_count && function_total(&planning);
}

uint64_t lk_support_declared(struct lc_arena *arena, const struct lazycuda_request *request,
			     const struct lazycuda_entry *entry)
{
	struct lk_planning planning = { .arena = arena, .request = *request };
	struct functions functions;

	return collect(&planning, &functions) ? declared(&functions, entry) : 0;
}

/* ---- all of them ---- */

static bool add_support(struct lk_planning *planning)
{
	uint64_t modules = support_needed(planning);
	struct lazycuda_support support;

	for (size_t i = 0; i < planning->request.support_count; i++) {
		struct lk_item *item = &planning->items[planning->count];

		if (!(modules >> i & 1))
			continue;
		lk_sized_copy(&support, sizeof(support), planning->request.support[i]);
		*item = (struct lk_item){ .input = LAZYCUDA_NO_INDEX, .support = i };
		if (!take_input(planning, item, support.input) || !check_item(planning, item))
			return false;
		planning->count++;
	}
	return true;
}

bool lk_plan_inputs(struct lk_planning *planning, const struct lazycuda_input *const *inputs,
		    size_t count)
{
	if (!count || !inputs)
		return lk_refuse(planning, LAZYCUDA_CODE_NO_INPUTS, NULL, NULL, "an input",
				 "there is nothing to link");
	if (count > SIZE_MAX / sizeof(*planning->items) - 64)
		return lk_refuse(planning, LAZYCUDA_CODE_BAD_REQUEST, NULL, NULL, NULL,
				 "there are more inputs than memory could hold");
	planning->items = lc_alloc(planning->arena, (count + planning->request.support_count) *
				   sizeof(*planning->items));
	if (!planning->items)
		return false;
	for (; planning->count < count; planning->count++) {
		struct lk_item *item = &planning->items[planning->count];

		*item = (struct lk_item){ .input = planning->count,
					  .support = LAZYCUDA_NO_INDEX };
		if (!take_input(planning, item, inputs[planning->count]) || !check_item(planning, item))
			return false;
	}
	return add_support(planning);
}

/* ---- what they need ---- */

static void need(struct lk_planning *planning, const struct lk_item *item, const char *why)
{
	if (planning->needs)
		return;
	planning->needs = true;
	planning->needs_input = item ? item->input : LAZYCUDA_NO_INDEX;
	planning->needs_why = why;
}

/*
 * Returns true if only the LTO-IR of a container can be used: all else in it is not
 * for the target, or too new for either linker.
 */
static bool is_ltoir_alone(const struct lk_planning *planning,
			   const struct lk_group *group)
{
	const struct lazycuda_environment *environment = &planning->environment;
	const struct lk_linker nvjitlink = lk_linker_of(planning, LAZYCUDA_BACKEND_NVJITLINK);
	const struct lk_linker driver = lk_linker_of(planning, LAZYCUDA_BACKEND_DRIVER);
	const struct lazycuda_entry *entry;

	if ((environment->nvjitlink != LAZYCUDA_VERSION_NONE &&
	     lk_choose(&nvjitlink, group, false).entry) ||
	    (environment->driver != LAZYCUDA_VERSION_NONE && lk_choose(&driver, group, false).entry))
		return false;
	entry = lk_choose(&nvjitlink, group, true).entry;
	return lk_group_is_ltoir(&nvjitlink, group) || (entry && entry->kind == LAZYCUDA_KIND_LTOIR);
}

static void look_for_ltoir(struct lk_planning *planning, const struct lk_item *item)
{
	struct lk_group group = { .count = 0 };

	while (lk_next_group(item, &group)) {
		const struct lazycuda_entry *entry = group.entries[0];
		bool raw = entry->fatbin < 0;

		if (raw ? entry->kind != LAZYCUDA_KIND_LTOIR :
			  !lk_group_has_ltoir(&group) ||
			  !is_ltoir_alone(planning, &group))
			continue;
		planning->lto = true;
		need(planning, item, LK_CONCAT(planning->arena, item->name, raw ? " is LTO-IR" :
					       " has nothing but LTO-IR for the target that the linkers here take"));
		return;
	}
}

bool lk_is_for_elsewhere(const struct lk_planning *planning)
{
	return planning->environment.no_device ||
	       planning->request.flags & (LAZYCUDA_LINK_OFFLINE | LAZYCUDA_LINK_FORWARD_COMPATIBLE);
}

void lk_plan_needs(struct lk_planning *planning)
{
	const struct lazycuda_request *request = &planning->request;

	planning->lto = request->lto || request->flags & LAZYCUDA_LINK_IGNORE_NON_LTO ||
			request->output == LAZYCUDA_OUTPUT_PTX ||
			request->output == LAZYCUDA_OUTPUT_LTOIR;
	if (request->output == LAZYCUDA_OUTPUT_PTX)
		need(planning, NULL, "PTX output is asked for");
	else if (request->output == LAZYCUDA_OUTPUT_LTOIR)
		need(planning, NULL, "LTO-IR output is asked for");
	else if (request->output == LAZYCUDA_OUTPUT_RELOCATABLE)
		need(planning, NULL, "a relocatable result is asked for");
	else if (planning->lto)
		need(planning, NULL, "link-time optimisation is asked for");
	for (size_t i = 0; i < planning->count; i++)
		if (!planning->lto)
			look_for_ltoir(planning, &planning->items[i]);
}
