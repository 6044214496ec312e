/* SPDX-License-Identifier: MIT */
/* say.c - prints text without anything that a terminal would obey */
#include "say.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../stubs/base/printable.h"

static void say_on(FILE *stream, const char *text, const char *end)
{
	uint32_t character;

	while (text < end) {
		size_t length = lc_character(text, &character);

		if (length && (lc_is_shown(character) || character == '\t'))
			fwrite(text, 1, length, stream);
		else
			putc('?', stream);
		text += length ? length : 1;
	}
}

void say(const char *text)
{
	say_on(stdout, text, text + strlen(text));
}

void say_log(const char *text)
{
	while (*text) {
		size_t length = strcspn(text, "\n");

		say_on(stderr, text, text + length);
		putc('\n', stderr);
		text += length + (text[length] != 0);
	}
}

void complain(const char *command, const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		text = NULL;
	va_end(arguments);
	if (text)
		lc_make_printable(text);
	fprintf(stderr, "lazycuda%s%s: %s\n", command ? " " : "", command ? command : "",
		text ? text : "memory ran out");
	free(text);
}

void say_verdict(const char *text, bool good)
{
	const char *no = getenv("NO_COLOR"), *terminal = getenv("TERM");
	bool coloured = isatty(STDOUT_FILENO) && !(no && *no) && terminal &&
			strcmp(terminal, "dumb") != 0;

	if (coloured)
		fputs(good ? "\33[32m" : "\33[31m", stdout);
	say(text);
	if (coloured)
		fputs("\33[0m", stdout);
}

/* ---- what was meant ---- */

#define LONGEST 32	/* of words that are compared */

/* How many letters have to be changed, added or removed. */
static size_t distance(const char *one, size_t length, const char *other, size_t width)
{
	size_t row[LONGEST + 1];

	for (size_t j = 0; j <= width; j++)
		row[j] = j;
	for (size_t i = 1; i <= length; i++) {
		size_t corner = row[0];

		row[0] = i;
		for (size_t j = 1; j <= width; j++) {
			size_t best = corner + (one[i - 1] != other[j - 1]);

			corner = row[j];
			if (best > row[j] + 1)
				best = row[j] + 1;
			if (best > row[j - 1] + 1)
				best = row[j - 1] + 1;
			row[j] = best;
		}
	}
	return row[width];
}

/* The word of a text that is nearest to another, and how near; NULL if none is near. */
static const char *nearest(const char *text, const char *word, size_t *length, size_t *least)
{
	const char letters[] = "abcdefghijklmnopqrstuvwxyzJL-", *found = NULL;
	size_t wanted = strcspn(word, "=");

	while (wanted <= LONGEST && *(text += strcspn(text, letters))) {
		size_t width = strspn(text, letters);

		if (width <= LONGEST && width > 2 && (word[0] != '-') == (text[0] != '-')) {
			size_t far = distance(word, wanted, text, width);

			if (far < *least) {
				found = text;
				*length = width;
				*least = far;
			}
		}
		text += width;
	}
	return found;
}

int bad_usage(const char *command, const char *usage, const char *more, const char *what,
	      const char *word)
{
	size_t length = 0, least = strlen(word) < 6 ? 2 : 3;
	const char *meant = !strncmp(word, "--", 2) ? nearest(usage, word, &length, &least) : NULL;
	const char *other = *word ? nearest(more, word, &length, &least) : NULL;

	meant = other ? other : meant;
	if (meant && least)
		complain(command, "%s%s; did you mean %.*s?", what, word, (int)length, meant);
	else
		complain(command, "%s%s", what, word);
	fprintf(stderr, "%.*s\n`lazycuda%s%s --help` says more.\n", (int)strcspn(usage, "\n"), usage,
		command ? " " : "", command ? command : "");
	return 2;
}
