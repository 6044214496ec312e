/* SPDX-License-Identifier: MIT */
/* choose.c - which entry of a container is taken */
#include "choose.h"
#include "../../stubs/base/count.h"

#include <limits.h>

/* Most preferred first. */
static const struct preference {
	enum lazycuda_kind kind;
	bool doubt;
} preferences[] = {
	{ LAZYCUDA_KIND_LTOIR, false },
	{ LAZYCUDA_KIND_LTOIR, true },
	{ LAZYCUDA_KIND_CUBIN, false },
	{ LAZYCUDA_KIND_PTX, false },
	{ LAZYCUDA_KIND_CUBIN, true },
	{ LAZYCUDA_KIND_PTX, true },
};

struct lk_group lk_group_at(const struct lazycuda_inspection *inspection, size_t first)
{
	int fatbin = inspection->entries[first]->fatbin;
	size_t end = first + 1;

	while (fatbin >= 0 && end < inspection->entry_count &&
	       inspection->entries[end]->fatbin == fatbin)
		end++;
	return (struct lk_group){ first, end - first };
}

static size_t rank_of(enum lazycuda_kind kind, bool doubt)
{
	for (size_t i = 0; i < LC_COUNT(preferences); i++)
		if (preferences[i].kind == kind && preferences[i].doubt == doubt)
			return i;
	return LC_COUNT(preferences);
}

/* To a target 90a, an entry for 90a is closer than one for 90f, which is closer than
 * one for 90. */
static int closeness(const struct lazycuda_entry *entry)
{
	return 4 * entry->arch + (entry->suffix == 'a' ? 2 : entry->suffix == 'f' ? 1 : 0);
}

/* Bitcode of an offload binary, which libnvvm may compile.  In an archive it may be the host's. */
static bool is_ir(const struct lazycuda_entry *entry)
{
	return entry->kind == LAZYCUDA_KIND_BITCODE && !entry->error && entry->fatbin >= 0;
}

/* What it is compiled to goes to the targets that PTX of its architecture goes to. */
static bool ir_fits(const struct lk_linker *linker, const struct lazycuda_entry *entry)
{
	const struct lk_arch arch = { entry->arch, entry->suffix, true };

	return !entry->arch ||
	       lk_arch_fits(LAZYCUDA_KIND_PTX, &arch, &linker->target, linker->version);
}

static enum lazycuda_code objection(const struct lk_linker *linker,
				    const struct lazycuda_entry *entry)
{
	if (is_ir(entry))
		return ir_fits(linker, entry) ? LAZYCUDA_CODE_OK : LAZYCUDA_CODE_ARCH_MISMATCH;
	return lk_accept(linker, entry).code;
}

/* Notes why no entry of a group can be taken: the code that all entries share, or
 * NO_USABLE_ENTRY if they differ. */
static void note_objections(const struct lk_linker *linker,
			    const struct lazycuda_inspection *inspection,
			    const struct lk_group *group, struct lk_choice *choice)
{
	for (size_t i = group->first; i < group->first + group->count; i++) {
		enum lazycuda_code code = objection(linker, inspection->entries[i]);

		if (!code)
			continue;
		if (choice->code && choice->code != code) {
			choice->code = LAZYCUDA_CODE_NO_USABLE_ENTRY;
			choice->offender = LAZYCUDA_NO_INDEX;
			return;
		}
		choice->code = code;
		choice->offender = i;
	}
	if (!choice->code)
		choice->code = LAZYCUDA_CODE_NO_USABLE_ENTRY;
}

struct lk_choice lk_choose(const struct lk_linker *linker,
			   const struct lazycuda_inspection *inspection,
			   const struct lk_group *group, bool lto)
{
	struct lk_choice choice = { .entry = LAZYCUDA_NO_INDEX, .offender = LAZYCUDA_NO_INDEX };
	size_t best = LC_COUNT(preferences);
	int closest = INT_MIN;

	for (size_t i = group->first; i < group->first + group->count; i++) {
		const struct lazycuda_entry *entry = inspection->entries[i];
		struct lk_acceptance is;
		size_t rank;

		if (entry->kind == LAZYCUDA_KIND_LTOIR && !lto)
			continue;
		is = lk_accept(linker, entry);
		rank = rank_of(entry->kind, is.doubt);
		if (is.code || rank > best || (rank == best && closeness(entry) < closest))
			continue;
		best = rank;
		closest = closeness(entry);
		choice.entry = i;
		choice.form = is.form;
		choice.doubt = is.doubt;
	}
	if (choice.entry == LAZYCUDA_NO_INDEX)
		note_objections(linker, inspection, group, &choice);
	return choice;
}

static bool fits(const struct lk_linker *linker, const struct lazycuda_entry *entry)
{
	struct lk_arch arch = { entry->arch, entry->suffix, false };

	return !entry->error && lk_arch_fits(entry->kind, &arch, &linker->target, linker->version);
}

size_t lk_choose_ir(const struct lk_linker *linker, const struct lazycuda_inspection *inspection,
		    const struct lk_group *group)
{
	size_t best = LAZYCUDA_NO_INDEX;

	for (size_t i = group->first; i < group->first + group->count; i++) {
		const struct lazycuda_entry *entry = inspection->entries[i];

		if (is_ir(entry) && ir_fits(linker, entry) &&
		    (best == LAZYCUDA_NO_INDEX ||
		     closeness(entry) >= closeness(inspection->entries[best])))
			best = i;
	}
	return best;
}

bool lk_group_is_ltoir(const struct lk_linker *linker,
		       const struct lazycuda_inspection *inspection, const struct lk_group *group)
{
	bool ltoir = false;

	for (size_t i = group->first; i < group->first + group->count; i++) {
		const struct lazycuda_entry *entry = inspection->entries[i];

		if (entry->kind == LAZYCUDA_KIND_LTOIR)
			ltoir |= fits(linker, entry);
		else if (entry->kind == LAZYCUDA_KIND_PTX && fits(linker, entry))
			return false;
		else if (entry->kind == LAZYCUDA_KIND_CUBIN && fits(linker, entry) &&
			 !(entry->flags & LAZYCUDA_ENTRY_LINKED))
			return false;
	}
	return ltoir;
}
