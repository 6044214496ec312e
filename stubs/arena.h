/* SPDX-License-Identifier: MIT */
/*
 * arena.h - memory for one search
 *
 * A search allocates many small strings that are either all published as one
 * status, to live as long as the process, or all dropped.  An allocation that
 * fails returns harmless memory and marks the arena, so that callers check
 * once, at the end.
 */
#ifndef ARENA_H
#define ARENA_H

#include <stdbool.h>
#include <stddef.h>

struct lc_arena {
	struct lc_chunk *chunks;
	bool failed;		/* an allocation failed: drop everything */
};

/* Zeroed memory, or NULL (and arena->failed). */
void *lc_alloc(struct lc_arena *arena, size_t size);

/* Grows an array of `count` elements by one; returns the new element, zeroed,
 * or NULL.  *array may move. */
void *lc_grow(struct lc_arena *arena, void *array_pointer, size_t *count, size_t element);

/* A formatted string; "" when memory is out. */
char *lc_format(struct lc_arena *arena, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* A copy of the first `length` bytes of `text`. */
char *lc_copy(struct lc_arena *arena, const char *text, size_t length);

/* A copy fit for a message: control characters, which a file name may hold
 * and a terminal may obey, become '?'. */
char *lc_printable(struct lc_arena *arena, const char *text);

void lc_arena_free(struct lc_arena *arena);

#endif
