/* SPDX-License-Identifier: MIT */
/*
 * undefined.c - finds the names that a failed link missed
 *
 * nvJitLink before 12.9 reports the name only on stderr; its log has nothing but
 * "ERROR 9: finish".
 */
#include <string.h>

#include "../../stubs/base/count.h"
#include "handle.h"
#include "../formats/symbols.h"
#include "../plan/planning.h"

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

const char *lk_list_undefined(struct lazycuda_link *link, const char *log)
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
