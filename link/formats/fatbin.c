/* SPDX-License-Identifier: MIT */
/* fatbin.c - the entries of fatbin containers */
#include "formats.h"
#include "inspection.h"
#include "../../stubs/base/count.h"
#include "../tables/versions.h"

/* Flags of an entry's header. */
#define FLAG_DEBUG	0x2u
#define FLAG_LZ4	0x2000u
#define FLAG_ZSTD	0x8000u
#define FLAG_OBFUSCATED	0x10000u
#define FLAG_A		0x100000u
#define FLAG_F		0x200000u

/* 128 is what nvFatbinAddTileIR of 13.1, 13.2 and 13.5 writes. */
static const struct {
	unsigned number;
	enum lazycuda_kind kind;
} kinds[] = {
	{ 1, LAZYCUDA_KIND_PTX },
	{ 2, LAZYCUDA_KIND_CUBIN },
	{ 8, LAZYCUDA_KIND_LTOIR },
	{ 128, LAZYCUDA_KIND_TILEIR },
};

/* Several entries packed into one, as nvFatbin 13.5 writes them with -concat. */
#define KIND_CONCATENATED 256

#define MOST_ARCH 9999

static enum lazycuda_kind kind_by_number(unsigned number)
{
	for (size_t i = 0; i < LC_COUNT(kinds); i++)
		if (kinds[i].number == number)
			return kinds[i].kind;
	return LAZYCUDA_KIND_UNKNOWN;
}

static bool inside(uint64_t offset, uint64_t size, uint64_t length)
{
	return offset <= length && size <= length - offset;
}

/* ---- errors in one entry that leave the next one reachable ---- */

static const char *check_kind(const struct lk_fatbin_entry_header *header, struct lc_arena *arena)
{
	if (header->kind == KIND_CONCATENATED)
		return "holds several entries packed into one (nvFatbin's -concat), which is not "
		       "supported";
	if (kind_by_number(header->kind) == LAZYCUDA_KIND_UNKNOWN)
		return lc_format(arena, "is of an unknown kind (%u)",
				 (unsigned)header->kind);
	if (header->arch > MOST_ARCH)
		return lc_format(arena, "is for an impossible architecture (%u)",
				 (unsigned)header->arch);
	return NULL;
}

/* The name and options have to lie inside the header: every library that gets the entry reads
 * them. */
static const char *check_texts(const struct lk_fatbin_entry_header *header,
			       const struct lk_part *part)
{
	uint32_t record[2];	/* offset and length of the options' text */

	if (header->name && !inside(header->name, header->name_length, header->header_size))
		return "has a name that lies outside its header";
	if (!header->options)
		return NULL;
	if (!inside(header->options, sizeof(record), header->header_size) ||
	    !lk_part_read(part, header->options, record, sizeof(record)) ||
	    !inside(record[0], record[1], header->header_size))
		return "has options that lie outside its header";
	return NULL;
}

static const char *check_sizes(const struct lk_fatbin_entry_header *header,
			       struct lc_arena *arena)
{
	unsigned packing = header->flags & (FLAG_LZ4 | FLAG_ZSTD);
	bool zstd = packing == FLAG_ZSTD;

	if (!header->payload_size)
		return "is empty";
	if (packing == (FLAG_LZ4 | FLAG_ZSTD))
		return "says that it is compressed with LZ4 and with ZSTD";
	if (!packing)
		return header->packed_size ?
			"says that it is compressed, but not with what" : NULL;
	if (!header->packed_size || header->packed_size > header->payload_size)
		return lc_format(arena, "has an impossible compressed size (%u of %llu bytes)",
				 (unsigned)header->packed_size,
				 (unsigned long long)header->payload_size);
	if (!header->unpacked_size ||
	    header->unpacked_size > lk_unpack_limit(zstd, header->packed_size))
		return lc_format(arena, "claims to unpack to %llu bytes, which %u bytes of %s "
				 "cannot", (unsigned long long)header->unpacked_size,
				 (unsigned)header->packed_size, zstd ? "ZSTD" : "LZ4");
	if (header->unpacked_size > LK_MOST_UNPACKED)
		return lc_format(arena, "claims to unpack to %llu bytes, and no code has more than"
				 " %llu", (unsigned long long)header->unpacked_size,
				 (unsigned long long)LK_MOST_UNPACKED);
	return NULL;
}

/* ---- what an entry's header records ---- */

static void note_versions(struct lazycuda_entry *entry,
			  const struct lk_fatbin_entry_header *header)
{
	if (entry->kind == LAZYCUDA_KIND_PTX && header->major < 100 && header->minor < 10) {
		entry->isa = header->major * 10 + header->minor;
		entry->toolkit = lk_cuda_of_isa(entry->isa);
	}
	if (entry->kind == LAZYCUDA_KIND_LTOIR && header->major < 1000 && header->minor < 1000) {
		entry->container = header->major * 1000 + header->minor;
		entry->toolkit = lk_cuda_of_ltoir(entry->container, 0);
	}
}

