/* SPDX-License-Identifier: MIT */
/* planning.c - what every step of a plan uses */
#include "planning.h"
#include "../tables/text.h"
#include "../tables/versions.h"

bool lc_refuse(struct lc_refusal *refusal, enum lazycuda_code code, size_t input,
	       const char *have, const char *need, const char *message)
{
	*refusal = (struct lc_refusal){ code, input, have, need, message };
	return false;
}

void lc_note(struct lc_planning *planning, const char *note)
{
	const char **slot = lc_grow(planning->arena, &planning->notes, &planning->note_count,
				    sizeof(*slot));

	if (slot)
		*slot = note;
}

const char *lc_version(struct lc_arena *arena, int version)
{
	char text[LC_VERSION_TEXT];

	return LC_CONCAT(arena, lc_version_text(version, text));
}

bool lc_next_group(const struct lc_item *item, struct lc_group *group)
{
	const struct lazycuda_inspection *inspection = item->inspection;
	size_t at = group->first + group->count;

	for (; inspection && at < inspection->entry_count; at += group->count) {
		const char *section = inspection->entries[at]->section;

		*group = lc_group_at(inspection, at);
		if (!item->section || !section || !strcmp(section, item->section))
			return true;
	}
	return false;
}

struct lc_linker lc_linker_of(const struct lc_planning *planning, enum lazycuda_backend backend)
{
	const struct lazycuda_request *request = &planning->request;

	return lc_linker(backend, backend == LAZYCUDA_BACKEND_DRIVER ?
			 planning->environment.driver : planning->environment.nvjitlink,
			 &planning->target, request->flags,
			 request->policy == LAZYCUDA_POLICY_STRICT);
}
