/* SPDX-License-Identifier: MIT */
/* beside.c - finds files that are installed together with this program */
#include "beside.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *beside(const char *place)
{
	char program[PATH_MAX], *slash, *path, *real;
	ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);

	if (length <= 0)
		return NULL;
	program[length] = 0;
	slash = strrchr(program, '/');
	if (!slash)
		return NULL;
	*slash = 0;
	if (asprintf(&path, "%s/%s", program, place) < 0)
		return NULL;
	real = realpath(path, NULL);
	free(path);
	return real;
}
