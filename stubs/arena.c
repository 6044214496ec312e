/* SPDX-License-Identifier: MIT */
/* arena.c - memory for one search */
#include "arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct lc_chunk {
	struct lc_chunk *next;
	size_t used, size;
	max_align_t data[];
};

#ifndef CHUNK_BYTES		/* a test has every allocation get one of its own */
#define CHUNK_BYTES 8160	/* with malloc's own words, just under two pages */
#endif

void *lc_alloc(struct lc_arena *arena, size_t size)
{
	struct lc_chunk *chunk = arena->chunks;

	if (size > SIZE_MAX / 2)
		goto fail;
	size = (size + sizeof(max_align_t) - 1) & ~(sizeof(max_align_t) - 1);
	if (!chunk || chunk->size - chunk->used < size) {
		size_t room = size > CHUNK_BYTES ? size : CHUNK_BYTES;

		chunk = malloc(sizeof(*chunk) + room);
		if (!chunk)
			goto fail;
		chunk->next = arena->chunks;
		chunk->used = 0;
		chunk->size = room;
		arena->chunks = chunk;
	}
	void *memory = (char *)chunk->data + chunk->used;
	chunk->used += size;
	return memset(memory, 0, size);
fail:
	arena->failed = true;
	return NULL;
}

void *lc_grow(struct lc_arena *arena, void *array_pointer, size_t *count, size_t element)
{
	void *array;

	memcpy(&array, array_pointer, sizeof(array));
	/* Room doubles at each power of two; below that it is there already. */
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

char *lc_copy(struct lc_arena *arena, const char *text, size_t length)
{
	char *copy = lc_alloc(arena, length + 1);

	return copy ? memcpy(copy, text, length) : NULL;
}

char *lc_format(struct lc_arena *arena, const char *format, ...)
{
	static char nothing[1];
	char short_text[256];
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(short_text, sizeof(short_text), format, arguments);
	va_end(arguments);
	if (length < 0)
		return nothing;
	char *text = lc_alloc(arena, (size_t)length + 1);
	if (!text)
		return nothing;
	if ((size_t)length < sizeof(short_text))
		return memcpy(text, short_text, (size_t)length + 1);
	va_start(arguments, format);
	vsnprintf(text, (size_t)length + 1, format, arguments);
	va_end(arguments);
	return text;
}

char *lc_printable(struct lc_arena *arena, const char *text)
{
	char *copy = lc_copy(arena, text, strlen(text));

	if (!copy)
		return lc_format(arena, "%s", "");
	for (char *c = copy; *c; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			*c = '?';
	return copy;
}

void lc_arena_free(struct lc_arena *arena)
{
	while (arena->chunks) {
		struct lc_chunk *next = arena->chunks->next;

		free(arena->chunks);
		arena->chunks = next;
	}
}
