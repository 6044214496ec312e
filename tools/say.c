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
#include "../stubs/base/regular.h"

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

static bool ends_sentence(const char *text)
{
	return text[0] == '.' && text[1] == ' ' && ((text[2] >= 'A' && text[2] <= 'Z') || text[2] == '/');
}

void say_message(FILE *stream, const char *text, int indent)
{
	const char *advice = strstr(text, "; "), *end = text;

	for (; *end; end++) {
		if (end != advice && !ends_sentence(end))
			continue;
		say_on(stream, text, *end == '.' ? end + 1 : end);
		fprintf(stream, "\n%*s", indent, "");
		text = end + 2;
	}
	say_on(stream, text, end);
	putc('\n', stream);
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

bool can_read(const char *path)
{
	struct stat st;
	int fd = lc_open_regular(path, &st);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

void complain_of(const char *command, const char *path, int error)
{
	const char *why = lc_why_not_opened(error);

	complain(command, why ? "%s %s" : "%s cannot be opened: %s", path, why ? why : strerror(error));
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
