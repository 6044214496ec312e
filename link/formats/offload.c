/* SPDX-License-Identifier: MIT */
/* offload.c - the images of LLVM's offload binaries, which clang's newer driver puts into objects, and
 * which of them are alternatives of one source */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "../../stubs/base/count.h"
#include "../../stubs/base/printable.h"
#include "formats.h"
#include "symbols.h"
#include "../tables/arch.h"

/*
 * A binary is a header, entries, strings and images; every offset counts from its first byte.
 * Version 1 has one entry, and a file of several images is several binaries in a row.  Version 2
 * has any number of entries, and strings with a length.  Version 3 may be compressed.
 */
struct header {
	unsigned char magic[4];
	uint32_t version;
	uint64_t size;			/* of the binary, with its header */
	uint64_t entries;		/* offset */
	uint64_t entry_count;		/* in version 1 the size of the entry */
};

/* What version 3 adds to the header. */
struct header_end {
	uint64_t inflated;		/* 0: not compressed */
};

struct image_entry {
	uint16_t label, producer;
	uint32_t flags;
	uint64_t strings, string_count;
	uint64_t image, length;
};

/* A pair of offsets; from version 2 on the length of the value follows. */
struct string_entry {
	uint64_t key, value, length;
};

#define NEWEST_BINARY 3
#define SEVERAL_SINCE 2
#define COMPRESSED_SINCE 3
#define FLAG_METADATA 0x1u		/* strings alone */
#define TEXT 32				/* of a value; none that is looked at is longer */

/* HIP was 3 before the kinds became bits; CUDA was 2 all along. */
#define PRODUCER_CUDA 2
static const struct {
	unsigned number;
	const char *name;
} producers[] = {
	{ 1, "OpenMP" },
	{ 3, "HIP" },
	{ 4, "HIP" },
	{ 8, "SYCL" },
};

/* What a label lets an image be.  clang labels cubins and bitcode as objects, by the ending of
 * their files; 0 and later labels say nothing. */
static const unsigned of_labels[] = {
	[1] = 1u << LAZYCUDA_KIND_CUBIN | 1u << LAZYCUDA_KIND_BITCODE | 1u << LAZYCUDA_KIND_LTOIR,
	[2] = 1u << LAZYCUDA_KIND_BITCODE,
	[3] = 1u << LAZYCUDA_KIND_CUBIN,
	[4] = 1u << LAZYCUDA_KIND_FATBIN,
	[5] = 1u << LAZYCUDA_KIND_PTX,
};
static const char *const label_names[] = {
	[1] = "object", [2] = "bitcode", [3] = "cubin", [4] = "fatbin", [5] = "ptx",
};

struct images {
	const struct lk_walk *walk;
	uint32_t version;		/* of the binary before this one */
	bool in_row;			/* the next image goes on with a row of images */
	bool left_out;			/* some image: only the first is passed on */
};

/* ---- strings ---- */

struct texts {
	char triple[TEXT], arch[TEXT];
};

/* Copies a value, up to a NUL.  A longer one is cut off, and then is no known word. */
static bool read_value(const struct lk_part *binary, const struct string_entry *string,
		       bool sized, char text[TEXT])
{
	uint64_t left = binary->length - string->value;
	size_t length = TEXT - 1;

	if (sized && string->length > left)
		return false;
	if (sized && string->length < left)
		left = string->length;
	if (left < length)
		length = (size_t)left;
	memset(text, 0, TEXT);
	return lk_part_read(binary, string->value, text, length);
}

