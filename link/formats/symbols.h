/* SPDX-License-Identifier: MIT */
/* symbols.h - the symbols of one entry, without duplicates */
#ifndef LINK_SYMBOLS_H
#define LINK_SYMBOLS_H

#include <string.h>

#include "../../include/lazycuda_link.h"
#include "../../stubs/base/arena.h"

/* Initialise to zero except `arena`, from which everything is allocated. */
struct lk_symbols {
	struct lc_arena *arena;
	struct lazycuda_symbol *list;	/* in the order of addition */
	size_t count, capacity;
	uint32_t *slots;		/* by hash: index in the list + 1, or 0 */
	size_t slot_count;		/* a power of two */
};

/* The symbol of that name, or NULL. */
struct lazycuda_symbol *lk_symbols_find(const struct lk_symbols *symbols, const char *name,
					size_t length);

/* Makes room for `count` more symbols at once, instead of step by step. */
void lk_symbols_expect(struct lk_symbols *symbols, size_t count);

/*
 * Adds a symbol with the properties of `like`.  If the symbol exists already (a
 * declaration before its definition), the properties are added to it.
 */
void lk_symbols_add(struct lk_symbols *symbols, const char *name, size_t length,
		    const struct lazycuda_symbol *like);

/* Find and add names that end with a NUL, and have no properties. */
static inline struct lazycuda_symbol *lk_names_find(const struct lk_symbols *names, const char *name)
{
	return lk_symbols_find(names, name, strlen(name));
}

static inline void lk_names_add(struct lk_symbols *names, const char *name)
{
	lk_symbols_add(names, name, strlen(name), &(const struct lazycuda_symbol){ .name = NULL });
}

/* Whether the driver has a function of this name, as malloc() of device code. */
bool lk_symbol_is_provided(const char *name);

#endif
