/* SPDX-License-Identifier: MIT */
/* images.c - which images of offload binaries are alternatives of one source */
#include <string.h>

#include "containers.h"
#include "images.h"
#include "symbols.h"

/*
 * An alternative that is not taken is lost, so only what tells that two images are of one source
 * makes alternatives of them.  Too many sources are seen by the linker; one too few by nobody.
 */

#define NO_SOURCE ((size_t)-1)

/* What an image has to have in common with another of its source, if the two share no name that
 * is defined once in a link: all names of kernels and variables, and where it has none of these,
 * all of functions. */
struct name_set {
	bool known, roots;	/* `roots`: it is the names of kernels and variables */
	size_t count, sum;	/* of the names, and of their hashes */
};

struct image {
	struct lazycuda_entry *entry;
	struct name_set set;
	size_t like;		/* an image of the same source, itself or one before it */
	size_t source;
	size_t first_source;	/* of the images that are like this one; NO_SOURCE: none yet */
};

struct image_source {
	size_t count, at;	/* of its images, and where the next one goes */
	size_t next;		/* the next source of images that are like each other */
};

/* A name, and the last image so far that defines it.  One that may be defined more than once
 * differs from one that may not. */
struct name_slot {
	const struct lazycuda_symbol *symbol;
	size_t image;
};

/* Images in a row, whose sources are to be told. */
struct image_row {
	struct image *images;
	size_t count;
	struct image_source *sources;
	size_t source_count;
	struct name_slot *names;
	const struct image **sets, **places;	/* the first image with a set of names; the last
						   one like others, of its kind and architecture */
	size_t name_mask, image_mask;
};

/* ---- images that are like each other ---- */

static size_t first_like(const struct image_row *row, size_t image)
{
	struct image *images = row->images;

	while (images[image].like != image)
		image = images[image].like = images[images[image].like].like;
	return image;
}

static void make_like(struct image_row *row, size_t one, size_t other)
{
	one = first_like(row, one);
	other = first_like(row, other);
	row->images[one > other ? one : other].like = one > other ? other : one;
}

/* ---- by names ---- */

static bool is_root_name(const struct lazycuda_symbol *symbol)
{
	return symbol->defined && (symbol->kernel || symbol->flags & LAZYCUDA_SYMBOL_VARIABLE);
}

static bool is_in_set(const struct name_set *set, const struct lazycuda_symbol *symbol)
{
	return set->roots ? is_root_name(symbol) : symbol->defined;
}

/* A kernel that others do not see has a name that is not known. */
static struct name_set set_of(const struct lazycuda_entry *entry)
{
	struct name_set set = { .known = false };

	for (size_t i = 0; i < entry->symbol_count; i++)
		set.roots |= is_root_name(&entry->symbols[i]);
	set.known = set.roots || entry->flags & LAZYCUDA_ENTRY_NO_ROOT;
	for (size_t i = 0; i < entry->symbol_count; i++)
		if (is_in_set(&set, &entry->symbols[i])) {
			set.count++;
			set.sum += entry->symbols[i].hash * (entry->symbols[i].weak ? (size_t)3 : 1);
		}
	return set;
}

static struct name_slot *find_name(const struct image_row *row,
				   const struct lazycuda_symbol *symbol)
{
	for (size_t i = symbol->hash;; i++) {
		struct name_slot *slot = &row->names[i & row->name_mask];

		if (!slot->symbol ||
		    (slot->symbol->hash == symbol->hash && slot->symbol->weak == symbol->weak &&
		     !strcmp(slot->symbol->name, symbol->name)))
			return slot;
	}
}

static void compare_names(struct image_row *row, size_t image)
{
	const struct lazycuda_entry *entry = row->images[image].entry;

	for (size_t i = 0; i < entry->symbol_count; i++) {
		const struct lazycuda_symbol *symbol = &entry->symbols[i];
		struct name_slot *slot;

		if (!symbol->defined)
			continue;
		slot = find_name(row, symbol);
		if (slot->symbol && !symbol->weak)
			make_like(row, slot->image, image);
		*slot = (struct name_slot){ symbol, image };
	}
}

/* Whether an image before it has the same set of names as one whose names were noted last. */
static bool is_same_set(const struct image_row *row, const struct image *before, size_t image)
{
	const struct name_set *set = &row->images[image].set;
	const struct lazycuda_entry *entry = before->entry;

	if (before->set.sum != set->sum || before->set.count != set->count ||
	    before->set.roots != set->roots)
		return false;
	for (size_t i = 0; i < entry->symbol_count; i++)
		if (is_in_set(set, &entry->symbols[i]) &&
		    find_name(row, &entry->symbols[i])->image != image)
			return false;
	return true;
}

static void compare_sets(struct image_row *row, size_t image)
{
	for (size_t i = row->images[image].set.sum;; i++) {
		const struct image **slot = &row->sets[i & row->image_mask];

		if (*slot && !is_same_set(row, *slot, image))
			continue;
		if (*slot)
			make_like(row, (size_t)(*slot - row->images), image);
		else
			*slot = &row->images[image];
		return;
	}
}

