/* SPDX-License-Identifier: MIT */
/* text_file.c - a file of text in memory */
#include "text_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A pipe has no length beforehand. */
static char *read_stream(FILE *file)
{
	size_t length = 0, room = 0, got;
	char *text = NULL;

	do {
		char *larger;

		room = 2 * room + 4096;
		larger = realloc(text, room);
		if (!larger)
			break;
		text = larger;
		got = fread(text + length, 1, room - length - 1, file);
		/* Checked in each part, since /dev/zero has no end. */
		if (memchr(text + length, 0, got)) {
			errno = EINVAL;
			break;
		}
		length += got;
		text[length] = 0;
		if (!got && !ferror(file))
			return text;
	} while (!ferror(file));
	const int error = errno;
	free(text);
	errno = error;
	return NULL;
}

char *text_file_read(const char *path)
{
	FILE *file = fopen(path, "re");
	char *text = file ? read_stream(file) : NULL;
	const int error = errno;

	if (file)
		fclose(file);
	errno = error;
	return text;
}
