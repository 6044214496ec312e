/* SPDX-License-Identifier: MIT */
/* payload.c - the code of one entry: as stored, unpacked, or in a fatbin of its own */
#include <stdlib.h>
#include <string.h>

#include "containers.h"
#include "inspection.h"
#include "ptx_text.h"
#include "unpack.h"

/* Copies `length` bytes of the source into new memory, with a NUL after them. */
static const char *load(const struct lk_source *source, uint64_t offset, uint64_t length,
			unsigned char **bytes)
{
	/* Check before allocating. */
	if (!lk_source_has(source, offset, length))
		return "lies outside the file";
	*bytes = length < SIZE_MAX ? malloc((size_t)length + 1) : NULL;
	if (!*bytes)
		return LK_NO_MEMORY;
	(*bytes)[length] = '\0';
	if (lk_source_read(source, offset, *bytes, (size_t)length))
		return NULL;
	free(*bytes);
	*bytes = NULL;
	return "cannot be read any more: the file was changed";
}

static const char *unpack(int zstd, const unsigned char *from, size_t from_length,
			  uint64_t length, unsigned char **code)
{
	const char *wrong = lk_unpack_missing(zstd);

	/* Check for the library before allocating. */
	if (wrong)
		return wrong;
	*code = length < SIZE_MAX ? malloc((size_t)length + 1) : NULL;
	if (!*code)
		return LK_NO_MEMORY;
	(*code)[length] = '\0';
	wrong = lk_unpack(zstd, from, from_length, *code, (size_t)length);
	if (!wrong)
		return NULL;
	free(*code);
	*code = NULL;
	return wrong;
}

static const char *load_unpacked(const struct lk_source *source,
				 const struct lazycuda_entry *entry, unsigned char **code)
{
	int zstd = (entry->flags & LAZYCUDA_ENTRY_ZSTD) != 0;
	unsigned char *packed = NULL;
	const char *wrong;

	if (source->bytes)
		return unpack(zstd, source->bytes + entry->offset, (size_t)entry->length,
			      entry->unpacked, code);
	wrong = load(source, entry->offset, entry->length, &packed);
	if (!wrong)
		wrong = unpack(zstd, packed, (size_t)entry->length, entry->unpacked, code);
	free(packed);
	return wrong;
}

const char *lk_payload_load(const struct lk_source *source, const struct lazycuda_entry *entry,
			    bool unpacked, unsigned char **code, size_t *length)
{
	bool packed = entry->flags & LK_PACKED;
	bool ascii = unpacked && entry->flags & LAZYCUDA_ENTRY_NOT_ASCII;
	const char *wrong;

	*code = NULL;
	if (unpacked && entry->flags & LAZYCUDA_ENTRY_OBFUSCATED)
		return "is obfuscated: nvJitLink alone unpacks it";
	unpacked &= packed;
	*length = (size_t)(unpacked ? entry->unpacked : entry->length);
	wrong = unpacked ? load_unpacked(source, entry, code) :
			   load(source, entry->offset, entry->length, code);
	/* Fatbins pad PTX, and some compilers count its NUL. */
	if (!wrong && entry->kind == LAZYCUDA_KIND_PTX && unpacked == packed)
		*length = strlen((const char *)*code);
	if (!wrong && ascii)
		lk_ptx_make_ascii((char *)*code, *length);
	return wrong;
}

/* ---- for callers ---- */

static const struct lk_inspection *whole(const struct lazycuda_inspection *inspection)
{
	return (const struct lk_inspection *)inspection;
}

static const char *find_entry(const struct lazycuda_inspection *inspection, size_t index,
			      const struct lazycuda_entry **entry)
{
	if (!inspection || index >= inspection->entry_count)
		return "is not an entry of the inspection";
	*entry = inspection->entries[index];
	return (*entry)->error;
}

static void *answer(void *bytes, size_t *length, const char *wrong, const char **error)
{
	if (error)
		*error = wrong;
	if (!bytes)
		*length = 0;
	return bytes;
}

void *lazycuda_entry_payload(const struct lazycuda_inspection *inspection, size_t index,
			     int unpacked, size_t *length, const char **error)
{
	const struct lazycuda_entry *entry = NULL;
	const char *wrong = find_entry(inspection, index, &entry);
	unsigned char *code = NULL;

	/* An inspection that unpacked the entry has counted it against the limit already. */
	if (!wrong && unpacked && (entry->flags & LK_PACKED) &&
	    entry->unpacked > whole(inspection)->unpack_limit)
		wrong = "unpacks to more than the limit on what is unpacked of the file"
			" (unpack_limit)";
	if (!wrong)
		wrong = lk_payload_load(&whole(inspection)->source, entry, unpacked, &code, length);
	return answer(code, length, wrong, error);
}

/* Copies the entry with its header and padding, and puts a container header before it. */
static const char *load_fatbin(const struct lk_source *source, const struct lazycuda_entry *entry,
			       unsigned char **fatbin, size_t *length)
{
	struct lk_fatbin_header container = { LK_FATBIN_MAGIC, 1, sizeof(container), 0 };
	struct lk_fatbin_entry_header header;
	uint64_t begin = entry->header;

	if (entry->fatbin < 0 || entry->header == entry->offset)
		return "is in no fatbin";
	if (!lk_source_read(source, begin, &header, sizeof(header)) ||
	    header.header_size != entry->offset - begin ||
	    !lk_source_has(source, entry->offset, header.payload_size))
		return "cannot be read any more: the file was changed";
	container.size = header.header_size + header.payload_size;
	*length = (size_t)(sizeof(container) + container.size);
	*fatbin = malloc(*length);
	if (!*fatbin)
		return LK_NO_MEMORY;
	memcpy(*fatbin, &container, sizeof(container));
	if (lk_source_read(source, begin, *fatbin + sizeof(container), (size_t)container.size))
		return NULL;
	free(*fatbin);
	*fatbin = NULL;
	return "cannot be read any more: the file was changed";
}

void *lazycuda_entry_fatbin(const struct lazycuda_inspection *inspection, size_t index,
			    size_t *length, const char **error)
{
	const struct lazycuda_entry *entry = NULL;
	const char *wrong = find_entry(inspection, index, &entry);
	unsigned char *fatbin = NULL;

	if (!wrong)
		wrong = load_fatbin(&whole(inspection)->source, entry, &fatbin, length);
	return answer(fatbin, length, wrong, error);
}

struct lazycuda_entry *lk_entry_new(struct lc_arena *arena, const struct lk_part *part)
{
	struct lazycuda_entry *entry = lc_alloc(arena, sizeof(*entry));

	if (entry) {
		entry->size = sizeof(*entry);
		entry->level = -1;
		entry->fatbin = -1;
		entry->header = entry->offset = part->offset;
		entry->length = entry->unpacked = part->length;
	}
	return entry;
}
