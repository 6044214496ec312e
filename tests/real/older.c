/* SPDX-License-Identifier: MIT */
/*
 * older.c - calls what older runtimes lack: `older LIBRARY NODE`
 *
 * Prints for each function what it returned, what it wrote, and what the last error is.  The
 * arguments are such that a device would be needed next.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef int any_function(void *, ...);

static void *library;
static const char *node;
static uint64_t written[2];

static any_function *get(const char *name)
{
	memset(written, 0xa5, sizeof written);
	return (any_function *)dlvsym(library, name, node);
}

static void tell(const char *name, int status)
{
	int (*last)(void) = (int (*)(void))dlvsym(library, "cudaGetLastError", node);

	printf("%s %d %jx %jx last %d then %d\n", name, status, (uintmax_t)written[0],
	       (uintmax_t)written[1], last(), last());
}

static void copy_batch(const char *name)
{
	static char bytes[2][16];
	struct {
		int order, places[4];
		unsigned flags;
	} attributes = { .order = 1 };
	void *targets[] = { bytes[0] }, *sources[] = { bytes[1] }, *stream = (void *)2;
	size_t sizes[] = { 16 }, indexes[] = { 0 }, one = 1;
	any_function *copy = get(name);

	/* SIZE_MAX stands for an error of no copy.  A runtime that cannot start writes nothing. */
	memset(&written[0], 0xff, sizeof written[0]);
	tell(name, strstr(node, ".12") ?
	     copy(targets, sources, sizes, one, &attributes, indexes, one, &written[0], stream) :
	     copy(targets, sources, sizes, one, &attributes, indexes, one, stream));
}

#define CALL(name, ...) tell(name, get(name)(__VA_ARGS__))

int main(int argc, char **argv)
{
	void *stream = (void *)2;	/* the calling thread's */

	if (argc < 3 || !(library = dlopen(argv[1], RTLD_NOW)))
		return 2;
	node = argv[2];
	CALL("cudaGetDriverEntryPointByVersion", "cuInit", &written[0], 12000u, (uint64_t)0,
	     &written[1]);
	CALL("cudaGetDriverEntryPointByVersion_ptsz", "cuInit", &written[0], 12000u, (uint64_t)0,
	     &written[1]);
	CALL("cudaGetDriverEntryPoint", "cuInit", &written[0], (uint64_t)0, &written[1]);
	CALL("cudaInitDevice", (void *)0, 0u, 1u);
	CALL("cudaStreamGetId", stream, &written[0]);
	CALL("cudaStreamGetDevice", stream, &written[0]);
	copy_batch("cudaMemcpyBatchAsync");
	copy_batch("cudaMemcpyBatchAsync_ptsz");
	return 0;
}
