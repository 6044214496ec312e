/* SPDX-License-Identifier: MIT */
/*
 * cost.c - linked into a stub: what it costs to look at the callers of this
 * process, in nanoseconds, the least of many times
 */
#include <time.h>

#include "loader.h"
#include "peers.h"
#include "process.h"

__attribute__((visibility("default"))) long lazycuda_test_cost(void);
__attribute__((visibility("default"))) long lazycuda_test_imports(void);

static long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000L + time.tv_nsec;
}

static long once(bool callers, long *imports)
{
	struct lc_arena arena = { .failed = false };
	struct lc_unserved unserved = { .count = 0 };
	struct lc_process process;
	struct lc_peers peers;
	long start;

	lc_peers_read(&arena, &peers);
	start = now();
	lc_process_read(&arena, peers.stubs, peers.count, callers, &process);
	for (size_t i = 0; callers && i < lc_library.major_count; i++)
		unserved = lc_callers_unserved(&process.callers, &lc_library,
					       lc_specifics.adaptors, lc_library.majors[i].newest);
	start = now() - start;
	*imports = 0;
	for (size_t i = 0; i < process.callers.count; i++)
		for (size_t k = 0; k < lc_library.export_count; k++)
			*imports += process.callers.list[i].importers[k] != NULL;
	lc_arena_free(&arena);
	return start + (long)(unserved.count & 0);
}

long lazycuda_test_cost(void)
{
	long without = 1L << 40, with = 1L << 40, imports;

	for (int i = 0; i < 50; i++) {
		long time = once(false, &imports);

		without = time < without ? time : without;
		time = once(true, &imports);
		with = time < with ? time : with;
	}
	return with - without;
}

long lazycuda_test_imports(void)
{
	long imports;

	once(true, &imports);
	return imports;
}
