/* SPDX-License-Identifier: MIT */
/* json.c - JSON on standard output */
#include "json.h"

#include <stdio.h>

static int depth, filled;	/* filled: something stands before in this bracket */

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

/* The length of the UTF-8 character here, 0 if this is none. */
static int character(const unsigned char *c)
{
	int length = c[0] < 0x80 ? 1 : c[0] >= 0xc2 && c[0] < 0xe0 ? 2 :
		     c[0] >= 0xe0 && c[0] < 0xf0 ? 3 : c[0] >= 0xf0 && c[0] < 0xf5 ? 4 : 0;

	for (int i = 1; i < length; i++)
		if ((c[i] & 0xc0) != 0x80)
			return 0;
	/* Overlong forms, surrogates, and what is beyond U+10FFFF. */
	if ((c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xed && c[1] > 0x9f) ||
	    (c[0] == 0xf0 && c[1] < 0x90) || (c[0] == 0xf4 && c[1] > 0x8f))
		return 0;
	return length;
}

void json_text(const char *key, const char *text)
{
	if (!text) {
		json_null(key);
		return;
	}
	begin(key);
	putchar('"');
	for (const unsigned char *c = (const unsigned char *)text; *c; ) {
		int length = character(c);

		if (!length)
			fputs("\\ufffd", stdout);
		else if (*c == '"' || *c == '\\')
			printf("\\%c", *c);
		else if (*c < 0x20 || *c == 0x7f)
			printf("\\u%04x", *c);
		else
			fwrite(c, 1, (size_t)length, stdout);
		c += length ? length : 1;
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
