/* SPDX-License-Identifier: MIT */
/* inputs.c - whether the inputs make sense, and what is to be linked */
#include <limits.h>
#include <string.h>

#include "../formats/inspection.h"
#include "../formats/symbols.h"
#include "planning.h"
#include "../formats/formats.h"
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
	return lk_is_plain(name) ? name : lc_printable(planning->arena, name);
}

static bool refuse_item(struct lk_planning *planning, struct lk_refusal *refusal,
			enum lazycuda_code code, const struct lk_item *item, const char *have,
			const char *need, const char *what)
{
	return lk_refuse(refusal, code, item->input, have, need,
			 lc_format(planning->arena, "%s: %s", item->name, what));
}

static bool is_container(enum lazycuda_kind kind)
{
	return kind == LAZYCUDA_KIND_FATBIN || kind == LAZYCUDA_KIND_OBJECT ||
	       kind == LAZYCUDA_KIND_ARCHIVE || kind == LAZYCUDA_KIND_SHARED ||
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

/* Kinds that no linker takes, with what is needed instead and how to get it. */
static const struct {
	enum lazycuda_kind kind;
	const char *need, *advice;
} makers[] = {
	{ LAZYCUDA_KIND_THIN_ARCHIVE, "an archive that has its members in it",
	  "; make it without -T" },
};

static bool refuse_kind(struct lk_planning *planning, const struct lk_item *item,
			struct lk_refusal *refusal)
{
	enum lazycuda_kind kind = item->what.inspection->kind;
	const char *have = lazycuda_kind_name(kind), *advice = "";
	const char *need = "PTX, a cubin, LTO-IR, a fatbin, a host file or CUDA source";

	for (size_t i = 0; i < sizeof(makers) / sizeof(*makers); i++)
		if (makers[i].kind == kind) {
			need = makers[i].need;
			advice = makers[i].advice;
		}
	return refuse_item(planning, refusal, LAZYCUDA_CODE_UNSUPPORTED_KIND, item, have, need,
			   lc_format(planning->arena, "it is %s, which no linker here takes%s",
				     have, advice));
}

/* Not called for content of an unknown kind that is declared as source. */
static bool check_declared(struct lk_planning *planning, const struct lk_item *item,
			   struct lk_refusal *refusal)
{
	enum lazycuda_kind declared = item->what.kind, kind = item->what.inspection->kind;
	const char *have = lazycuda_kind_name(kind);

	return declared == LAZYCUDA_KIND_UNKNOWN || declared == kind ||
	       refuse_item(planning, refusal, LAZYCUDA_CODE_KIND_MISMATCH, item, have,
			   lazycuda_kind_name(declared),
			   lc_format(planning->arena, "it is declared as %s and its content is %s;"
				     " declare what it is, or nothing", lazycuda_kind_name(declared),
				     kind ? have : "none of these"));
}

static bool check_kind(struct lk_planning *planning, const struct lk_item *item,
		       struct lk_refusal *refusal)
{
	enum lazycuda_kind kind = item->what.inspection->kind;

	if (!check_declared(planning, item, refusal))
		return false;
	if (kind == LAZYCUDA_KIND_UNKNOWN)
		return refuse_item(planning, refusal, LAZYCUDA_CODE_UNKNOWN_KIND, item, "unknown"
				   " content",
				   "PTX, a cubin, LTO-IR, a fatbin, a host file or CUDA source",
				   "it is neither device code nor text with a word of CUDA source,"
				   " such as __global__; other source has to be declared");
	if (kind > LAZYCUDA_KIND_SOURCE && !is_container(kind) && kind != LAZYCUDA_KIND_TILEIR &&
	    !lk_is_llvm_ir(item->what.inspection))
		return refuse_kind(planning, item, refusal);
	return true;
}

/* A name that another header has, too; NULL if there is none. */
static const char *header_twice(struct lk_planning *planning, const struct lazycuda_input *what)
{
	const struct lazycuda_symbol plain = { .name = NULL };
	struct lk_symbols names = { .arena = planning->arena };

	for (size_t i = 0; i < what->header_count && !planning->arena->failed; i++) {
		const char *name = what->include_names[i];

		if (lk_symbols_find(&names, name, strlen(name)))
			return name;
		lk_symbols_add(&names, name, strlen(name), &plain);
	}
	return NULL;
}

/* Checks what nvrtc reads unchecked, or refuses without a message. */
static bool check_source(struct lk_planning *planning, const struct lk_item *item,
			 struct lk_refusal *refusal)
{
	const struct lazycuda_input *what = &item->what;
	const char *twice;

	if (!lk_texts_are_there(what->name_expressions, what->name_expression_count))
		return refuse_item(planning, refusal, LAZYCUDA_CODE_BAD_REQUEST, item, NULL, NULL,
				   "a name expression is NULL");
	if (what->header_count > INT_MAX ||
	    !lk_texts_are_there(what->include_names, what->header_count) ||
	    !lk_texts_are_there(what->headers, what->header_count))
		return refuse_item(planning, refusal, LAZYCUDA_CODE_BAD_REQUEST, item, NULL, NULL,
				   "a header has no name or no text");
	twice = header_twice(planning, what);
	return !twice ||
	       refuse_item(planning, refusal, LAZYCUDA_CODE_BAD_REQUEST, item, NULL, NULL,
			   lc_format(planning->arena, "the header %s is there twice",
				     lc_printable(planning->arena, twice)));
}

/*
 * A program or library that was linked from relocatable code holds that code
 * beside the linked result; linking both would define all of it twice.
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

static bool check_item(struct lk_planning *planning, struct lk_item *item,
		       struct lk_refusal *refusal)
{
	const struct lazycuda_inspection *inspection = item->what.inspection;
	const enum lazycuda_kind kind = inspection ? inspection->kind : item->what.kind;

	if ((unsigned)item->what.kind >= LK_KINDS)
		return refuse_item(planning, refusal, LAZYCUDA_CODE_BAD_REQUEST, item, NULL, NULL,
				   "it is declared as a kind that does not exist");
	if (item->what.flags & ~(LAZYCUDA_INPUT_MAIN | LAZYCUDA_INPUT_LIBRARY | LK_INPUT_COMPILED_IN))
		return refuse_item(planning, refusal, LAZYCUDA_CODE_BAD_REQUEST, item, NULL, NULL,
				   "it has flags that do not exist");
	if (item->what.bytes && item->what.path)
		return refuse_item(planning, refusal, LAZYCUDA_CODE_BAD_REQUEST, item, NULL, NULL,
				   "it has both bytes and a path");
	if (item->what.needs && planning->request.support_count < 64 &&
	    item->what.needs >> planning->request.support_count)
		return refuse_item(planning, refusal, LAZYCUDA_CODE_BAD_REQUEST, item, NULL, NULL,
				   lc_format(planning->arena, "it needs a support module behind the"
					     " request's %zu", planning->request.support_count));
	if (lk_is_ir_library(item) && item->input == LAZYCUDA_NO_INDEX)
		return refuse_item(planning, refusal, LAZYCUDA_CODE_BAD_REQUEST, item, NULL, NULL,
				   "a support module cannot be a library");
	if (lk_is_ir_library(item) && kind != LAZYCUDA_KIND_BITCODE &&
	    !(inspection && inspection->error))
		return refuse_item(planning, refusal, LAZYCUDA_CODE_UNSUPPORTED_KIND, item,
				   lazycuda_kind_name(kind), "bitcode",
				   lc_format(planning->arena, "it is given as a library, which libnvvm"
					     " takes as bitcode alone, and is %s",
					     kind ? lazycuda_kind_name(kind) : "nothing that is known"));
	if (inspection && inspection->error)
		return refuse_item(planning, refusal, LAZYCUDA_CODE_BAD_INPUT, item,
				   inspection->error, "a file that is whole", inspection->error);
	if (is_source(&item->what))
		return (item->what.kind == LAZYCUDA_KIND_SOURCE ||
			check_declared(planning, item, refusal)) &&
		       check_source(planning, item, refusal);
	if (item->what.name_expression_count || item->what.header_count)
		return refuse_item(planning, refusal, LAZYCUDA_CODE_BAD_REQUEST, item, NULL, NULL,
				   "it is not source, and is given name expressions or headers");
	if (!inspection)
		return refuse_item(planning, refusal, LAZYCUDA_CODE_BAD_INPUT, item, NULL,
				   "an inspection", "it has not been inspected, and is not declared"
				   " to be source");
	if (!check_kind(planning, item, refusal))
		return false;
	if (lk_is_llvm_ir(inspection))
		return true;
	item->inspection = inspection;
	if (inspection->kind == LAZYCUDA_KIND_SHARED)
		item->section = only_section(inspection);
	if (inspection->entry_count || planning->request.flags & LAZYCUDA_LINK_IGNORE_NON_LTO)
		return true;
	return refuse_item(planning, refusal, LAZYCUDA_CODE_NO_DEVICE_CODE, item,
			   lazycuda_kind_name(inspection->kind), "device code",
			   inspection->warning ?
			   LK_CONCAT(planning->arena, "there is no device code in it: ",
				     inspection->warning) :
			   is_container(inspection->kind) ?
			   "there is no device code in it; leave it to the host's linker" :
			   "there is no code in it");
}

static bool fill(struct lk_planning *planning, struct lk_item *item,
		 const struct lazycuda_input *input, struct lk_refusal *refusal)
{
	if (!lk_sized_copy(&item->what, sizeof(item->what), input)) {
		item->name = name_of(planning, item);
		return refuse_item(planning, refusal, LAZYCUDA_CODE_BAD_REQUEST, item, NULL, NULL,
				   "it " LK_NO_STRUCT);
	}
	item->name = name_of(planning, item);
	return check_item(planning, item, refusal);
}

/* ---- all of them ---- */

static bool add_support(struct lk_planning *planning, struct lk_refusal *refusal)
{
	uint64_t modules = lk_support_needed(planning);
	struct lazycuda_support support;

	for (size_t i = 0; i < planning->request.support_count; i++) {
		struct lk_item *item = &planning->items[planning->count];

		if (!(modules >> i & 1))
			continue;
		lk_sized_copy(&support, sizeof(support), planning->request.support[i]);
		*item = (struct lk_item){ .input = LAZYCUDA_NO_INDEX, .support = i };
		if (!fill(planning, item, support.input, refusal))
			return false;
		planning->count++;
	}
	return true;
}

bool lk_plan_inputs(struct lk_planning *planning, const struct lazycuda_input *const *inputs,
		    size_t count, struct lk_refusal *refusal)
{
	if (!count || !inputs)
		return lk_refuse(refusal, LAZYCUDA_CODE_NO_INPUTS, LAZYCUDA_NO_INDEX, NULL,
				 "an input", "there is nothing to link");
	if (count > SIZE_MAX / sizeof(*planning->items) - 64)
		return lk_refuse(refusal, LAZYCUDA_CODE_BAD_REQUEST, LAZYCUDA_NO_INDEX, NULL, NULL,
				 "there are more inputs than memory could hold");
	planning->items = lc_alloc(planning->arena, (count + planning->request.support_count) *
				   sizeof(*planning->items));
	if (!planning->items)
		return false;
	for (; planning->count < count; planning->count++) {
		struct lk_item *item = &planning->items[planning->count];

		*item = (struct lk_item){ .input = planning->count,
					  .support = LAZYCUDA_NO_INDEX };
		if (!fill(planning, item, inputs[planning->count], refusal))
			return false;
	}
	return add_support(planning, refusal);
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
			   const struct lazycuda_inspection *inspection,
			   const struct lk_group *group)
{
	const struct lazycuda_environment *environment = &planning->environment;
	const struct lk_linker nvjitlink = lk_linker_of(planning, LAZYCUDA_BACKEND_NVJITLINK);
	const struct lk_linker driver = lk_linker_of(planning, LAZYCUDA_BACKEND_DRIVER);
	struct lk_choice choice;

	if (environment->nvjitlink != LAZYCUDA_VERSION_NONE &&
	    lk_choose(&nvjitlink, inspection, group, false).entry != LAZYCUDA_NO_INDEX)
		return false;
	if (environment->driver != LAZYCUDA_VERSION_NONE &&
	    lk_choose(&driver, inspection, group, false).entry != LAZYCUDA_NO_INDEX)
		return false;
	if (lk_group_is_ltoir(&nvjitlink, inspection, group))
		return true;
	choice = lk_choose(&nvjitlink, inspection, group, true);
	return choice.entry != LAZYCUDA_NO_INDEX &&
	       inspection->entries[choice.entry]->kind == LAZYCUDA_KIND_LTOIR;
}

static void look_for_ltoir(struct lk_planning *planning, const struct lk_item *item)
{
	struct lk_group group = { 0, 0 };

	while (lk_next_group(item, &group)) {
		const struct lazycuda_entry *entry = item->inspection->entries[group.first];
		bool raw = entry->fatbin < 0;

		if (raw ? entry->kind != LAZYCUDA_KIND_LTOIR :
			  !lk_group_has_ltoir(item->inspection, &group) ||
			  !is_ltoir_alone(planning, item->inspection, &group))
			continue;
		planning->lto = true;
		need(planning, item, LK_CONCAT(planning->arena, item->name, raw ? " is LTO-IR" :
					       " has nothing but LTO-IR for the target"));
		return;
	}
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
