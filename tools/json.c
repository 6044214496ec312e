/* SPDX-License-Identifier: MIT */
/* json.c - writes JSON to standard output */
#include "json.h"

#include <stdio.h>

#include "../stubs/base/printable.h"

static int depth, filled;	/* filled: the current bracket has an element */

static void begin(const char *key)
{
	if (filled)
		putchar(',');
	if (depth)
		printf("\n%*s", 2 * depth, "");
	if (key)
		printf("\"%s\": ", key);
	filled = 1;
}

void json_open(const char *key, char bracket)
{
	begin(key);
	putchar(bracket);
	depth++;
	filled = 0;
}

void json_close(char bracket)
{
	depth--;
	if (filled)
		printf("\n%*s", 2 * depth, "");
	putchar(bracket);
	filled = 1;
	if (!depth)
		putchar('\n');
}

void json_text(const char *key, const char *text)
{
	if (!text) {
		json_null(key);
		return;
	}
	begin(key);
	putchar('"');
	while (*text) {
		uint32_t which;
		size_t length = lc_character(text, &which);

		if (!length)
			fputs("\\ufffd", stdout);
		else if (which == '"' || which == '\\')
			printf("\\%c", (int)which);
		else if (!lc_is_shown(which))
			printf("\\u%04x", (unsigned)which);
		else
			fwrite(text, 1, length, stdout);
		text += length ? length : 1;
	}
	putchar('"');
}

void json_integer(const char *key, int value)
{
	begin(key);
	printf("%d", value);
}

void json_size(const char *key, unsigned long long value)
{
	begin(key);
	printf("%llu", value);
}

void json_boolean(const char *key, int value)
{
	begin(key);
	fputs(value ? "true" : "false", stdout);
}

void json_null(const char *key)
{
	begin(key);
	fputs("null", stdout);
}

void json_known(const char *key, int value, int known)
{
	if (known)
		json_integer(key, value);
	else
		json_null(key);
}

void json_words(const char *key, const char *const *words, size_t count)
{
	json_open(key, '[');
	for (size_t i = 0; i < count; i++)
		json_text(NULL, words[i]);
	json_close(']');
}
