/* SPDX-License-Identifier: MIT */
/* symbols.h - the symbols of one entry, each name once */
#ifndef LINK_SYMBOLS_H
#define LINK_SYMBOLS_H

#include "../../include/lazycuda_link.h"
#include "../../stubs/base/arena.h"

/* Zero but for the arena, in which all of it lies. */
struct lk_symbols {
	struct lc_arena *arena;
	struct lazycuda_symbol *list;	/* in the order in which they were added */
	size_t count, room;
	uint32_t *slots;		/* index + 1 by hash, 0 for none */
	size_t slot_count;		/* a power of two */
};

/* Keyed: another in each program that is started. */
uint32_t lk_symbol_hash(const char *name, size_t length);

/* The symbol of that name, or NULL. */
struct lazycuda_symbol *lk_symbols_find(const struct lk_symbols *symbols, const char *name,
					size_t length);

/* Makes room for so many more, so that it need not be made bit by bit. */
void lk_symbols_expect(struct lk_symbols *symbols, size_t count);

/*
 * Adds a symbol with the properties of `like`.  One that is there already, a
 * declaration before its definition say, gets them in addition.
 */
void lk_symbols_add(struct lk_symbols *symbols, const char *name, size_t length,
		    const struct lazycuda_symbol *like);

#endif
