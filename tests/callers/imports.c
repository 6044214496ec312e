/* SPDX-License-Identifier: MIT */
/*
 * imports.c - linked into a stub: how many different imports of this process's
 * callers the search sees
 */
#include "loader/peers.h"
#include "loader/process.h"

__attribute__((visibility("default"))) long lazycuda_test_imports(void);

long lazycuda_test_imports(void)
{
	struct lc_arena arena = { .failed = false };
	struct lc_process process;
	struct lc_peers peers;
	long imports = 0;

	lc_peers_read(&arena, &peers);
	lc_process_read(&arena, peers.stubs, peers.count, true, &process);
	for (size_t i = 0; i < process.callers.count; i++)
		for (size_t k = 0; k < lc_library.export_count; k++)
			imports += process.callers.list[i].importers[k] != NULL;
	lc_arena_free(&arena);
	return imports;
}