static const char *read_strings(const struct lk_part *binary, uint32_t version,
				const struct image_entry *entry, struct texts *texts)
{
	const bool sized = version >= SEVERAL_SINCE;
	const size_t size = sized ? sizeof(struct string_entry) :
				    offsetof(struct string_entry, length);

	*texts = (struct texts){ .triple = "" };
	if (entry->strings > binary->length ||
	    entry->string_count > (binary->length - entry->strings) / size)
		return "has strings that lie outside the binary";
	for (uint64_t i = 0; i < entry->string_count; i++) {
		struct string_entry string = { .length = 0 };
		char key[8] = "";
		uint64_t left;

		if (!lk_part_read(binary, entry->strings + i * size, &string, size) ||
		    string.key >= binary->length || string.value > binary->length)
			return "has a string that lies outside the binary";
		left = binary->length - string.key;
		lk_part_read(binary, string.key, key, left < sizeof(key) ? (size_t)left : sizeof(key));
		if ((!strncmp(key, "triple", sizeof(key)) &&
		     !read_value(binary, &string, sized, texts->triple)) ||
		    (!strncmp(key, "arch", sizeof(key)) &&
		     !read_value(binary, &string, sized, texts->arch)))
			return "has a string that lies outside the binary";
	}
	return NULL;
}

/* ---- one image ---- */

static const char *producer_name(unsigned producer)
{
	for (size_t i = 0; i < LC_COUNT(producers); i++)
		if (producers[i].number == producer)
			return producers[i].name;
	return "no producer that is known";
}

static bool is_foreign(const struct image_entry *entry, const struct texts *texts)
{
	return entry->producer != PRODUCER_CUDA ||
	       (*texts->triple && strncmp(texts->triple, "nvptx", strlen("nvptx")));
}

static const char *check_label(const struct image_entry *entry, enum lazycuda_kind kind,
			       struct lc_arena *arena)
{
	if (kind != LAZYCUDA_KIND_PTX && kind != LAZYCUDA_KIND_CUBIN &&
	    kind != LAZYCUDA_KIND_LTOIR && kind != LAZYCUDA_KIND_BITCODE &&
	    kind != LAZYCUDA_KIND_FATBIN)
		return kind == LAZYCUDA_KIND_UNKNOWN ? "is of an unknown kind" :
			lc_format(arena, "is %s, which is not supported in an offload binary",
				  lazycuda_kind_name(kind));
	if (entry->label < LC_COUNT(of_labels) && of_labels[entry->label] &&
	    !(of_labels[entry->label] >> kind & 1))
		return lc_format(arena, "is labelled %s and holds %s", label_names[entry->label],
				 lazycuda_kind_name(kind));
	return NULL;
}

/* Passes on for what else than CUDA an image is. */
static void leave_out(struct images *images, const struct lk_part *image,
		      const struct image_entry *header, const struct texts *texts)
{
	struct lc_arena *arena = images->walk->arena;
	struct lazycuda_entry *entry = images->left_out ? NULL : lk_entry_new(arena, image);

	images->left_out = true;
	if (!entry)
		return;
	entry->flags |= LK_FOREIGN;
	entry->error = lc_format(arena, "an image (at 0x%llx) is of %s, for %s%s%s, and is left out; it is"
				 " not CUDA code", (unsigned long long)image->offset,
				 header->producer == PRODUCER_CUDA ? "CUDA" :
				 producer_name(header->producer),
				 *texts->triple ? lc_printable(arena, texts->triple) : "no triple",
				 *texts->arch ? " " : "", lc_printable(arena, texts->arch));
	images->walk->each(entry, images->walk->data);
}

/* Each image is a container of its own until lk_tell_sources(). */
static const char *take_image(struct images *images, const struct lk_part *image,
			      const struct image_entry *header, const struct texts *texts)
{
	enum lazycuda_kind kind = lk_recognise(image);
	const struct lk_walk *walk = images->walk;
	const char *wrong = check_label(header, kind, walk->arena);
	struct lazycuda_entry *entry;
	struct lk_arch arch;

	if (kind == LAZYCUDA_KIND_FATBIN && !wrong) {
		images->in_row = false;
		return lk_fatbin_read(image, walk);
	}
	if (*walk->count == LK_MOST_CONTAINERS)
		return "has more images than any file";
	entry = lk_entry_new(walk->arena, image);
	if (!entry)
		return NULL;
	entry->kind = kind;
	entry->error = image->length ? wrong : "is empty";
	if (lk_arch_parse(texts->arch, &arch)) {
		entry->arch = arch.sm;
		entry->suffix = arch.suffix;
	}
	entry->fatbin = (*walk->count)++;
	entry->flags |= LK_IMAGE | (images->in_row ? 0 : LK_FIRST_IMAGE);
	images->in_row = true;
	walk->each(entry, walk->data);
	return NULL;
}

