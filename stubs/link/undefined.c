/* SPDX-License-Identifier: MIT */
/*
 * undefined.c - which name a failed link missed
 *
 * nvJitLink before 12.9 says so on stderr alone, and its log has nothing but
 * "ERROR 9: finish".
 */
#include <string.h>

#include "handle.h"

/* The linkers have these themselves. */
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
	return lc_input_of(link, step)->inspection->entries[step->entry];
}

static bool same(const struct lazycuda_symbol *one, const struct lazycuda_symbol *other)
{
	return one->hash == other->hash && !strcmp(one->name, other->name);
}

static bool is_defined(const struct lazycuda_link *link, const struct lazycuda_symbol *needed)
{
	for (size_t i = 0; i < sizeof(of_the_linker) / sizeof(*of_the_linker); i++)
		if (!strcmp(needed->name, of_the_linker[i]))
			return true;
	for (size_t i = 0; i < link->plan->step_count; i++) {
		const struct lazycuda_entry *entry = entry_of(link, i);

		for (size_t k = 0; entry && k < entry->symbol_count; k++)
			if (entry->symbols[k].defined && same(&entry->symbols[k], needed))
				return true;
	}
	return false;
}

/* LTO-IR and what only the linker can unpack show no names. */
static bool shows_names(const struct lazycuda_entry *entry)
{
	return entry && (entry->kind == LAZYCUDA_KIND_PTX || entry->kind == LAZYCUDA_KIND_CUBIN) &&
	       !(entry->flags & LAZYCUDA_ENTRY_UNSEEN);
}

const char *lc_undefined_name(const struct lazycuda_link *link)
{
	for (size_t i = 0; i < link->plan->step_count; i++)
		if (!shows_names(entry_of(link, i)))
			return NULL;
	for (size_t i = 0; i < link->plan->step_count; i++) {
		const struct lazycuda_entry *entry = entry_of(link, i);

		for (size_t k = 0; k < entry->symbol_count; k++)
			if (!entry->symbols[k].defined && !entry->symbols[k].weak &&
			    !is_defined(link, &entry->symbols[k]))
				return entry->symbols[k].name;
	}
	return NULL;
}
