/* SPDX-License-Identifier: MIT */
/* result.c - what has to hold of the result, whichever linker makes it: it is what the user demands,
 * the driver here loads it, and nothing is defined twice */
#include <string.h>

#include "planning.h"
#include "../tables/versions.h"

/* ---- what the user demands ---- */

static bool check_constraint(struct lk_planning *planning, const char *library, int version)
{
	const struct lazycuda_request *request = &planning->request;
	struct lc_arena *arena = planning->arena;
	const char *constraint, *have;
	bool unknown = version <= 0;

	if (!request->constraint ||
	    (!unknown && lc_constraint_holds(request->constraint, version, NULL)))
		return true;
	constraint = lc_printable(arena, request->constraint);
	have = lc_format(arena, "%s %s", library, lk_version(arena, version));
	if (request->policy == LAZYCUDA_POLICY_OFF ||
	    (unknown && request->policy == LAZYCUDA_POLICY_BEST_EFFORT)) {
		lk_note(planning, "%s, and the constraint %s, are let pass by the policy", have,
			constraint);
		return true;
	}
	return lk_refuse(planning, unknown ? LAZYCUDA_CODE_INSUFFICIENT_METADATA :
			 LAZYCUDA_CODE_CONSTRAINT, NULL, have, lc_format(arena, "%s %s", library, constraint),
			 unknown ? "%s: whether it satisfies %s is not known, and the policy is strict" :
			 "%s is here, and the constraint %s forbids it; install another, or relax the"
			 " constraint", have, constraint);
}

/* ---- what the driver here can load ---- */

/* Refuses the link or, if the policy is off, lets it pass with a note. */
static bool too_old(struct lk_planning *planning, const char *have, const char *need,
		    const char *message)
{
	if (planning->request.policy != LAZYCUDA_POLICY_OFF)
		return lk_refuse(planning, LAZYCUDA_CODE_DRIVER_TOO_OLD, NULL, have, need,
				 "%s; take %s, or say that the result is for another machine", message,
				 need);
	lk_note(planning, "%s", message);
	return true;
}

/* The driver cannot run code for a GPU that it does not know. */
static bool check_gpu(struct lk_planning *planning)
{
	const struct lk_arch gpu = { planning->target.sm, 0, false };
	int driver = planning->environment.driver, since;
	struct lc_arena *arena = planning->arena;

	if (lk_arch_supported(&gpu, LK_DRIVER, driver))
		return true;
	since = lk_arch_since(&gpu, LK_DRIVER);
	return too_old(planning,
		       lc_format(arena, "the driver (CUDA %s)", lk_version(arena, driver)),
		       since ? lk_or_later(arena, LAZYCUDA_BACKEND_DRIVER, since) : "a newer driver",
		       lc_format(arena, "the driver here, for CUDA %s, does not know %s",
				 lk_version(arena, driver), lk_arch(arena, gpu.sm, 0)));
}

/* No driver reads PTX of a newer ISA than its own. */
static bool check_ptx(struct lk_planning *planning, int nvjitlink)
{
	int driver = planning->environment.driver;
	int isa = lk_isa_of_cuda(nvjitlink);
	struct lc_arena *arena = planning->arena;

	if (isa <= lk_isa_of_cuda(driver))
		return true;
	return too_old(planning, lc_format(arena, "PTX %d.%d", isa / 10, isa % 10),
		       lk_or_later(arena, LAZYCUDA_BACKEND_DRIVER, lk_cuda_of_isa(isa)),
		       lc_format(arena, "nvJitLink %s writes PTX %d.%d, which the driver here, for"
				 " CUDA %s, does not read", lk_version(arena, nvjitlink), isa / 10,
				 isa % 10, lk_version(arena, driver)));
}

/* Cubins of a later toolkit of the driver's major need a display driver of that
 * major's first branch or later.  Cubins of a later major get here only if the
 * policy is off, or from nvrtc. */
static bool check_driver(struct lk_planning *planning, const struct lk_side *side)
{
	int driver = planning->environment.driver, branch = planning->environment.branch;
	int version = side->linker.version, needed = lc_compatible_branch(LC_CUDA_MAJOR(version));
	struct lc_arena *arena = planning->arena;
	const char *maker = lk_linker_text(arena, &side->linker);

	switch (lc_driver_runs(driver, branch, version)) {
	case LC_MAJOR_TOO_OLD:
		return too_old(planning, lc_format(arena, "a driver for CUDA %s",
							    lk_version(arena, driver)),
			       lk_or_later(arena, LAZYCUDA_BACKEND_DRIVER, LC_CUDA(LC_CUDA_MAJOR(version), 0)),
			       lc_format(arena, "a driver for CUDA %s need not load what %s makes",
					 lk_version(arena, driver), maker));
	case LC_BRANCH_TOO_OLD:
		return too_old(planning, lc_format(arena, "display driver %d", branch),
			       lc_format(arena, "display driver %d or later", needed),
			       lc_format(arena, "display driver %d does not load what %s makes",
					 branch, maker));
	case LC_BRANCH_UNKNOWN:
	case LC_DRIVER_RUNS:
		break;
	}
	return true;
}

