/* SPDX-License-Identifier: MIT */
/*
 * undefined.c - finds the name that a failed link missed
 *
 * nvJitLink before 12.9 reports the name only on stderr; its log has nothing but
 * "ERROR 9: finish".
 */
#include <string.h>

#include "handle.h"
#include "../formats/symbols.h"

/* The linkers provide these themselves. */
static const char *const of_the_linker[] = {
	"vprintf", "malloc", "free", "__assertfail", "__cuda_syscall", "cnpGetParameterBuffer",
	"cnpLaunchDevice",
};

static const struct lazycuda_entry *entry_of(const struct lazycuda_link *link, size_t i)
{
	const struct lazycuda_step *step = link->plan->steps[i];
	const struct lazycuda_inspection *inspection = link->compiled[i].inspection;

	if (inspection)
		return inspection->entry_count == 1 ? inspection->entries[0] : NULL;
	if (step->entry == LAZYCUDA_NO_INDEX)
		return NULL;
	return lk_input_of(link, step)->inspection->entries[step->entry];
}

static void collect_defined(const struct lazycuda_link *link, struct lk_symbols *defined)
{
	const struct lazycuda_symbol plain = { .name = NULL };

	for (size_t i = 0; i < sizeof(of_the_linker) / sizeof(*of_the_linker); i++)
		lk_symbols_add(defined, of_the_linker[i], strlen(of_the_linker[i]), &plain);
	for (size_t i = 0; i < link->plan->step_count; i++) {
		const struct lazycuda_entry *entry = entry_of(link, i);

		for (size_t k = 0; k < entry->symbol_count; k++)
			if (entry->symbols[k].defined)
				lk_symbols_add(defined, entry->symbols[k].name,
					       strlen(entry->symbols[k].name), &plain);
	}
}

/* LTO-IR shows no names, nor does code that was not unpacked. */
static bool shows_names(const struct lazycuda_entry *entry)
{
	return entry && (entry->kind == LAZYCUDA_KIND_PTX || entry->kind == LAZYCUDA_KIND_CUBIN) &&
	       !(entry->flags & LAZYCUDA_ENTRY_UNSEEN);
}

const char *lk_undefined_name(const struct lazycuda_link *link)
{
	struct lk_symbols defined = { .arena = link->arena };

	for (size_t i = 0; i < link->plan->step_count; i++)
		if (!shows_names(entry_of(link, i)))
			return NULL;
	collect_defined(link, &defined);
	for (size_t i = 0; i < link->plan->step_count; i++) {
		const struct lazycuda_entry *entry = entry_of(link, i);

		for (size_t k = 0; k < entry->symbol_count; k++)
			if (!entry->symbols[k].defined && !entry->symbols[k].weak &&
			    !lk_symbols_find(&defined, entry->symbols[k].name,
					     strlen(entry->symbols[k].name)))
				return entry->symbols[k].name;
	}
	return NULL;
}
