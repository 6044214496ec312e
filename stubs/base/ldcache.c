/* SPDX-License-Identifier: MIT */
/* ldcache.c - the dynamic loader's cache */
#include "ldcache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "glibc.h"

/*
 * The format that ldconfig has written since glibc 2.2, laid out as in glibc's
 * sysdeps/generic/dl-cache.h.  Before 2.32 a cache in an older format could
 * precede it in the file.  Offsets count from the magic.
 */
#define MAGIC "glibc-ld.so.cache1.1"

struct header {
	char magic[sizeof(MAGIC) - 1];
	uint32_t count;
	uint32_t strings_size;
	uint32_t unused[5];
};

struct entry {
	int32_t flags;
	uint32_t soname, file;
	uint32_t os_version;
	uint64_t hwcap;
};

static const char *string_at(const char *cache, size_t size, uint32_t offset)
{
	return offset < size && memchr(cache + offset, 0, size - offset) ? cache + offset : NULL;
}

size_t lc_ldcache_parse(struct lc_arena *arena, const char *cache, size_t size,
			const char *const *sonames, size_t soname_count, const char ***files)
{
	const char *start = cache ? memmem(cache, size, MAGIC, sizeof(MAGIC) - 1) : NULL;
	struct header header;
	size_t found = 0;

	*files = NULL;
	if (!start)
		return 0;
	size -= (size_t)(start - cache);
	if (size < sizeof(header))
		return 0;
	memcpy(&header, start, sizeof(header));
	if (header.count > (size - sizeof(header)) / sizeof(struct entry))
		return 0;
	for (uint32_t i = 0; i < header.count; i++) {
		const char *soname, *file, **slot;
		struct entry entry;

		memcpy(&entry, start + sizeof(header) + i * sizeof(entry), sizeof(entry));
		soname = string_at(start, size, entry.soname);
		file = string_at(start, size, entry.file);
		if (!soname || !file || *file != '/')
			continue;
		for (size_t s = 0; s < soname_count; s++) {
			if (strcmp(soname, sonames[s]))
				continue;
			slot = lc_grow(arena, files, &found, sizeof(*slot));
			if (slot)
				*slot = lc_format(arena, "%s", file);
		}
	}
	return found;
}

void lc_ldcache_open(struct lc_arena *arena, struct lc_ldcache *cache)
{
	int fd = open("/etc/ld.so.cache", O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *bytes;

	*cache = (struct lc_ldcache){ NULL, 0 };
	if (fd < 0) {
		lc_arena_hinder(arena, errno);
		return;
	}
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0) {
		/* ldconfig renames a new file into place and never writes to this one. */
		bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (bytes != MAP_FAILED)
			*cache = (struct lc_ldcache){ bytes, (size_t)st.st_size };
		else
			lc_arena_hinder(arena, errno);
	}
	close(fd);
}

void lc_ldcache_close(struct lc_ldcache *cache)
{
	if (cache->bytes)
		munmap((void *)cache->bytes, cache->size);
	*cache = (struct lc_ldcache){ NULL, 0 };
}

size_t lc_ldcache_find(struct lc_arena *arena, const char *const *sonames, size_t soname_count,
		       const char ***files)
{
	struct lc_ldcache cache;
	size_t found;

	lc_ldcache_open(arena, &cache);
	found = lc_ldcache_parse(arena, cache.bytes, cache.size, sonames, soname_count, files);
	lc_ldcache_close(&cache);
	return found;
}
