/* SPDX-License-Identifier: MIT */
/* arena.c - memory for one search */
#include "arena.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "printable.h"

struct lc_chunk {
	struct lc_chunk *next;
	long double data[];	/* as LC_ALIGNMENT */
};

#ifndef CHUNK_BYTES		/* a test gives every allocation a chunk of its own */
#define CHUNK_BYTES 2016	/* little is left over of the last, which lives as long */
#endif

/* Most arenas stay small: their chunks have a size of which malloc() caches seven per thread. */
#define SMALL_CHUNKS 7
#define SMALL_BYTES (1008 < CHUNK_BYTES ? 1008 : CHUNK_BYTES)

/* Zeroes the whole chunk, so that allocations need not be zeroed one by one. */
static bool add_chunk(struct lc_arena *arena, size_t bytes)
{
	const bool small = bytes <= SMALL_BYTES;
	struct lc_chunk *chunk;

	if (bytes > SIZE_MAX / 2)
		return false;
	bytes = lc_aligned(bytes);
	chunk = small || arena->raw ? malloc(sizeof(*chunk) + bytes) :
				      calloc(1, sizeof(*chunk) + bytes);
	if (!chunk)
		return false;
	if (small && !arena->raw)
		memset(chunk->data, 0, bytes);
	chunk->next = arena->chunks;
	arena->chunks = chunk;
	arena->chunk_count++;
	arena->at = (char *)chunk->data;
	arena->end = arena->at + bytes;
	return true;
}

static bool has_room(const struct lc_arena *arena, size_t size)
{
	return (size_t)(arena->end - arena->at) >= size;
}

struct lc_arena *lc_arena_new(void)
{
	struct lc_arena first = { 0 }, *arena = lc_alloc(&first, sizeof(*arena));

	if (arena)
		*arena = first;
	return arena;
}

void *lc_alloc_more(struct lc_arena *arena, size_t size)
{
	size_t usual = arena->chunk_count < SMALL_CHUNKS ? SMALL_BYTES : CHUNK_BYTES;
	char *memory;

	if (size > SIZE_MAX / 2)
		goto fail;
	size = lc_aligned(size ? size : 1);
	if (!has_room(arena, size)) {
		if (arena->reserved) {
			arena->exceeded = true;
			return NULL;
		}
		if (!add_chunk(arena, size > usual ? size : usual))
			goto fail;
	}
	memory = arena->at;
	arena->at += size;
	return memory;
fail:
	arena->failed = true;
	return NULL;
}

void *lc_alloc_unset(struct lc_arena *arena, size_t size)
{
	const bool raw = arena->raw;
	void *memory;

	arena->raw |= size > CHUNK_BYTES;
	memory = lc_alloc(arena, size);
	arena->raw = raw;
	return memory;
}

bool lc_arena_reserve(struct lc_arena *arena, size_t size)
{
	/* Most walks use little, and leave room for another. */
	if (!has_room(arena, size) && !add_chunk(arena, 2 * size)) {
		arena->failed = true;
		return false;
	}
	arena->reserved = true;
	arena->exceeded = false;
	return true;
}

bool lc_arena_unreserve(struct lc_arena *arena)
{
	arena->reserved = false;
	return !arena->exceeded;
}

void *lc_grow(struct lc_arena *arena, void *array_pointer, size_t *count, size_t element)
{
	void *array;

	memcpy(&array, array_pointer, sizeof(array));
	/* Capacity doubles at each power of two; in between there is room already. */
	if ((*count & (*count - 1)) == 0) {
		void *larger = lc_alloc(arena, (*count ? *count * 2 : 1) * element);

		if (!larger)
			return NULL;
		if (*count)
			memcpy(larger, array, *count * element);
		array = larger;
		memcpy(array_pointer, &array, sizeof(array));
	}
	return (char *)array + element * (*count)++;
}

void lc_add_string(struct lc_arena *arena, struct lc_strings *strings, const char *text)
{
	const char **string = lc_grow(arena, &strings->list, &strings->count, sizeof(*string));

	if (string)
		*string = text;
}

