/* SPDX-License-Identifier: MIT */
/* ldcache.h - what the dynamic loader has in its cache */
#ifndef LDCACHE_H
#define LDCACHE_H

#include "arena.h"

/*
 * The files that /etc/ld.so.cache gives for any of the sonames, in the
 * cache's order.  dlopen() would find the same, but it would also load it.
 * No cache, or one that makes no sense, gives none.
 */
size_t lc_ldcache_find(struct lc_arena *arena, const char *const *sonames, size_t soname_count,
		       const char ***files);

/* The same in the given bytes of a cache. */
size_t lc_ldcache_parse(struct lc_arena *arena, const char *cache, size_t size,
			const char *const *sonames, size_t soname_count, const char ***files);

#endif