/* ---- one binary ---- */

static const char *read_entry(struct images *images, const struct lk_part *binary,
			      uint32_t version, uint64_t at)
{
	struct image_entry entry;
	struct lk_part image;
	struct texts texts;
	const char *wrong;

	if (!lk_part_read(binary, at, &entry, sizeof(entry)) ||
	    !lk_part_has(binary, entry.image, entry.length))
		return "has an image that lies outside the binary";
	wrong = read_strings(binary, version, &entry, &texts);
	if (wrong || (version >= SEVERAL_SINCE && entry.flags & FLAG_METADATA))
		return wrong;
	image = lk_part_of(binary, entry.image, entry.length);
	if (!is_foreign(&entry, &texts))
		return take_image(images, &image, &entry, &texts);
	leave_out(images, &image, &entry, &texts);
	return NULL;
}

static const char *read_entries(struct images *images, const struct lk_part *binary,
				const struct header *header)
{
	const uint64_t count = header->version < SEVERAL_SINCE ? 1 : header->entry_count;

	if (header->entries > binary->length ||
	    count > (binary->length - header->entries) / sizeof(struct image_entry))
		return "has entries that lie outside it";
	if (header->version >= SEVERAL_SINCE || header->version != images->version)
		images->in_row = false;
	images->version = header->version;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t at = header->entries + i * sizeof(struct image_entry);
		const char *wrong = read_entry(images, binary, header->version, at);

		if (wrong)
			return lc_format(images->walk->arena, "entry %llu, at 0x%llx, %s",
					 (unsigned long long)i,
					 (unsigned long long)(binary->offset + at), wrong);
	}
	return NULL;
}

static const char *check_binary(const struct lk_part *rest, const struct header *header,
				struct lc_arena *arena)
{
	struct header_end end = { 0 };

	if (memcmp(header->magic, LK_OFFLOAD_MAGIC, sizeof(header->magic)))
		return "is not one: something else begins there";
	if (!header->version || header->version > NEWEST_BINARY)
		return lc_format(arena, "is of version %u, and versions 1 to %d are known",
				 header->version, NEWEST_BINARY);
	if (header->size > rest->length)
		return "ends past what contains it";
	if (header->size < sizeof(*header))
		return "is of impossible size";
	if (header->version < COMPRESSED_SINCE)
		return NULL;
	if (header->size < sizeof(*header) + sizeof(end) ||
	    !lk_part_read(rest, sizeof(*header), &end, sizeof(end)))
		return "is of impossible size";
	return end.inflated ? "is compressed, which is not supported; compile with"
			      " --no-offload-compress" : NULL;
}

static const char *read_binary(struct images *images, const struct lk_part *rest,
			       uint64_t *length)
{
	struct lk_part binary;
	struct header header;
	const char *wrong;

	if (!lk_part_read(rest, 0, &header, sizeof(header)))
		return "is cut off in its header";
	wrong = check_binary(rest, &header, images->walk->arena);
	if (wrong)
		return wrong;
	*length = header.size;
	binary = lk_part_of(rest, 0, header.size);
	return read_entries(images, &binary, &header);
}

