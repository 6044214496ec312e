/* SPDX-License-Identifier: MIT */
/* choice_text.c - which entry of a container is taken, in words */
#include <string.h>

#include "choose.h"
#include "../tables/text.h"

#define PHRASE_ROOM 512		/* longer texts are cut */
#define LISTED 16		/* entries named of one container */

struct phrase {
	size_t length;
	char bytes[PHRASE_ROOM];	/* not zeroed: see begin() */
};

static void begin(struct phrase *text)
{
	text->length = 0;
}

static void add(struct phrase *text, const char *word)
{
	size_t length = strlen(word), room = PHRASE_ROOM - 1 - text->length;

	if (length > room)
		length = room;
	memcpy(text->bytes + text->length, word, length);
	text->length += length;
}

static void add_arch(struct phrase *text, int sm, char suffix)
{
	const struct lk_arch arch = { .sm = sm, .suffix = suffix };
	char name[LK_ARCH_TEXT];

	add(text, lk_arch_text(&arch, name));
}

static const char *short_name(enum lazycuda_kind kind)
{
	return kind == LAZYCUDA_KIND_LTOIR ? "lto" : lazycuda_kind_name(kind);
}

static void add_entry(struct phrase *text, const struct lazycuda_entry *entry)
{
	add(text, short_name(entry->kind));
	if (entry->arch > 0) {
		add(text, " ");
		add_arch(text, entry->arch, entry->suffix);
	}
}

static void add_group(struct phrase *text, const struct lazycuda_inspection *inspection,
		      const struct lk_group *group)
{
	add(text, "{");
	for (size_t i = 0; i < group->count && i < LISTED; i++) {
		add(text, i ? ", " : "");
		add_entry(text, inspection->entries[group->first + i]);
	}
	add(text, group->count > LISTED ? ", ...}" : "}");
}

static const char *finish(struct lc_arena *arena, const struct phrase *text)
{
	const char *copy = lc_copy(arena, text->bytes, text->length);

	return copy ? copy : "";
}

const char *lk_group_text(struct lc_arena *arena, const struct lazycuda_inspection *inspection,
			  const struct lk_group *group)
{
	struct phrase text;

	begin(&text);
	add_group(&text, inspection, group);
	return finish(arena, &text);
}

const char *lk_member_name(struct lc_arena *arena, const char *file, const char *member)
{
	const char *name = LK_CONCAT(arena, file, "(", member, ")");

	return lk_is_plain(name) ? name : lc_printable(arena, name);
}

/* Returns true if an entry is preferable to the one that was taken. */
static bool comes_before(const struct lazycuda_entry *entry, const struct lazycuda_entry *taken,
			 bool lto)
{
	if (entry->kind == LAZYCUDA_KIND_LTOIR && !lto)
		return false;
	if (entry->kind != taken->kind)
		return entry->kind == LAZYCUDA_KIND_LTOIR ||
		       (entry->kind == LAZYCUDA_KIND_CUBIN && taken->kind == LAZYCUDA_KIND_PTX);
	return entry->arch > taken->arch;
}

/* Adds " (not ptx sm_90: PTX_TOO_NEW)" for the first preferable entry that was passed
 * over for another reason than its architecture. */
static void add_passed_over(struct phrase *text, const struct lk_linker *linker,
			    const struct lazycuda_inspection *inspection,
			    const struct lk_group *group, const struct lazycuda_entry *taken,
			    bool lto)
{
	for (size_t i = group->first; i < group->first + group->count; i++) {
		const struct lazycuda_entry *entry = inspection->entries[i];
		enum lazycuda_code code;

		if (!comes_before(entry, taken, lto))
			continue;
		code = lk_accept(linker, entry).code;
		if (code == LAZYCUDA_CODE_OK || code == LAZYCUDA_CODE_ARCH_MISMATCH)
			continue;
		add(text, " (not ");
		add_entry(text, entry);
		add(text, ": ");
		add(text, lazycuda_code_name(code));
		add(text, ")");
		return;
	}
}

const char *lk_choice_reason(struct lc_arena *arena, const struct lk_linker *linker,
			     const struct lazycuda_inspection *inspection,
			     const struct lk_group *group, const struct lk_choice *choice,
			     bool lto)
{
	const struct lazycuda_entry *taken = inspection->entries[choice->entry];
	const struct lk_arch *target = &linker->target;
	struct phrase text;

	if (taken->fatbin < 0)
		return "the only code in it";
	begin(&text);
	add_entry(&text, taken);
	add(&text, " of ");
	add_group(&text, inspection, group);
	add(&text, ": ");
	if (group->count == 1) {
		add(&text, "the only one");
	} else {
		bool exact = taken->arch == target->sm && taken->suffix == target->suffix;

		add(&text, exact ? "just for " : "the highest not above ");
		add_arch(&text, target->sm, target->suffix);
	}
	add_passed_over(&text, linker, inspection, group, taken, lto);
	return finish(arena, &text);
}
