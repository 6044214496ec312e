/* SPDX-License-Identifier: MIT */
/*
 * handles.c - what cublasLt makes and frees, and what the caller has made
 *
 *	handles LIBRARY NODE SIZE
 *
 * LIBRARY is a real libcublasLt or its stub, NODE the version of the names for one major, SIZE
 * what that major says of a preference in the caller's own memory.  Each
 * line has the name of an object and the status of each call.  No call needs a GPU.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef int call();

static void *library;
static const char *node;

static call *find(const char *what, const char *name)
{
	char whole[128];
	void *found;

	snprintf(whole, sizeof(whole), "cublasLt%s%s", what, name);
	found = dlvsym(library, whole, node);
	if (!found) {
		fprintf(stderr, "%s: %s\n", whole, dlerror());
		exit(2);
	}
	return (call *)found;
}

/* Sets and gets an attribute of 64 bits, or of 32. */
static void use(const char *what, void *object, int attribute, size_t size)
{
	uint64_t value = 1, found = 0;
	size_t written = 0;

	printf(" set %d", find(what, "SetAttribute")(object, attribute, &value, size));
	printf(" get %d", find(what, "GetAttribute")(object, attribute, &found, size, &written));
	printf(" read %d %d", (int)found, (int)written);
	printf(" destroy %d\n", find(what, "Destroy")(object));
}

int main(int argc, char **argv)
{
	static uint64_t own[256];
	void *object = &own;
	(void)argc;

	library = dlopen(argv[1], RTLD_NOW);
	node = argv[2];
	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		return 2;
	}
	printf("layout create %d", find("MatrixLayout", "Create")(&object, 0, (uint64_t)16,
								   (uint64_t)8, (int64_t)16));
	use("MatrixLayout", object, 5, 4);	/* how many matrices */
	printf("description create %d", find("MatmulDesc", "Create")(&object, 68, 0));
	use("MatmulDesc", object, 3, 4);	/* the transposition of A */
	printf("transform create %d", find("MatrixTransformDesc", "Create")(&object, 0));
	use("MatrixTransformDesc", object, 2, 4);
	printf("preference create %d", find("MatmulPreference", "Create")(&object));
	use("MatmulPreference", object, 1, 8);	/* the size of the workspace */
	/* What the header's inline function passes is the caller's struct, and its size. */
	printf("own init %d\n", find("MatmulPreference", "Init_internal")(own, (size_t)atoi(argv[3])));
	return 0;
}