const char *lk_offload_read(const struct lk_part *part, const struct lk_walk *walk)
{
	struct images images = { .walk = walk };
	uint64_t at = 0;

	while ((at = lk_skip_zeros(part, at)) < part->length) {
		struct lk_part rest = lk_part_of(part, at, part->length - at);
		uint64_t length;
		const char *wrong = read_binary(&images, &rest, &length);

		if (wrong)
			return lc_format(walk->arena, "offload binary at 0x%llx %s",
					 (unsigned long long)rest.offset, wrong);
		at += length;
	}
	return NULL;
}

/* ---- alternatives ---- */

/*
 * An alternative that is not taken is lost, so only what tells that two images are of one source
 * makes alternatives of them.  Too many sources are seen by the linker; one too few by nobody.
 */

/* Images of one source in an offload binary: none is compiled for so many. */
#define MOST_ALTERNATIVES 64

/* Images in a row, whose sources are to be told. */
struct row_image {
	struct lazycuda_entry *entry;
	size_t index;
	size_t like;		/* an image of the same source, itself or one before it */
	size_t source;
	uint64_t key[3];	/* by which images are sorted */
};

static size_t first_like(struct row_image *images, size_t image)
{
	while (images[image].like != image)
		image = images[image].like = images[images[image].like].like;
	return image;
}

static void make_like(struct row_image *images, size_t one, size_t other)
{
	one = first_like(images, one);
	other = first_like(images, other);
	images[one > other ? one : other].like = one > other ? other : one;
}

static int compare_keys(const void *one, const void *other)
{
	const struct row_image *a = *(struct row_image *const *)one, *b = *(struct row_image *const *)other;

	for (size_t i = 0; i < LC_COUNT(a->key); i++)
		if (a->key[i] != b->key[i])
			return a->key[i] < b->key[i] ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

static void set_key(struct row_image *image, uint64_t one, uint64_t two, uint64_t three)
{
	image->key[0] = one;
	image->key[1] = two;
	image->key[2] = three;
}

static bool is_same_key(const struct row_image *one, const struct row_image *other)
{
	return !memcmp(one->key, other->key, sizeof(one->key));
}

/* ---- by names ---- */

static bool is_root_name(const struct lazycuda_symbol *symbol)
{
	return symbol->defined && (symbol->kernel || symbol->flags & LAZYCUDA_SYMBOL_VARIABLE);
}

/*
 * The key of what an image has to have in common with another of its source, if the two share no name
 * that is defined once in a link: all names of kernels and variables, and where it has none of these,
 * all of functions.  A kernel that others do not see has a name that is not known; then the key is 0.
 * Hashes are keyed, so that nobody can choose names for their sums.
 */
static void take_set(struct row_image *image)
{
	const struct lazycuda_entry *entry = image->entry;
	uint64_t count = 0, sum = 0, squares = 0;
	bool roots = false;

	for (size_t i = 0; i < entry->symbol_count; i++)
		roots |= is_root_name(&entry->symbols[i]);
	for (size_t i = 0; i < entry->symbol_count; i++) {
		const struct lazycuda_symbol *symbol = &entry->symbols[i];
		const uint64_t hash = (uint64_t)symbol->hash << 1 | symbol->weak;

		if (roots ? !is_root_name(symbol) : !symbol->defined)
			continue;
		count++;
		sum += hash;
		squares += hash * hash;
	}
	if (roots || entry->flags & LAZYCUDA_ENTRY_NO_ROOT)
		set_key(image, 1 + 2 * count + roots, sum, squares);
	else
		set_key(image, 0, 0, 0);
}

static void compare_sets(struct row_image *images, struct row_image **order, size_t count)
{
	for (size_t i = 0; i < count; i++)
		take_set(&images[i]);
	qsort(order, count, sizeof(*order), compare_keys);
	for (size_t i = 1; i < count; i++)
		if (order[i]->key[0] && is_same_key(order[i], order[i - 1]))
			make_like(images, order[i - 1]->index, order[i]->index);
}

/* A name that may be defined more than once tells nothing. */
static void compare_names(struct lc_arena *arena, struct row_image *images, size_t count)
{
	struct lk_symbols names = { .arena = arena };
	size_t *last, total = 0;

	for (size_t i = 0; i < count; i++)
		total += images[i].entry->symbol_count;
	last = lc_alloc(arena, total * sizeof(*last));	/* the last image so far with each name */
	for (size_t i = 0; last && i < count; i++)
		for (size_t k = 0; k < images[i].entry->symbol_count; k++) {
			const struct lazycuda_symbol *symbol = &images[i].entry->symbols[k], *found;

			if (!symbol->defined || symbol->weak)
				continue;
			found = lk_names_find(&names, symbol->name);
			if (found)
				make_like(images, last[found - names.list], i);
			else
				lk_names_add(&names, symbol->name);
			if (names.count)
				last[found ? (size_t)(found - names.list) : names.count - 1] = i;
		}
}

/* ---- by the file ---- */

static uint64_t place_of(const struct lazycuda_entry *entry)
{
	return (uint64_t)entry->kind << 40 | (uint64_t)entry->arch << 8 | (unsigned char)entry->suffix;
}

/* Images of one source differ in architecture or in kind, whatever the file says. */
static bool is_one_source(const struct row_image *images, size_t count)
{
	if (!(images[0].entry->flags & LK_ONE_SOURCE) || count > MOST_ALTERNATIVES)
		return false;
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < i; j++)
			if (place_of(images[i].entry) == place_of(images[j].entry))
				return false;
	return true;
}

