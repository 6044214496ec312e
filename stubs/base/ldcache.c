/* SPDX-License-Identifier: MIT */
/* ldcache.c - the dynamic loader's cache */
#include "ldcache.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "glibc.h"
#include "regular.h"

/*
 * The format that ldconfig has written since glibc 2.2, laid out as in glibc's
 * sysdeps/generic/dl-cache.h.  Before 2.32 a cache in an older format could
 * precede it in the file.  Offsets count from the magic.
 */
#define MAGIC "glibc-ld.so.cache1.1"

struct cache_header {
	char magic[sizeof(MAGIC) - 1];
	uint32_t count;
	uint32_t strings_size;
	uint32_t unused[5];
};

struct cache_entry {
	int32_t flags;
	uint32_t soname, file;
	uint32_t os_version;
	uint64_t hwcap;
};

static const char *string_at(const char *cache, size_t size, uint32_t offset)
{
	return offset < size && memchr(cache + offset, 0, size - offset) ? cache + offset : NULL;
}

/* Returns true if the cache has these bytes there. */
static inline bool is_at(const char *cache, size_t size, uint32_t offset, const char *text, size_t length)
{
	if (length > size || offset > size - length)
		return false;
	/* Names differ late, behind "lib" and the like: most calls of memcmp() are saved. */
	return !length || (cache[offset + length - 1] == text[length - 1] &&
			   !memcmp(cache + offset, text, length));
}

/* The length of the names' common prefix. */
static size_t shared_length(const char *const *names, size_t count)
{
	size_t length = count ? strlen(names[0]) : 0;

	for (size_t i = 1; i < count; i++)
		for (size_t k = 0; k < length; k++)
			if (names[i][k] != names[0][k])
				length = k;
	return length;
}

size_t lc_ldcache_parse(struct lc_arena *arena, const char *cache, size_t size,
			const char *const *sonames, size_t soname_count, const char ***files)
{
	const char *start = cache ? memmem(cache, size, MAGIC, sizeof(MAGIC) - 1) : NULL;
	const size_t shared = shared_length(sonames, soname_count);
	struct cache_header header;
	size_t found = 0;

	*files = NULL;
	if (!start || !soname_count)
		return 0;
	size -= (size_t)(start - cache);
	if (size < sizeof(header))
		return 0;
	memcpy(&header, start, sizeof(header));
	if (header.count > (size - sizeof(header)) / sizeof(struct cache_entry))
		return 0;
	for (uint32_t i = 0; i < header.count; i++) {
		const char *file, **slot;
		struct cache_entry entry;

		memcpy(&entry, start + sizeof(header) + i * sizeof(entry), sizeof(entry));
		/* This rules out most entries. */
		if (!is_at(start, size, entry.soname, sonames[0], shared))
			continue;
		for (size_t s = 0; s < soname_count; s++) {
			if (!is_at(start, size, entry.soname, sonames[s], strlen(sonames[s]) + 1))
				continue;
			file = string_at(start, size, entry.file);
			if (!file || *file != '/')
				continue;
			slot = lc_grow(arena, files, &found, sizeof(*slot));
			if (slot)
				*slot = lc_text(arena, file);
		}
	}
	return found;
}

void lc_ldcache_open(struct lc_arena *arena, struct lc_ldcache *cache)
{
	struct stat st;
	const int fd = lc_open_regular(LC_LDCACHE_FOLDER "/ld.so.cache", &st);
	void *bytes;

	*cache = (struct lc_ldcache){ .known = fd < 0 && errno == ENOENT };
	if (fd < 0) {
		lc_arena_note_error(arena, errno);
		return;
	}
	if (st.st_size > 0) {
		/* ldconfig renames a new file into place and never writes to this one. */
		bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (bytes != MAP_FAILED)
			*cache = (struct lc_ldcache){
				bytes, (size_t)st.st_size,
				memmem(bytes, (size_t)st.st_size, MAGIC, sizeof(MAGIC) - 1) != NULL,
			};
		else
			lc_arena_note_error(arena, errno);
	}
	close(fd);
}

void lc_ldcache_close(struct lc_ldcache *cache)
{
	if (cache->bytes)
		munmap((void *)cache->bytes, cache->size);
	cache->bytes = NULL;
}
