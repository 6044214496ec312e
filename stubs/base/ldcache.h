/* SPDX-License-Identifier: MIT */
/* ldcache.h - what the dynamic loader has in its cache */
#ifndef LDCACHE_H
#define LDCACHE_H

#include "arena.h"

/* A mapping of /etc/ld.so.cache; `bytes` is NULL where there is none.  The arena
 * is told if there may be one. */
struct lc_ldcache {
	const char *bytes;
	size_t size;
};

void lc_ldcache_open(struct lc_arena *arena, struct lc_ldcache *cache);
void lc_ldcache_close(struct lc_ldcache *cache);

/*
 * The files that a cache gives for any of the sonames, in its order.  dlopen()
 * would find the same, but it would also load it.  No cache, or one that makes
 * no sense, gives none.
 */
size_t lc_ldcache_parse(struct lc_arena *arena, const char *cache, size_t size,
			const char *const *sonames, size_t soname_count, const char ***files);

/* The same in the cache of this machine, if it is for once. */
size_t lc_ldcache_find(struct lc_arena *arena, const char *const *sonames, size_t soname_count,
		       const char ***files);

#endif
