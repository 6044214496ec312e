/* SPDX-License-Identifier: MIT */
/* planning.c - what every step of a plan uses */
#include "planning.h"
#include "../tables/text.h"
#include "../tables/versions.h"

bool lk_refuse(struct lk_refusal *refusal, enum lazycuda_code code, size_t input,
	       const char *have, const char *need, const char *message)
{
	*refusal = (struct lk_refusal){ code, input, have, need, message };
	return false;
}

void lk_note(struct lk_planning *planning, const char *note)
{
	const char **slot = lc_grow(planning->arena, &planning->notes, &planning->note_count,
				    sizeof(*slot));

	if (slot)
		*slot = note;
}

bool lk_texts_are_there(const char *const *texts, size_t count)
{
	if (count && !texts)
		return false;
	for (size_t i = 0; i < count; i++)
		if (!texts[i])
			return false;
	return true;
}

const char *lk_version(struct lc_arena *arena, int version)
{
	char text[LK_VERSION_TEXT];

	return LK_CONCAT(arena, lk_version_text(version, text));
}

bool lk_next_group(const struct lk_item *item, struct lk_group *group)
{
	const struct lazycuda_inspection *inspection = item->inspection;
	size_t at = group->first + group->count;

	for (; inspection && at < inspection->entry_count; at += group->count) {
		const char *section = inspection->entries[at]->section;

		*group = lk_group_at(inspection, at);
		if (!item->section || !section || !strcmp(section, item->section))
			return true;
	}
	return false;
}

bool lk_group_has_ltoir(const struct lazycuda_inspection *inspection, const struct lk_group *group)
{
	for (size_t i = group->first; i < group->first + group->count; i++)
		if (inspection->entries[i]->kind == LAZYCUDA_KIND_LTOIR)
			return true;
	return false;
}

struct lk_linker lk_linker_of(const struct lk_planning *planning, enum lazycuda_backend backend)
{
	const struct lazycuda_request *request = &planning->request;

	return lk_linker(backend, backend == LAZYCUDA_BACKEND_DRIVER ?
			 planning->environment.driver : planning->environment.nvjitlink,
			 &planning->target, request->flags,
			 request->policy == LAZYCUDA_POLICY_STRICT);
}
