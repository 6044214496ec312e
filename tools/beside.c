/* SPDX-License-Identifier: MIT */
/* beside.c - finds files that are installed together with this program */
#include "beside.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

/* packaging/install.mk defines where they are installed; this is for build/. */
#ifndef LIBEXEC
#define LIBEXEC "../libexec"
#define SHARE "../share"
#define PYTHON "../share/lazycuda/python"
#endif

const char libexec_place[] = LIBEXEC, share_place[] = SHARE, python_place[] = PYTHON;

/* The folder of this program, with a slash; false if it cannot be found out.  Where there is no
 * /proc, it is where the program was started from. */
static bool own_folder(char folder[PATH_MAX])
{
	ssize_t length = readlink("/proc/self/exe", folder, PATH_MAX - 1);
	char *slash;

	if (length < 0 && !realpath((const char *)getauxval(AT_EXECFN), folder))
		return false;
	if (length >= 0)
		folder[length] = 0;
	slash = strrchr(folder, '/');
	if (slash)
		slash[1] = 0;
	return slash;
}

char *beside(const char *place, const char *name)
{
	char folder[PATH_MAX] = "", *path, *real;

	if ((*place != '/' && !own_folder(folder)) ||
	    asprintf(&path, "%s%s/%s", folder, place, name) < 0)
		return NULL;
	real = realpath(path, NULL);
	free(path);
	return real;
}
