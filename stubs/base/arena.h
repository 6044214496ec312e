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
	char *at, *end;		/* the rest of the first chunk */
	struct lc_chunk *chunks;
	unsigned chunk_count;
	bool failed;		/* an allocation failed: drop everything */
	bool hindered;		/* something may be there that could not be looked at now */
	bool closed, lacking;	/* see lc_close() */
};

/* An arena that lies in itself, and is freed with all the rest; NULL if memory
 * is out. */
struct lc_arena *lc_arena_new(void);

static inline size_t lc_aligned(size_t size)
{
	return (size + _Alignof(max_align_t) - 1) & ~(_Alignof(max_align_t) - 1);
}

/* lc_alloc() of what may not fit into the first chunk. */
void *lc_alloc_more(struct lc_arena *arena, size_t size);

/* Zeroed memory, or NULL (and arena->failed). */
static inline void *lc_alloc(struct lc_arena *arena, size_t size)
{
	char *memory = arena->at;

	/* What is left is aligned; nothing has an address of its own, too. */
	if (!size || size > (size_t)(arena->end - arena->at))
		return lc_alloc_more(arena, size);
	arena->at += lc_aligned(size);
	return memory;
}

/* Grows an array of `count` elements by one; returns the new element, zeroed,
 * or NULL.  *array may move. */
void *lc_grow(struct lc_arena *arena, void *array_pointer, size_t *count, size_t element);

/* A formatted string; "" when memory is out.  Cold: what leads to a message is
 * what does not happen, and lies apart from what does. */
char *lc_format(struct lc_arena *arena, const char *format, ...)
	__attribute__((cold, format(printf, 2, 3)));

/* A copy of the first `length` bytes of `text`. */
char *lc_copy(struct lc_arena *arena, const char *text, size_t length);

/* The texts behind each other, with `between` between two; "" when memory is out. */
char *lc_join(struct lc_arena *arena, const char *const *texts, size_t count, const char *between);

/* A copy fit for a message: see printable.h. */
char *lc_printable(struct lc_arena *arena, const char *text);

/* Notes why something could not be looked at (errno), if the process ran out of
 * something: that may pass.  A disk that fails and what may not be read stay as they are. */
void lc_arena_hinder(struct lc_arena *arena, int error);

/*
 * For code that must not call malloc(), which may be anybody's.  From lc_close()
 * to lc_open() memory comes from `room` bytes got in advance, and there may be
 * less: an allocation that finds too little fails, and lc_open() says so.  Then
 * try again with more.  lc_close() is false when memory is out.
 */
bool lc_close(struct lc_arena *arena, size_t room);
bool lc_open(struct lc_arena *arena);

/* NULL is none. */
void lc_arena_free(struct lc_arena *arena);

#endif
