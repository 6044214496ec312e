/* SPDX-License-Identifier: MIT */
/* ltoir.c - the headers of LTO-IR and of Tile IR */
#include "../../stubs/base/glibc.h"
#include "formats.h"
#include "../tables/versions.h"

/* Little-endian, as all CUDA hosts are. */
struct ltoir_header {
	uint32_t magic;
	uint8_t container[2], ir[2], debug[2], llvm[2];	/* major, minor */
	uint16_t tags, level;
	uint32_t tags_end, code;	/* offsets */
};

struct tag {
	uint16_t tag, value;
};

enum { TAG_ARCH = 1, TAG_ARCH_SPECIFIC = 0x20, TAG_END = 99 };

#define LTOIR_MAGIC 0x7f4e43edu
#define MAX_TAGS 256		/* real headers have five */

static int version(const uint8_t parts[2])
{
	return 1000 * parts[0] + parts[1];
}

/* CUDA 13.0 renamed sm_101 to sm_110; 13.1 and later still write 101. */
static int arch_of(unsigned value, int toolkit)
{
	int arch = (int)value / 10;

	return arch == 101 && toolkit >= LC_CUDA(13, 0) ? 110 : arch;
}

static void take_tag(const struct tag *tag, struct lazycuda_entry *entry)
{
	if (tag->tag == TAG_ARCH)
		entry->arch = arch_of(tag->value, entry->toolkit);
	else if (tag->tag == TAG_ARCH_SPECIFIC && tag->value)
		entry->suffix = 'a';
}

/* After the last tag comes a word, zero in all LTO-IR that was seen.  Libraries of every
 * version take another value for a size and abort. */
static bool is_end(const struct lk_part *part, uint64_t offset, uint32_t tags_end)
{
	uint32_t word;

	return lk_part_read(part, offset, &word, sizeof(word)) && !word &&
	       offset + sizeof(word) == tags_end;
}

const char *lk_ltoir_read(const struct lk_part *part, struct lazycuda_entry *entry)
{
	struct ltoir_header header;
	bool ended = false;
	size_t count;

	if (!lk_part_read(part, 0, &header, sizeof(header)))
		return "ends inside its header";
	if (header.magic != LTOIR_MAGIC)
		return "does not begin as LTO-IR does";
	entry->kind = header.level == LK_LEVEL_OPTIX ? LAZYCUDA_KIND_OPTIXIR : LAZYCUDA_KIND_LTOIR;
	entry->level = header.level;
	entry->container = version(header.container);
	entry->ir = version(header.ir);
	entry->debug = version(header.debug);
	entry->llvm = version(header.llvm);
	entry->toolkit = lk_cuda_of_ltoir(entry->container, entry->ir);
	entry->flags |= LAZYCUDA_ENTRY_RELOCATABLE;
	/* Real libraries follow these offsets without checking them. */
	if (header.tags < sizeof(header) || header.tags > header.tags_end ||
	    header.tags_end > header.code || header.code >= part->length)
		return "has a damaged header: its offsets (0x0c to 0x17) lead out of it";
	count = (header.tags_end - header.tags) / sizeof(struct tag);
	if (count > MAX_TAGS)
		return "has a damaged header: too many tags";
	for (size_t i = 0; i < count; i++) {
		struct tag tag;

		if (!lk_part_read(part, header.tags + i * sizeof(tag), &tag, sizeof(tag)))
			return "ends inside the tags of its header";
		if (tag.tag == TAG_END) {
			ended = !tag.value && is_end(part, header.tags + (i + 1) * sizeof(tag),
						     header.tags_end);
			break;
		}
		take_tag(&tag, entry);
	}
	if (!ended)
		return "has a damaged header: its tags do not end";
	return entry->arch ? NULL : "has a damaged header: it names no architecture";
}

/* ---- Tile IR ---- */

struct tile_header {
	char magic[8];
	uint8_t major, minor;	/* of the first tileiras that reads it */
	uint16_t tag;
};

bool lk_tile_has_kernels(const void *bytes, size_t length)
{
	static const char dummy[] = "__$dummy_kernel";

	return !memmem(bytes, length, dummy, sizeof(dummy) - 1);
}

const char *lk_tile_read(const struct lk_part *part, struct lc_arena *arena,
			 struct lazycuda_entry *entry)
{
	struct tile_header header;
	struct lk_bytes bytes;
	const char *wrong;

	entry->kind = LAZYCUDA_KIND_TILEIR;
	if (!lk_part_read(part, 0, &header, sizeof(header)))
		return "ends inside its header";
	if (header.major)
		entry->toolkit = LC_CUDA(header.major, header.minor);
	wrong = lk_bytes_get(&bytes, part, 0, part->length, "code", arena);
	if (!wrong && !lk_tile_has_kernels(bytes.at, (size_t)part->length))
		entry->flags |= LAZYCUDA_ENTRY_NO_ROOT;
	lk_bytes_free(&bytes);
	return wrong;
}
