/* SPDX-License-Identifier: MIT */
/*
 * arena.h - memory for one search
 *
 * A search allocates many small strings.  Either all of them are published as one
 * status, which lives as long as the process, or all are dropped.  A failed
 * allocation marks the arena and yields NULL or "", so that most callers check
 * once, at the end.
 */
#ifndef ARENA_H
#define ARENA_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct lc_arena {
	char *at, *end;		/* the free rest of the newest chunk */
	struct lc_chunk *chunks;
	unsigned chunk_count;
	bool failed;		/* an allocation failed: drop everything */
	bool starved;		/* something may exist that could not be examined now */
	bool reserved, exceeded;	/* see lc_arena_reserve() */
	bool raw;		/* nothing is zeroed: all that is allocated is written to */
};

/* An arena that is allocated in its own first chunk, so that lc_arena_free() frees it too;
 * NULL on allocation failure. */
struct lc_arena *lc_arena_new(void);

/* That of any type; C99 has no max_align_t. */
#define LC_ALIGNMENT _Alignof(long double)

static inline size_t lc_aligned(size_t size)
{
	return (size + LC_ALIGNMENT - 1) & ~(LC_ALIGNMENT - 1);
}

/* Memory that is all written to: where it is large, which takes a chunk of its own, it is not zeroed. */
void *lc_alloc_unset(struct lc_arena *arena, size_t size);

/* The slow path of lc_alloc(): the memory may not fit into the newest chunk. */
void *lc_alloc_more(struct lc_arena *arena, size_t size);

/* Zeroed memory, or NULL (and arena->failed). */
static inline void *lc_alloc(struct lc_arena *arena, size_t size)
{
	char *memory = arena->at;

	/* The rest of a chunk is always aligned.  Size 0 gets an address of its own, too. */
	if (!size || size > (size_t)(arena->end - arena->at))
		return lc_alloc_more(arena, size);
	arena->at += lc_aligned(size);
	return memory;
}

/* Grows an array of `count` elements by one; returns the new element, zeroed,
 * or NULL.  *array may move. */
void *lc_grow(struct lc_arena *arena, void *array_pointer, size_t *count, size_t element);

struct lc_strings {
	const char **list;
	size_t count;
};

void lc_add_string(struct lc_arena *arena, struct lc_strings *strings, const char *text);

/* A formatted string; "" on allocation failure.  Cold: messages are for rare cases,
 * whose code is best kept apart from the common path. */
char *lc_format(struct lc_arena *arena, const char *format, ...)
	__attribute__((cold, format(printf, 2, 3)));
char *lc_format_list(struct lc_arena *arena, const char *format, va_list arguments)
	__attribute__((cold, format(printf, 2, 0)));

/* snprintf(), by the function that the others call: ld.so looks up every function that a stub
 * imports, for each stub. */
void lc_print(char *buffer, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* A copy of the first `length` bytes of `text`, with a NUL; NULL on allocation failure. */
char *lc_copy(struct lc_arena *arena, const char *text, size_t length);

/* A copy of a text; "" on allocation failure. */
char *lc_text(struct lc_arena *arena, const char *text);

/* The path of `name` in `folder`; "" on allocation failure. */
char *lc_path(struct lc_arena *arena, const char *folder, const char *name);

/* The path of the folder that contains a file; NULL if the file's path is not absolute, or on
 * allocation failure. */
const char *lc_folder_of(struct lc_arena *arena, const char *path);

/* The next entry of a search path, of *length bytes, and moves *at behind it; NULL: there is none.  Each
 * character of `between` is a separator. */
const char *lc_next_entry(const char **at, const char *between, size_t *length);

/* The last part of a path, within it: what follows the last slash. */
static inline const char *lc_basename(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The texts joined, with `between` between each two; "" on allocation failure. */
char *lc_join(struct lc_arena *arena, const char *const *texts, size_t count, const char *between);

/* A copy fit for a message: see printable.h. */
char *lc_printable(struct lc_arena *arena, const char *text);

/* Marks the arena as starved if `error`, an errno, means that descriptors or memory
 * ran out, or that signals interrupted all tries, which may pass.  A failing disk and a lack of permission will not pass. */
void lc_arena_note_error(struct lc_arena *arena, int error);

/*
 * For code that must not call malloc(), which the program may have replaced.  From
 * lc_arena_reserve() to lc_arena_unreserve() memory comes from at least `size` bytes allocated in
 * advance.  An allocation that does not fit returns NULL, and lc_arena_unreserve() then
 * returns false: try again with more.  lc_arena_reserve() is false on allocation failure.
 */
bool lc_arena_reserve(struct lc_arena *arena, size_t size);
bool lc_arena_unreserve(struct lc_arena *arena);

/* Frees all memory of the arena; NULL is allowed. */
void lc_arena_free(struct lc_arena *arena);

#endif
