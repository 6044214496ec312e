/* SPDX-License-Identifier: MIT */
/* util.c - memory, text, errors, command lines */
#include "symbols_txt.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *program_name = "gen", *command_name;

_Noreturn void fail(const char *subject, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	if (command_name || !subject)
		fprintf(stderr, "%s: ", command_name ? command_name : program_name);
	if (subject)
		fprintf(stderr, "%s: ", subject);
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
	va_end(arguments);
	exit(2);
}

_Noreturn void fail_at(struct position position, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	fprintf(stderr, "%s:%u:%u: ", position.file, position.line, position.column);
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
	va_end(arguments);
	exit(2);
}

void *allocate(size_t count, size_t size)
{
	static void **all;	/* keeps every block reachable, for leak checkers */
	void **block;

	if (count > (SIZE_MAX - sizeof(max_align_t)) / size)
		fail(NULL, "out of memory");
	block = calloc(1, sizeof(max_align_t) + count * size);
	if (!block)
		fail(NULL, "out of memory");
	*block = all;
	all = block;
	return (char *)block + sizeof(max_align_t);
}

void *grow(void *items, size_t count, size_t *capacity, size_t size)
{
	void *larger;

	if (count < *capacity)
		return items;
	*capacity = *capacity ? 2 * *capacity : 4;
	larger = allocate(*capacity, size);
	if (count)
		memcpy(larger, items, count * size);
	return larger;
}

bool list_has(const struct list *list, const char *text)
{
	for (size_t i = 0; i < list->count; i++)
		if (!strcmp(list->items[i], text))
			return true;
	return false;
}

uint32_t hash_of(const char *bytes, size_t length)
{
	uint32_t hash = 5381;

	while (length--)
		hash = hash * 33 + (unsigned char)*bytes++;
	return hash;
}

size_t word_length(const char *text)
{
	size_t length = 0;

	while (isalnum((unsigned char)text[length]) || text[length] == '_')
		length++;
	return length;
}

static void add_arguments(struct text *text, const char *format, va_list arguments)
{
	va_list again;
	size_t length;

	if (!text->capacity)
		text->bytes = allocate(text->capacity = 64, 1);
	va_copy(again, arguments);
	length = (size_t)vsnprintf(text->bytes + text->length, text->capacity - text->length, format,
				   arguments);
	if (text->capacity - text->length <= length) {
		while (text->capacity - text->length <= length)
			text->bytes = grow(text->bytes, text->capacity, &text->capacity, 1);
		vsnprintf(text->bytes + text->length, length + 1, format, again);
	}
	va_end(again);
	text->length += length;
}

void put(struct text *text, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	add_arguments(text, format, arguments);
	va_end(arguments);
}

char *format(const char *format, ...)
{
	struct text text = { 0 };
	va_list arguments;

	va_start(arguments, format);
	add_arguments(&text, format, arguments);
	va_end(arguments);
	return text.bytes;
}

char **take_option(char **word, const struct option *options, const char *usage)
{
	const struct option *option = options;

	while (option->name && strcmp(option->name, *word))
		option++;
	if (!option->name)
		fail(NULL, "unknown option %s\n%s", *word, usage);
	if (option->given) {
		*option->given = true;
		return word + 1;
	}
	if (!word[1])
		fail(NULL, "a value is missing after %s\n%s", *word, usage);
	if (option->list)
		list_add(option->list, word[1]);
	else
		*option->text = word[1];
	return word + 2;
}
