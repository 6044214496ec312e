/* SPDX-License-Identifier: MIT */
/* support.c - which support modules are linked */
#include <string.h>

#include "planning.h"
#include "../tables/sized.h"
#include "../formats/symbols.h"

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
	const struct lazycuda_symbol plain = { .name = NULL };
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

			lk_symbols_add(&functions->symbols, name, strlen(name), &plain);
			symbol = lk_symbols_find(&functions->symbols, name, strlen(name));
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
	struct lk_group group = { 0, 0 };
	uint64_t modules = 0;

	if (!(item->what.flags & LAZYCUDA_INPUT_MAIN))
		return 0;
	if (!item->inspection)
		lk_note(planning, lc_format(planning->arena, "%s: which support modules it needs is"
					    " seen once it is compiled", item->name));
	while (lk_next_group(item, &group)) {
		struct lk_choice choice = lk_choose(&any, item->inspection, &group, false);

		if (choice.entry != LAZYCUDA_NO_INDEX)
			modules |= declared(functions, item->inspection->entries[choice.entry]);
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
		lk_note(planning, lc_format(planning->arena, "support module %zu (%s), which %s"
					    " needs, is not"
					    " enabled", i, support.name ? support.name : "",
					    item->name));
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

uint64_t lk_support_needed(struct lk_planning *planning)
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
