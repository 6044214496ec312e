/* SPDX-License-Identifier: MIT */
/* code.c - one piece of device code of any kind */
#include "formats.h"

const char *lk_code_read(const struct lk_part *part, enum lazycuda_kind kind,
			 struct lc_arena *arena, struct lazycuda_entry *entry, bool symbols)
{
	switch (kind) {
	case LAZYCUDA_KIND_PTX:
		return lk_ptx_read(part, arena, entry, symbols);
	case LAZYCUDA_KIND_CUBIN:
		return lk_cubin_read(part, arena, entry, symbols);
	case LAZYCUDA_KIND_LTOIR:
	case LAZYCUDA_KIND_OPTIXIR:
		return lk_ltoir_read(part, entry);
	case LAZYCUDA_KIND_TILEIR:
		return lk_tile_read(part, arena, entry);
	default:
		return "is neither PTX nor a cubin nor LTO-IR";
	}
}
