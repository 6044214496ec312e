/* SPDX-License-Identifier: MIT */
/* kind_names.c - what each kind is called */
#include "../tables/kinds.h"

static const char *const kind_names[LK_KINDS] = {
	[LAZYCUDA_KIND_UNKNOWN] = "unknown",
	[LAZYCUDA_KIND_PTX] = "ptx",
	[LAZYCUDA_KIND_CUBIN] = "cubin",
	[LAZYCUDA_KIND_LTOIR] = "ltoir",
	[LAZYCUDA_KIND_FATBIN] = "fatbin",
	[LAZYCUDA_KIND_OBJECT] = "object",
	[LAZYCUDA_KIND_ARCHIVE] = "archive",
	[LAZYCUDA_KIND_SHARED] = "shared",
	[LAZYCUDA_KIND_SOURCE] = "source",
	[LAZYCUDA_KIND_THIN_ARCHIVE] = "thin archive",
	[LAZYCUDA_KIND_BITCODE] = "bitcode",
	[LAZYCUDA_KIND_OFFLOAD] = "offload binary",
	[LAZYCUDA_KIND_OPTIXIR] = "optixir",
	[LAZYCUDA_KIND_TILEIR] = "tileir",
	[LAZYCUDA_KIND_LLVMIR] = "llvm ir",
	[LAZYCUDA_KIND_BUNDLE] = "offload bundle",
};

const char *lazycuda_kind_name(enum lazycuda_kind kind)
{
	return (unsigned)kind < LK_KINDS ? kind_names[kind] : kind_names[0];
}
