/* SPDX-License-Identifier: MIT */
/* stray.c - an LD_PRELOAD for which the text of one link, $STRAY, is $STRAY_TO */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

ssize_t readlink(const char *path, char *text, size_t size)
{
	ssize_t (*real)(const char *, char *, size_t) =
		(ssize_t (*)(const char *, char *, size_t))dlsym(RTLD_NEXT, "readlink");
	const char *link = getenv("STRAY"), *to = getenv("STRAY_TO");

	if (!link || !to || strcmp(path, link))
		return real(path, text, size);
	strncpy(text, to, size);
	return (ssize_t)strnlen(to, size);
}