char *lc_copy(struct lc_arena *arena, const char *text, size_t length)
{
	char *copy = lc_alloc(arena, length + 1);

	return copy ? memcpy(copy, text, length) : NULL;
}

static char nothing[1];		/* instead of a text for which there is no memory */

char *lc_text(struct lc_arena *arena, const char *text)
{
	char *copy = lc_copy(arena, text, strlen(text));

	return copy ? copy : nothing;
}

char *lc_path(struct lc_arena *arena, const char *folder, const char *name)
{
	const size_t length = strlen(folder), rest = strlen(name);
	char *path = lc_alloc(arena, length + 1 + rest + 1);

	if (!path)
		return nothing;
	memcpy(path, folder, length);
	path[length] = '/';
	memcpy(path + length + 1, name, rest);
	return path;
}

const char *lc_folder_of(struct lc_arena *arena, const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash || path[0] != '/')
		return NULL;
	/* The folder of what lies in the root is the root. */
	return lc_copy(arena, path, slash == path ? 1 : (size_t)(slash - path));
}

const char *lc_next_entry(const char **at, const char *between, size_t *length)
{
	const char *entry = *at;

	if (entry) {
		*length = strcspn(entry, between);
		*at = entry[*length] ? entry + *length + 1 : NULL;
	}
	return entry;
}

char *lc_format_list(struct lc_arena *arena, const char *format, va_list arguments)
{
	char short_text[256];
	va_list again;
	int length;

	va_copy(again, arguments);
	length = vsnprintf(short_text, sizeof(short_text), format, again);
	va_end(again);
	if (length < 0) {
		arena->failed = true;
		return nothing;
	}
	char *text = lc_alloc(arena, (size_t)length + 1);
	if (!text)
		return nothing;
	if ((size_t)length < sizeof(short_text))
		return memcpy(text, short_text, (size_t)length + 1);
	if (vsnprintf(text, (size_t)length + 1, format, arguments) < 0)
		arena->failed = true;
	return text;
}

char *lc_format(struct lc_arena *arena, const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	text = lc_format_list(arena, format, arguments);
	va_end(arguments);
	return text;
}

void lc_print(char *buffer, size_t size, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(buffer, size, format, arguments);
	va_end(arguments);
}

/* stpcpy() without the NUL: the arena is zeroed.  One import less, as with lc_print(). */
static char *append_text(char *at, const char *text)
{
	const size_t length = strlen(text);

	memcpy(at, text, length);
	return at + length;
}

char *lc_join(struct lc_arena *arena, const char *const *texts, size_t count, const char *between)
{
	size_t length = count ? (count - 1) * strlen(between) : 0;
	char *text, *at;

	for (size_t i = 0; i < count; i++)
		length += strlen(texts[i]);
	text = lc_alloc(arena, length + 1);
	if (!text)
		return nothing;
	at = text;
	for (size_t i = 0; i < count; i++) {
		if (i)
			at = append_text(at, between);
		at = append_text(at, texts[i]);
	}
	return text;
}

char *lc_printable(struct lc_arena *arena, const char *text)
{
	char *copy = lc_copy(arena, text, strlen(text));

	if (!copy)
		return nothing;
	lc_make_printable(copy);
	return copy;
}

void lc_arena_note_error(struct lc_arena *arena, int error)
{
	if (error == EMFILE || error == ENFILE || error == ENOMEM || error == EINTR)
		arena->starved = true;
}

void lc_arena_free(struct lc_arena *arena)
{
	struct lc_chunk *chunk, *next;

	if (!arena)
		return;
	chunk = arena->chunks;
	/* Cleared before the loop, since the arena may lie in one of the chunks. */
	arena->chunks = NULL;
	arena->at = arena->end = NULL;
	arena->chunk_count = 0;
	for (; chunk; chunk = next) {
		next = chunk->next;
		free(chunk);
	}
}