/* ---- sources ---- */

/* Puts images of one source beside each other, and numbers the sources from `first` on.  Returns how
 * many there are. */
static size_t number_sources(struct row_image *images, struct row_image **order, size_t count,
			     struct lazycuda_entry **entries, int first)
{
	size_t source = 0;

	/* Of images that are like each other, the nth of a kind and architecture is of the nth source. */
	for (size_t i = 0; i < count; i++)
		set_key(&images[i], first_like(images, i), place_of(images[i].entry), 0);
	qsort(order, count, sizeof(*order), compare_keys);
	for (size_t i = 0; i < count; i++)
		order[i]->source = i && is_same_key(order[i], order[i - 1]) ? order[i - 1]->source + 1 : 0;
	/* The first image of a source tells its place among the sources. */
	for (size_t i = 0; i < count; i++)
		set_key(&images[i], first_like(images, i), images[i].source, 0);
	qsort(order, count, sizeof(*order), compare_keys);
	for (size_t i = 0; i < count; i++)
		order[i]->source = i && is_same_key(order[i], order[i - 1]) ? order[i - 1]->source :
									      order[i]->index;
	for (size_t i = 0; i < count; i++)
		set_key(&images[i], images[i].source, 0, 0);
	qsort(order, count, sizeof(*order), compare_keys);
	for (size_t i = 0; i < count; i++) {
		source += i && !is_same_key(order[i], order[i - 1]);
		entries[i] = order[i]->entry;
		entries[i]->fatbin = first + (int)source;
		entries[i]->flags &= ~(LK_IMAGE | LK_FIRST_IMAGE | LK_ONE_SOURCE);
	}
	return source + 1;
}

/* Returns how many sources there are; 0 on allocation failure. */
static size_t tell_sources(struct lc_arena *arena, struct lazycuda_entry **entries, size_t count,
			   int first)
{
	struct row_image *images = lc_alloc(arena, count * sizeof(*images));
	struct row_image **order = lc_alloc(arena, count * sizeof(*order));

	if (!images || !order)
		return 0;
	for (size_t i = 0; i < count; i++) {
		images[i] = (struct row_image){ .entry = entries[i], .index = i, .like = i };
		order[i] = &images[i];
	}
	if (is_one_source(images, count)) {
		for (size_t i = 1; i < count; i++)
			make_like(images, 0, i);
	} else {
		compare_names(arena, images, count);
		compare_sets(images, order, count);
	}
	return number_sources(images, order, count, entries, first);
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
