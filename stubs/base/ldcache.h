/* SPDX-License-Identifier: MIT */
/* ldcache.h - the dynamic loader's cache */
#ifndef LDCACHE_H
#define LDCACHE_H

#include "arena.h"

#define LC_LDCACHE_FOLDER "/etc"

/* A mapping of /etc/ld.so.cache; `bytes` is NULL if there is none.  If it could not
 * be opened or mapped for want of resources, the arena is marked as starved. */
struct lc_ldcache {
	const char *bytes;
	size_t size;
	bool known;	/* what ld.so reads is known: there is no cache, or one of this format */
};

void lc_ldcache_open(struct lc_arena *arena, struct lc_ldcache *cache);
void lc_ldcache_close(struct lc_ldcache *cache);

/*
 * The files that a cache lists for any of the sonames, in the cache's order.
 * dlopen() would find the same files, but it would also load one.  A missing or
 * malformed cache lists none.
 */
size_t lc_ldcache_parse(struct lc_arena *arena, const char *cache, size_t size,
			const char *const *sonames, size_t soname_count, const char ***files);

#endif
