/* SPDX-License-Identifier: MIT */
/*
 * duplicates.c - symbols that are defined twice
 *
 * nvJitLink from 12.6 on links these and reports success, and nothing tells which
 * definition it takes.
 */
#include <string.h>

#include "planning.h"

struct definition {
	const struct lazycuda_symbol *symbol;
	const struct lk_taken *taken;
};

/* A hash table by the symbols' own hashes; at most half full. */
struct definitions {
	struct definition *slots;
	size_t mask;
};

static bool counts(const struct lazycuda_symbol *symbol)
{
	return symbol->defined && !symbol->weak;
}

static bool make_table(struct lc_arena *arena, const struct lk_side *side,
		       struct definitions *table)
{
	size_t total = 0, slots = 1;

	for (size_t i = 0; i < side->count; i++) {
		const struct lazycuda_entry *entry = lk_taken_entry(&side->taken[i]);

		for (size_t k = 0; entry && k < entry->symbol_count; k++)
			total += counts(&entry->symbols[k]);
	}
	while (slots < 2 * total)
		slots *= 2;
	table->mask = slots - 1;
	table->slots = lc_alloc(arena, slots * sizeof(*table->slots));
	return table->slots;
}

/* The slot that a symbol is in, or else the free one where it belongs. */
static struct definition *find(const struct definitions *table,
			       const struct lazycuda_symbol *symbol)
{
	for (size_t i = symbol->hash;; i++) {
		struct definition *slot = &table->slots[i & table->mask];

		if (!slot->symbol || (slot->symbol->hash == symbol->hash &&
				      !strcmp(slot->symbol->name, symbol->name)))
			return slot;
	}
}

/* Whether they are plainly the same file or the same bytes. */
static bool is_given_twice(const struct lazycuda_input *one, const struct lazycuda_input *other)
{
	if (one->bytes && other->bytes)
		return one->length == other->length && !memcmp(one->bytes, other->bytes, one->length);
	return one->path && other->path && !strcmp(one->path, other->path);
}

static bool refuse(struct lc_arena *arena, const struct definition *first,
		   const struct lk_taken *second, struct lk_refusal *refusal)
{
	const char *name = lc_printable(arena, first->symbol->name);

	return lk_refuse(refusal, LAZYCUDA_CODE_DUPLICATE_SYMBOL, second->item->input, name,
			 "one definition",
			 first->taken->item != second->item &&
			 is_given_twice(&first->taken->item->what, &second->item->what) ?
			 lc_format(arena, "%s: it is the same as %s, and is given twice, so that %s is"
				   " defined twice; leave one out", second->item->name,
				   first->taken->item->name, name) :
			 first->taken->item == second->item ?
			 lc_format(arena, "%s: it defines %s twice; leave one out, or make it weak",
				   second->item->name, name) :
			 lc_format(arena, "%s: it defines %s, and so does %s; leave one out, or"
				   " make it"
				   " weak", second->item->name, name, first->taken->item->name));
}

static void keep(struct lk_planning *planning, const struct definition *first,
		 const struct lk_taken *second)
{
	struct lazycuda_symbol_error *error = lc_alloc(planning->arena, sizeof(*error)), **slot;

	slot = lc_grow(planning->arena, &planning->symbol_errors, &planning->symbol_error_count,
		       sizeof(*slot));
	if (!error || !slot) {
		planning->symbol_error_count -= slot != NULL;
		return;
	}
	*error = (struct lazycuda_symbol_error){
		.size = sizeof(*error),
		.name = lc_copy(planning->arena, first->symbol->name, strlen(first->symbol->name)),
		.twice = 1, .input = first->taken->item->input, .other = second->item->input,
	};
	*slot = error;
}

/* Prefetches the slots of all symbols of an entry: in a table larger than the caches, waiting
 * for one slot after the other is most of the work. */
static void prefetch(const struct definitions *table, const struct lazycuda_entry *entry)
{
	for (size_t k = 0; k < entry->symbol_count; k++)
		if (counts(&entry->symbols[k]))
			__builtin_prefetch(&table->slots[entry->symbols[k].hash & table->mask], 1);
}

bool lk_plan_duplicates(struct lk_planning *planning, const struct lk_side *side,
			struct lk_refusal *refusal)
{
	struct definitions table;

	if (!make_table(planning->arena, side, &table))
		return false;
	for (size_t i = 0; i < side->count; i++) {
		const struct lazycuda_entry *entry = lk_taken_entry(&side->taken[i]);

		if (entry)
			prefetch(&table, entry);
		for (size_t k = 0; entry && k < entry->symbol_count; k++) {
			struct definition *slot;

			if (!counts(&entry->symbols[k]))
				continue;
			slot = find(&table, &entry->symbols[k]);
			if (!slot->symbol) {
				slot->symbol = &entry->symbols[k];
				slot->taken = &side->taken[i];
				continue;
			}
			keep(planning, slot, &side->taken[i]);
			if (refusal->code == LAZYCUDA_CODE_OK)
				refuse(planning->arena, slot, &side->taken[i], refusal);
		}
	}
	return refusal->code == LAZYCUDA_CODE_OK;
}
