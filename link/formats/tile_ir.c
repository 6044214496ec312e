/* SPDX-License-Identifier: MIT */
/* tile_ir.c - what Tile IR says of itself */
#include <string.h>

#include "../../stubs/base/glibc.h"
#include "bytes.h"
#include "formats.h"
#include "../tables/versions.h"

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
