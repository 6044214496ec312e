/* SPDX-License-Identifier: MIT */
/* images.c - which images of offload binaries are alternatives of one source */
#include <string.h>

#include "containers.h"
#include "images.h"

#define NO_SOURCE ((size_t)-1)

struct image_source {
	size_t last, count;	/* its images, the last first */
	bool named;		/* of one of them the names are known */
	size_t at;		/* where its next image goes */
};

/* Which source an image with this name was of last.  Names that others may define as well, such as
 * those of templates, tell only images apart that have no others. */
struct name_slot {
	const struct lazycuda_symbol *symbol;
	bool weak;
	size_t source;
};

/* Images in a row, whose sources are to be told. */
struct image_row {
	struct lazycuda_entry **entries;
	size_t count;
	struct image_source *sources;
	size_t source_count, current;
	size_t *of, *before;	/* of an image: its source, and the image of this before it */
	struct name_slot *slots;
	size_t mask;
};

static bool is_known(const struct lazycuda_entry *entry, bool weak)
{
	for (size_t i = 0; !entry->error && i < entry->symbol_count; i++)
		if (entry->symbols[i].defined && entry->symbols[i].weak == weak)
			return true;
	return false;
}

static struct name_slot *find_name(const struct image_row *row,
				   const struct lazycuda_symbol *symbol, bool weak)
{
	for (size_t i = symbol->hash;; i++) {
		struct name_slot *slot = &row->slots[i & row->mask];

		if (!slot->symbol ||
		    (slot->symbol->hash == symbol->hash && slot->weak == weak &&
		     !strcmp(slot->symbol->name, symbol->name)))
			return slot;
	}
}

/* The source that defines one of the image's names, or NO_SOURCE. */
static size_t source_by_name(const struct image_row *row, const struct lazycuda_entry *entry,
			     bool weak)
{
	for (size_t i = 0; i < entry->symbol_count; i++) {
		const struct lazycuda_symbol *symbol = &entry->symbols[i];
		const struct name_slot *slot;

		if (!symbol->defined || symbol->weak != weak)
			continue;
		slot = find_name(row, symbol, weak);
		if (slot->symbol)
			return slot->source;
	}
	return NO_SOURCE;
}

static void note_image_names(struct image_row *row, const struct lazycuda_entry *entry, bool weak,
		       size_t source)
{
	for (size_t i = 0; i < entry->symbol_count; i++)
		if (entry->symbols[i].defined && entry->symbols[i].weak == weak)
			*find_name(row, &entry->symbols[i], weak) = (struct name_slot){
				&entry->symbols[i], weak, source };
}

/* Images of one source differ in architecture or in kind. */
static bool has_such_image(const struct image_row *row, const struct image_source *source,
			   const struct lazycuda_entry *entry)
{
	size_t at = source->last;

	for (size_t i = 0; i < source->count; i++, at = row->before[at])
		if (row->entries[at]->kind == entry->kind &&
		    row->entries[at]->arch == entry->arch &&
		    row->entries[at]->suffix == entry->suffix)
			return true;
	return source->count == LK_MOST_ALTERNATIVES;
}

static void place_image(struct image_row *row, size_t image)
{
	const struct lazycuda_entry *entry = row->entries[image];
	const bool weak = !is_known(entry, false), known = !weak || is_known(entry, true);
	size_t to = known ? source_by_name(row, entry, weak) : row->current;
	struct image_source *source;

	/* Nothing is known of the names of bitcode, of LTO-IR, and of an image without any: the
	 * place in the file decides. */
	if (to == NO_SOURCE && row->current != NO_SOURCE && !row->sources[row->current].named)
		to = row->current;
	if (to == NO_SOURCE || has_such_image(row, &row->sources[to], entry)) {
		to = row->source_count++;
		row->sources[to] = (struct image_source){ .count = 0 };
	}
	source = &row->sources[to];
	row->before[image] = source->last;
	row->of[image] = row->current = to;
	source->last = image;
	source->count++;
	source->named |= known;
	if (known)
		note_image_names(row, entry, weak, to);
}

/* Puts images of one source beside each other, and numbers the sources from `first` on. */
static void sort_images(struct image_row *row, struct lazycuda_entry **sorted, int first)
{
	size_t at = 0;

	for (size_t i = 0; i < row->source_count; i++) {
		row->sources[i].at = at;
		at += row->sources[i].count;
	}
	for (size_t i = 0; i < row->count; i++) {
		row->entries[i]->fatbin = first + (int)row->of[i];
		row->entries[i]->flags &= ~(LK_IMAGE | LK_FIRST_IMAGE);
		sorted[row->sources[row->of[i]].at++] = row->entries[i];
	}
	memcpy(row->entries, sorted, row->count * sizeof(*sorted));
}

/* Returns how many sources there are; 0 on allocation failure. */
static size_t tell_sources(struct lc_arena *arena, struct lazycuda_entry **entries, size_t count,
			   int first)
{
	struct image_row row = { .entries = entries, .count = count, .current = NO_SOURCE };
	struct lazycuda_entry **sorted = lc_alloc(arena, count * sizeof(*sorted));
	size_t names = 0, slots = 2;

	for (size_t i = 0; i < count; i++)
		names += entries[i]->symbol_count;
	while (slots < 2 * names)
		slots *= 2;
	row.mask = slots - 1;
	row.slots = lc_alloc(arena, slots * sizeof(*row.slots));
	row.sources = lc_alloc(arena, count * sizeof(*row.sources));
	row.of = lc_alloc(arena, count * sizeof(*row.of));
	row.before = lc_alloc(arena, count * sizeof(*row.before));
	if (!sorted || !row.slots || !row.sources || !row.of || !row.before)
		return 0;
	for (size_t i = 0; i < count; i++)
		place_image(&row, i);
	sort_images(&row, sorted, first);
	return row.source_count;
}

void lk_tell_sources(struct lc_arena *arena, struct lazycuda_entry **entries, size_t count,
		     int *containers)
{
	int more = 0;

	for (size_t i = 0, end; i < count; i = end) {
		int first = entries[i]->fatbin;

		end = i + 1;
		if (entries[i]->flags & LK_IMAGE) {
			int last = first;

			for (; end < count && entries[end]->flags & LK_IMAGE &&
			       !(entries[end]->flags & LK_FIRST_IMAGE); end++)
				last = entries[end]->fatbin;
			more += (int)tell_sources(arena, entries + i, end - i, first + more) -
				(last - first + 1);
		} else if (first >= 0) {
			entries[i]->fatbin += more;
		}
	}
	*containers += more;
}