static bool check_loadable(struct lk_planning *planning, const struct lk_side *side)
{
	int version = side->linker.version;

	if (side->linker.backend == LAZYCUDA_BACKEND_DRIVER || version < 0 ||
	    planning->environment.driver <= 0 || lk_is_for_elsewhere(planning))
		return true;
	switch (planning->request.output) {
	case LAZYCUDA_OUTPUT_CUBIN:
		return check_gpu(planning) && check_driver(planning, side);
	case LAZYCUDA_OUTPUT_PTX:
		return check_ptx(planning, version);
	default:
		return true;
	}
}

/* ---- what is defined twice ---- */

/* nvJitLink from 12.6 on links symbols that are defined twice and reports success, and nothing tells
 * which definition it takes. */

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
static struct definition *find_definition(const struct definitions *table,
					  const struct lazycuda_symbol *symbol)
{
	for (size_t i = symbol->hash;; i++) {
		struct definition *slot = &table->slots[i & table->mask];

		if (!slot->symbol || (slot->symbol->hash == symbol->hash &&
				      !strcmp(slot->symbol->name, symbol->name)))
			return slot;
	}
}

bool lk_is_given_twice(const struct lazycuda_input *one, const struct lazycuda_input *other)
{
	if (one->bytes && other->bytes)
		return one->length == other->length && !memcmp(one->bytes, other->bytes, one->length);
	return one->path && other->path && !strcmp(one->path, other->path);
}

static void refuse_twice(struct lk_planning *planning, const struct definition *first,
			 const struct lk_taken *second)
{
	const char *name = lc_printable(planning->arena, first->symbol->name);
	const struct lk_item *item = second->item, *before = first->taken->item;
	const bool same = before != item && lk_is_given_twice(&before->what, &item->what);
	const char *how = same ? lc_format(planning->arena, "it is the same as %s, and is given twice, so that"
					   " %s is defined twice", before->name, name) :
		before == item ? lc_format(planning->arena, "it defines %s twice", name) :
		lc_format(planning->arena, "it defines %s, and so does %s", name, before->name);

	lk_refuse(planning, LAZYCUDA_CODE_DUPLICATE_SYMBOL, item, name, "one definition",
		  "%s; leave one out%s", how, same ? "" : ", or make it weak");
}

/* Prefetches the slots of all symbols of an entry: in a table larger than the caches, waiting
 * for one slot after the other is most of the work. */
static void prefetch(const struct definitions *table, const struct lazycuda_entry *entry)
{
	for (size_t k = 0; k < entry->symbol_count; k++)
		if (counts(&entry->symbols[k]))
			__builtin_prefetch(&table->slots[entry->symbols[k].hash & table->mask], 1);
}

static bool check_duplicates(struct lk_planning *planning, const struct lk_side *side)
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
			slot = find_definition(&table, &entry->symbols[k]);
			if (!slot->symbol) {
				slot->symbol = &entry->symbols[k];
				slot->taken = &side->taken[i];
				continue;
			}
			lk_add_symbol_error(planning->arena, &planning->symbol_errors,
					    &(const struct lazycuda_symbol_error){
						.name = slot->symbol->name, .twice = 1,
						.input = slot->taken->item->input,
						.other = side->taken[i].item->input });
			if (planning->refusal.code == LAZYCUDA_CODE_OK)
				refuse_twice(planning, slot, &side->taken[i]);
		}
	}
	return planning->refusal.code == LAZYCUDA_CODE_OK;
}

/* ---- all of it ---- */

bool lk_plan_result(struct lk_planning *planning, const struct lk_side *side)
{
	return (side->linker.backend != LAZYCUDA_BACKEND_NVJITLINK ||
		check_constraint(planning, "nvJitLink", planning->environment.nvjitlink)) &&
	       (side->compilation.to == LAZYCUDA_KIND_UNKNOWN ||
		check_constraint(planning, "nvrtc", planning->environment.nvrtc)) &&
	       (side->linker.backend != LAZYCUDA_BACKEND_TILEIRAS ||
		check_constraint(planning, "tileiras", side->linker.version)) &&
	       (!side->ir.any || check_constraint(planning, "libnvvm", side->ir.version)) &&
	       check_loadable(planning, side) && check_duplicates(planning, side);
}
