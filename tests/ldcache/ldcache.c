/* SPDX-License-Identifier: MIT */
/*
 * ldcache.c - the reader of ld.so's cache, on its own
 *
 *     ldcache find CACHE SONAME        prints the files it gives
 *     ldcache damage CACHE SONAME N    reads it N times with other bytes changed
 *                                      and cut short elsewhere; for a sanitizer
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../stubs/base/ldcache.h"

static char *read_file(const char *path, size_t *size)
{
	FILE *file = fopen(path, "rb");
	char *bytes = malloc(1 << 24);

	if (!file || !bytes) {
		perror(path);
		exit(2);
	}
	*size = fread(bytes, 1, 1 << 24, file);
	fclose(file);
	return bytes;
}

/* A copy of its own length, so that a sanitizer sees a read beyond the end. */
static void read_damaged(const char *cache, size_t size, const char *soname)
{
	size_t length = rand() % 4 ? size : (size_t)rand() % (size + 1);
	char *copy = malloc(length ? length : 1);
	struct lc_arena arena = { 0 };
	const char **files;

	memcpy(copy, cache, length);
	/* The header and the table of entries are what offsets stand in. */
	for (int i = rand() % 8; i >= 0 && length; i--)
		copy[(size_t)rand() % (rand() % 2 && length > 64 ? 64 : length)] = (char)rand();
	lc_ldcache_parse(&arena, copy, length, &soname, 1, &files);
	lc_arena_free(&arena);
	free(copy);
}

int main(int argc, char **argv)
{
	struct lc_arena arena = { 0 };
	const char **files, *soname;
	size_t size, count;
	char *cache;

	if (argc < 4)
		return 2;
	cache = read_file(argv[2], &size);
	soname = argv[3];
	if (!strcmp(argv[1], "find")) {
		count = lc_ldcache_parse(&arena, cache, size, &soname, 1, &files);
		for (size_t i = 0; i < count; i++)
			puts(files[i]);
	} else {
		srand(1);
		for (int i = 0; i < atoi(argv[4]); i++)
			read_damaged(cache, size, soname);
	}
	lc_arena_free(&arena);
	free(cache);
	return 0;
}
