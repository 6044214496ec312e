/* SPDX-License-Identifier: MIT */
/* ldcache.c - fuzzing the reader of ld.so's cache */
#include "../../stubs/base/ldcache.h"

#include "fuzzing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const sonames[] = { "libcudart.so.13", "libcuda.so.1", "" };
	struct lc_arena arena = { .failed = false };
	char *cache = copy_of(data, size);
	const char **files;
	size_t count;

	count = lc_ldcache_parse(&arena, cache, size, sonames, COUNT(sonames), &files);
	free(cache);	/* what was found is not in it */
	for (size_t i = 0; i < count; i++) {
		must(files[i][0] == '/');
		touch_text(files[i]);
	}
	lc_arena_free(&arena);
	return 0;
}
