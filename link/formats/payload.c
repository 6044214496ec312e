/* SPDX-License-Identifier: MIT */
/* payload.c - the code of one entry: as stored, unpacked, or in a fatbin of its own */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "../../stubs/base/by_name.h"
#include "../../stubs/base/glibc.h"
#include "../../stubs/entry/note.h"
#include "formats.h"
#include "inspection.h"

/* ---- the libraries that unpack, loaded when they are needed ---- */

const char LK_NO_MEMORY[] = "memory ran out";

LC_DLOPEN_NOTE(
	LC_DLOPEN("\"liblz4.so.1\"", "lz4", "device code that is compressed with LZ4") ","
	LC_DLOPEN("\"libzstd.so.1\"", "zstd", "device code that is compressed with ZSTD"))

typedef int lz4_decompress(const char *from, char *into, int length, int size);
typedef size_t zstd_decompress(void *into, size_t size, const void *from, size_t length);

static struct format {
	const char *library, *function;
	const char *missing, *damaged;
	/* One step produces at most step_out bytes and consumes at least step_in. */
	uint64_t step_out, step_in;
	void *address;		/* NULL: not looked up yet; MISSING; or the function */
} formats[] = {
	/* One byte of LZ4 adds at most 255 to the length of a match. */
	{ "liblz4.so.1", "LZ4_decompress_safe",
	  "is compressed with LZ4 and liblz4.so.1 is not installed",
	  "cannot be unpacked: its LZ4 data is damaged", 255, 1, NULL },
	/* The densest block of ZSTD is a header of three bytes and one byte that repeats. */
	{ "libzstd.so.1", "ZSTD_decompress",
	  "is compressed with ZSTD and libzstd.so.1 is not installed",
	  "cannot be unpacked: its ZSTD data is damaged", 128 * 1024, 4, NULL },
};

#define MISSING ((void *)-1)

/*
 * Returns the function, or MISSING.  No lock is held across dlopen(): two threads that
 * look it up at the same time find the same function, and the library is never unloaded.
 */
static void *find_decoder(struct format *format)
{
	void *address = __atomic_load_n(&format->address, __ATOMIC_ACQUIRE);
	void *library;

	if (address)
		return address;
	library = lc_open_by_name(format->library);
	address = library ? dlsym(library, format->function) : NULL;
	if (!address)
		address = MISSING;
	__atomic_store_n(&format->address, address, __ATOMIC_RELEASE);
	return address;
}

const char *lk_unpack_missing(bool zstd)
{
	struct format *format = &formats[zstd];

	return find_decoder(format) == MISSING ? format->missing : NULL;
}

uint64_t lk_unpack_limit(bool zstd, uint64_t length)
{
	const struct format *format = &formats[zstd];
	uint64_t steps = length / format->step_in + 1;

	return steps > UINT64_MAX / format->step_out ? UINT64_MAX : steps * format->step_out;
}

/* ZSTD returns errors as numbers larger than any size.  It allocates its own working memory. */
#define ZSTD_NO_MEMORY ((size_t)-64)

/* A payload that is to unpack to exactly `size` bytes.  The library is there. */
static const char *unpack(bool zstd, const void *from, size_t length, void *into, size_t size)
{
	struct format *format = &formats[zstd];
	void *function = find_decoder(format);
	size_t result;

	if (zstd)
		result = ((zstd_decompress *)function)(into, size, from, length);
	else if (length > INT_MAX || size > INT_MAX)
		return format->damaged;
	else
		result = (size_t)((lz4_decompress *)function)(from, into, (int)length, (int)size);
	if (zstd && result == ZSTD_NO_MEMORY)
		return LK_NO_MEMORY;
	return result == size ? NULL : format->damaged;
}

/* ---- loading ---- */

/* New memory, with a NUL after it. */
static const char *allocate(uint64_t length, unsigned char **bytes)
{
	*bytes = length < SIZE_MAX ? malloc((size_t)length + 1) : NULL;
	if (!*bytes)
		return LK_NO_MEMORY;
	(*bytes)[length] = '\0';
	return NULL;
}

static void drop(unsigned char **bytes)
{
	free(*bytes);
	*bytes = NULL;
}

/* Copies `length` bytes of the source. */
static const char *load(const struct lk_source *source, uint64_t offset, uint64_t length,
			unsigned char **bytes)
{
	const char *wrong;

	/* Check before allocating. */
	if (!lk_source_has(source, offset, length))
		return "lies outside the file";
	wrong = allocate(length, bytes);
	if (wrong || lk_source_read(source, offset, *bytes, (size_t)length))
		return wrong;
	drop(bytes);
	return "cannot be read any more: the file was changed";
}

static const char *load_unpacked(const struct lk_source *source,
				 const struct lazycuda_entry *entry, unsigned char **code)
{
	bool zstd = entry->flags & LAZYCUDA_ENTRY_ZSTD;
	unsigned char *packed = NULL;
	const char *wrong = lk_unpack_missing(zstd);

	if (!wrong && !source->bytes)
		wrong = load(source, entry->offset, entry->length, &packed);
	if (!wrong)
		wrong = allocate(entry->unpacked, code);
	if (!wrong)
		wrong = unpack(zstd, packed ? packed : source->bytes + entry->offset,
			       (size_t)entry->length, *code, (size_t)entry->unpacked);
	free(packed);
	if (wrong)
		drop(code);
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
	if (allocate(*length, fatbin))
		return LK_NO_MEMORY;
	memcpy(*fatbin, &container, sizeof(container));
	if (lk_source_read(source, begin, *fatbin + sizeof(container), (size_t)container.size))
		return NULL;
	drop(fatbin);
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