/* ---- by the file ---- */

static bool is_same_place(const struct lazycuda_entry *one, const struct lazycuda_entry *other)
{
	return one->kind == other->kind && one->arch == other->arch &&
	       one->suffix == other->suffix;
}

/* Images of one source differ in architecture or in kind, whatever the file says. */
static bool is_one_source(const struct image_row *row)
{
	if (!(row->images[0].entry->flags & LK_ONE_SOURCE) || row->count > LK_MOST_ALTERNATIVES)
		return false;
	for (size_t i = 0; i < row->count; i++)
		for (size_t j = 0; j < i; j++)
			if (is_same_place(row->images[i].entry, row->images[j].entry))
				return false;
	return true;
}

static void compare_images(struct image_row *row)
{
	const bool one = is_one_source(row);

	for (size_t i = 0; i < row->count; i++) {
		if (one) {
			make_like(row, 0, i);
			continue;
		}
		compare_names(row, i);
		if (row->images[i].set.known)
			compare_sets(row, i);
	}
}

/* ---- sources ---- */

/* The slot of the last image that is like this one and of the same kind and architecture. */
static const struct image **find_place(const struct image_row *row, size_t image)
{
	const struct lazycuda_entry *entry = row->images[image].entry;
	const size_t like = first_like(row, image);
	const uint64_t key[] = { like, (uint64_t)entry->kind << 40 | (uint64_t)entry->arch << 8 |
				       (unsigned char)entry->suffix };

	for (size_t i = lk_symbol_hash((const char *)key, sizeof(key));; i++) {
		const struct image **slot = &row->places[i & row->image_mask];

		if (!*slot || (is_same_place((*slot)->entry, entry) &&
			       first_like(row, (size_t)(*slot - row->images)) == like))
			return slot;
	}
}

/* Of images that are like each other, the nth of a kind and architecture is of the nth source. */
static void place_image(struct image_row *row, size_t image)
{
	const struct image **slot = find_place(row, image);
	size_t *source = *slot ? &row->sources[(*slot)->source].next :
				 &row->images[first_like(row, image)].first_source;

	if (*source == NO_SOURCE) {
		row->sources[row->source_count] = (struct image_source){ .next = NO_SOURCE };
		*source = row->source_count++;
	}
	row->images[image].source = *source;
	row->sources[*source].count++;
	*slot = &row->images[image];
}

/* Puts images of one source beside each other, and numbers the sources from `first` on. */
static void sort_images(struct image_row *row, struct lazycuda_entry **entries, int first)
{
	size_t at = 0;

	for (size_t i = 0; i < row->source_count; i++) {
		row->sources[i].at = at;
		at += row->sources[i].count;
	}
	for (size_t i = 0; i < row->count; i++) {
		const struct image *image = &row->images[i];

		image->entry->fatbin = first + (int)image->source;
		image->entry->flags &= ~(LK_IMAGE | LK_FIRST_IMAGE | LK_ONE_SOURCE);
		if (image->entry->kind == LAZYCUDA_KIND_BITCODE)
			image->entry->symbol_count = 0;
		entries[row->sources[image->source].at++] = image->entry;
	}
}

/* Twice as many slots as things to be found, a power of two. */
static size_t slots_for(size_t count)
{
	size_t slots = 2;

	while (slots < 2 * count)
		slots *= 2;
	return slots;
}

/* Returns how many sources there are; 0 on allocation failure. */
static size_t tell_sources(struct lc_arena *arena, struct lazycuda_entry **entries, size_t count,
			   int first)
{
	struct image_row row = { .count = count };
	size_t names = 0;

	row.images = lc_alloc(arena, count * sizeof(*row.images));
	for (size_t i = 0; row.images && i < count; i++) {
		row.images[i] = (struct image){ .entry = entries[i], .set = set_of(entries[i]),
						.like = i, .first_source = NO_SOURCE };
		names += entries[i]->symbol_count;
	}
	row.name_mask = slots_for(names) - 1;
	row.image_mask = slots_for(count) - 1;
	row.names = lc_alloc(arena, (row.name_mask + 1) * sizeof(*row.names));
	row.sets = lc_alloc(arena, (row.image_mask + 1) * sizeof(*row.sets));
	row.places = lc_alloc(arena, (row.image_mask + 1) * sizeof(*row.places));
	row.sources = lc_alloc(arena, count * sizeof(*row.sources));
	if (!row.images || !row.names || !row.sets || !row.places || !row.sources)
		return 0;
	compare_images(&row);
	for (size_t i = 0; i < count; i++)
		place_image(&row, i);
	sort_images(&row, entries, first);
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
			while (end < count && entries[end]->flags & LK_IMAGE &&
			       !(entries[end]->flags & LK_FIRST_IMAGE))
				end++;
			more += (int)tell_sources(arena, entries + i, end - i, first + more) -
				(int)(end - i);
		} else if (first >= 0) {
			entries[i]->fatbin += more;
		}
	}
	*containers += more;
}
