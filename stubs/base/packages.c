/* SPDX-License-Identifier: MIT */
/* packages.c - what the names and RECORDs of installed Python packages say of files */
#include "packages.h"

#include <stdlib.h>
#include <string.h>

#include "cuda_version.h"
#include "glibc.h"

#define ENDING ".dist-info"

bool lc_package_is(const char *folder)
{
	size_t length = strlen(folder);

	return length > strlen(ENDING) && !strcmp(folder + length - strlen(ENDING), ENDING);
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* The length of "nvidia_cudnn" in "nvidia_cudnn_cu12-9.1.0.70.dist-info", and the major in *cuda.
 * Returns 0 for another name. */
static size_t read_package(const char *folder, int *cuda)
{
	size_t end = strcspn(folder, "-"), digits = end;

	if (!lc_package_is(folder))
		return 0;
	while (digits && is_digit(folder[digits - 1]))
		digits--;
	if (digits < 4 || end - digits < 1 || end - digits > 2 || folder[end] != '-' ||
	    memcmp(folder + digits - 2, "cu", 2) || !strchr("_.", folder[digits - 3]))
		return 0;
	*cuda = atoi(folder + digits);
	return *cuda > 0 && *cuda <= LC_MAX_CUDA ? digits - 3 : 0;
}

int lc_package_cuda(const char *folder)
{
	int cuda;

	return read_package(folder, &cuda) ? cuda : 0;
}

bool lc_package_is_nvidias(const char *folder)
{
	static const char beginning[] = "nvidia_";

	return !strncmp(folder, beginning, strlen(beginning)) && lc_package_is(folder);
}

/* Names have `_` where paths may have other characters. */
static char as_in_a_name(char c)
{
	return c == '/' || c == '.' || c == '-' ? '_' : c;
}

bool lc_package_is_called(const char *folder, const char *file)
{
	int cuda;
	size_t length = read_package(folder, &cuda);

	for (size_t i = 0; i < length; i++)
		if (!file[i] || as_in_a_name(folder[i]) != as_in_a_name(file[i]))
			return false;
	return length && file[length] == '/';
}

/* Returns the last comma before `end`, or NULL. */
static const char *last_comma(const char *text, const char *end)
{
	while (end > text && end[-1] != ',')
		end--;
	return end > text ? end - 1 : NULL;
}

/* A line is "FILE,sha256=...,SIZE", or "FILE,,". */
bool lc_record_next(const char **record, const char **file, size_t *length, off_t *size)
{
	while (**record) {
		const char *line = *record, *end = line + strcspn(line, "\n"), *hash, *last;

		*record = end + (*end == '\n');
		last = last_comma(line, end);
		hash = last ? last_comma(line, last) : NULL;
		if (!hash)
			continue;
		*file = line;
		*length = (size_t)(hash - line);
		*size = is_digit(last[1]) ? strtol(last + 1, NULL, 10) : -1;
		return true;
	}
	return false;
}

bool lc_record_find(const char *record, const char *file, off_t *size)
{
	const char *listed;
	size_t length;

	while (lc_record_next(&record, &listed, &length, size))
		if (length == strlen(file) && !memcmp(listed, file, length))
			return true;
	return false;
}

/* The size tells which of several packages that were installed over each other the file is from. */
bool lc_record_has(const char *record, const char *file, off_t size)
{
	off_t listed;

	return lc_record_find(record, file, &listed) && listed == size;
}
