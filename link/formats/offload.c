/* SPDX-License-Identifier: MIT */
/* offload.c - the images of LLVM's offload binaries: what clang's newer driver puts into objects */
#include <stddef.h>
#include <string.h>

#include "../../stubs/base/count.h"
#include "../../stubs/base/printable.h"
#include "containers.h"
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
	struct lc_arena *arena;
	int *count;
	lk_each_entry *each;
	void *data;
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

		if (!lk_part_read(binary, entry->strings + i * size, &string, size))
			return "cannot be read";
		if (string.key >= binary->length || string.value > binary->length)
			return "has a string that lies outside the binary";
		left = binary->length - string.key;
		if (!lk_part_read(binary, string.key, key,
				  left < sizeof(key) ? (size_t)left : sizeof(key)))
			return "cannot be read";
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

/* For what else than CUDA an image is. */
static const char *foreign(const struct lk_part *image, const struct image_entry *entry,
			   const struct texts *texts, struct lc_arena *arena)
{
	return lc_format(arena, "an image (at 0x%llx) is of %s, for %s%s%s, and is left out; it is"
			 " not CUDA code", (unsigned long long)image->offset,
			 entry->producer == PRODUCER_CUDA ? "CUDA" : producer_name(entry->producer),
			 *texts->triple ? lc_printable(arena, texts->triple) : "no triple",
			 *texts->arch ? " " : "", lc_printable(arena, texts->arch));
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

static const char *leave_out(struct images *images, const struct lk_part *image,
			     const struct image_entry *header, const struct texts *texts)
{
	struct lazycuda_entry *entry = images->left_out ? NULL :
				       lk_entry_new(images->arena, image);

	images->left_out = true;
	if (!entry)
		return NULL;
	entry->flags |= LK_FOREIGN;
	entry->error = foreign(image, header, texts, images->arena);
	images->each(entry, images->data);
	return NULL;
}

static const char *take_fatbin(struct images *images, const struct lk_part *image)
{
	images->in_row = false;
	return lk_fatbin_read(image, images->arena, images->count, images->each, images->data);
}

/* Each image is a container of its own until lk_tell_sources(). */
static const char *take_image(struct images *images, const struct lk_part *image,
			      const struct image_entry *header, const struct texts *texts)
{
	enum lazycuda_kind kind = lk_recognise(image);
	const char *wrong = check_label(header, kind, images->arena);
	struct lazycuda_entry *entry;
	struct lk_arch arch;

	if (kind == LAZYCUDA_KIND_FATBIN && !wrong)
		return take_fatbin(images, image);
	if (*images->count == LK_MOST_CONTAINERS)
		return "has more images than any file";
	entry = lk_entry_new(images->arena, image);
	if (!entry)
		return NULL;
	entry->kind = kind;
	entry->error = image->length ? wrong : "is empty";
	if (lk_arch_parse(texts->arch, &arch)) {
		entry->arch = arch.sm;
		entry->suffix = arch.suffix;
	}
	entry->fatbin = (*images->count)++;
	entry->flags |= LK_IMAGE | (images->in_row ? 0 : LK_FIRST_IMAGE);
	images->in_row = true;
	images->each(entry, images->data);
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

	if (!lk_part_read(binary, at, &entry, sizeof(entry)))
		return "cannot be read";
	if (!lk_part_has(binary, entry.image, entry.length))
		return "has an image that lies outside the binary";
	wrong = read_strings(binary, version, &entry, &texts);
	if (wrong || (version >= SEVERAL_SINCE && entry.flags & FLAG_METADATA))
		return wrong;
	image = lk_part_of(binary, entry.image, entry.length);
	return is_foreign(&entry, &texts) ? leave_out(images, &image, &entry, &texts) :
					    take_image(images, &image, &entry, &texts);
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
			return lc_format(images->arena, "entry %llu, at 0x%llx, %s",
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

	if (!lk_part_has(rest, 0, sizeof(header)))
		return "is cut off in its header";
	if (!lk_part_read(rest, 0, &header, sizeof(header)))
		return "cannot be read";
	wrong = check_binary(rest, &header, images->arena);
	if (wrong)
		return wrong;
	*length = header.size;
	binary = lk_part_of(rest, 0, header.size);
	return read_entries(images, &binary, &header);
}

const char *lk_offload_read(const struct lk_part *part, struct lc_arena *arena, int *count,
			    lk_each_entry *each, void *data)
{
	struct images images = {
		.arena = arena, .count = count, .each = each, .data = data,
	};
	uint64_t at = 0;

	while ((at = lk_skip_zeros(part, at)) < part->length) {
		struct lk_part rest = lk_part_of(part, at, part->length - at);
		uint64_t length;
		const char *wrong = read_binary(&images, &rest, &length);

		if (wrong)
			return lc_format(arena, "offload binary at 0x%llx %s",
					 (unsigned long long)rest.offset, wrong);
		at += length;
	}
	return NULL;
}