static void note_flags(struct lazycuda_entry *entry, const struct lk_fatbin_entry_header *header)
{
	if (header->flags & FLAG_LZ4)
		entry->flags |= LAZYCUDA_ENTRY_LZ4 | LAZYCUDA_ENTRY_UNSEEN;
	if (header->flags & FLAG_ZSTD)
		entry->flags |= LAZYCUDA_ENTRY_ZSTD | LAZYCUDA_ENTRY_UNSEEN;
	if (header->flags & FLAG_OBFUSCATED)
		entry->flags |= LAZYCUDA_ENTRY_OBFUSCATED | LAZYCUDA_ENTRY_UNSEEN;
	if (header->flags & FLAG_DEBUG)
		entry->flags |= LAZYCUDA_ENTRY_DEBUG;
	/* PTX and LTO-IR can always be linked; whether a cubin can is in its payload. */
	if (entry->kind == LAZYCUDA_KIND_PTX || entry->kind == LAZYCUDA_KIND_LTOIR)
		entry->flags |= LAZYCUDA_ENTRY_RELOCATABLE;
	if (header->flags & FLAG_A)
		entry->suffix = 'a';
	else if (header->flags & FLAG_F)
		entry->suffix = 'f';
}

/* `part` is the entry, including its header. */
static struct lazycuda_entry *make_entry(const struct lk_part *part,
					 const struct lk_fatbin_entry_header *header, int fatbin,
					 struct lc_arena *arena)
{
	struct lk_part payload = lk_part_of(part, header->header_size, header->payload_size);
	struct lazycuda_entry *entry = lk_entry_new(arena, &payload);

	if (!entry)
		return NULL;
	entry->kind = kind_by_number(header->kind);
	entry->fatbin = fatbin;
	entry->header = part->offset;
	entry->error = check_kind(header, arena);
	if (!entry->error)
		entry->error = check_texts(header, part);
	if (!entry->error)
		entry->error = check_sizes(header, arena);
	if (header->arch <= MOST_ARCH)
		entry->arch = (int)header->arch;
	note_versions(entry, header);
	note_flags(entry, header);
	if (header->packed_size && header->packed_size <= header->payload_size) {
		entry->length = header->packed_size;
		entry->unpacked = header->unpacked_size;
	}
	return entry;
}

/* ---- the walk ---- */

/* Reads the header of the entry at `at`.  The step that it gives is never zero and stays inside
 * the container. */
static const char *read_step(const struct lk_part *entries, uint64_t at,
			     struct lk_fatbin_entry_header *header)
{
	uint64_t left = entries->length - at;

	if (!lk_part_read(entries, at, header, sizeof(*header)))
		return "ends past the fatbin";
	if (header->header_size < sizeof(*header) || header->header_size % 8)
		return "has a header of impossible size";
	if (header->header_size > left || header->payload_size > left - header->header_size)
		return "ends past the fatbin";
	if (header->payload_size % 8)
		return "has a payload of impossible size";
	return NULL;
}

static const char *read_entries(const struct lk_part *entries, const struct lk_walk *walk, int fatbin)
{
	uint64_t at = 0;

	for (unsigned index = 0; at < entries->length; index++) {
		struct lk_fatbin_entry_header header;
		struct lazycuda_entry *entry;
		struct lk_part whole;
		const char *wrong;

		wrong = read_step(entries, at, &header);
		if (wrong)
			return lc_format(walk->arena, "entry %u, at 0x%llx, %s", index,
					 (unsigned long long)(entries->offset + at), wrong);
		whole = lk_part_of(entries, at, header.header_size + header.payload_size);
		entry = make_entry(&whole, &header, fatbin, walk->arena);
		if (!entry)
			return NULL;
		walk->each(entry, walk->data);
		at += whole.length;
	}
	return NULL;
}

static const char *check_container(const struct lk_fatbin_header *header, uint64_t left)
{
	if (header->magic != LK_FATBIN_MAGIC)
		return "is not a fatbin: something else begins there";
	if (header->version != 1)
		return "is of an unknown version";
	if (header->header_size < sizeof(*header) || header->header_size % 8 ||
	    header->header_size > left)
		return "has a header of impossible size";
	if (header->size > left - header->header_size)
		return "ends past what contains it";
	return NULL;
}

/* Reads the container at the beginning of the part; *length is the container's length. */
static const char *read_container(const struct lk_part *part, const struct lk_walk *walk,
				  uint64_t *length)
{
	unsigned long long place = part->offset;
	struct lk_fatbin_header header;
	struct lk_part entries;
	const char *wrong;

	wrong = lk_part_read(part, 0, &header, sizeof(header)) ?
		check_container(&header, part->length) : "is cut off in its header";
	if (wrong)
		return lc_format(walk->arena, "fatbin at 0x%llx %s", place, wrong);
	if (*walk->count == LK_MOST_CONTAINERS)
		return "has more fatbins than any file";
	*length = header.header_size + header.size;
	entries = lk_part_of(part, header.header_size, header.size);
	wrong = read_entries(&entries, walk, (*walk->count)++);
	return wrong ? lc_format(walk->arena, "fatbin at 0x%llx: %s", place, wrong) : NULL;
}

/* Most often that is `at` itself, so few bytes are read at a time. */
uint64_t lk_skip_zeros(const struct lk_part *part, uint64_t at)
{
	unsigned char bytes[8];

	for (size_t size; at < part->length; at += size) {
		size = part->length - at < sizeof(bytes) ? (size_t)(part->length - at) : sizeof(bytes);
		if (!lk_part_read(part, at, bytes, size))
			break;
		for (size_t i = 0; i < size; i++)
			if (bytes[i])
				return at + i;
	}
	return at;
}

const char *lk_fatbin_read(const struct lk_part *part, const struct lk_walk *walk)
{
	uint64_t at = 0;

	while ((at = lk_skip_zeros(part, at)) < part->length) {
		struct lk_part rest = lk_part_of(part, at, part->length - at);
		uint64_t length = 0;
		const char *wrong = read_container(&rest, walk, &length);

		if (wrong)
			return wrong;
		at += length;
	}
	return NULL;
}
