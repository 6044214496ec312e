/* SPDX-License-Identifier: MIT */
/*
 * failing.c - preloaded: a folder or file that answers an error, as a dead mount does
 *
 * FAILING names it, FAILING_WITH is the error's number, FAILING_AT one of "look", "open",
 * "read" and "load" is when.  Every time that is tried with it, or with what lies in it,
 * is noted on stderr.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int fails(const char *path, const char *at)
{
	const char *folder = getenv("FAILING"), *when = getenv("FAILING_AT");
	size_t length = folder ? strlen(folder) : 0;

	if (!length || strcmp(when ? when : "look", at) || strncmp(path, folder, length) || (path[length] && path[length] != '/'))
		return 0;
	fprintf(stderr, "looked at %s\n", path);
	errno = atoi(getenv("FAILING_WITH"));
	return 1;
}

#define STAT(name) \
	int name(int version, const char *path, struct stat *st); \
	int name(int version, const char *path, struct stat *st) \
	{ \
		int (*real)(int, const char *, struct stat *) = \
			(int (*)(int, const char *, struct stat *))dlsym(RTLD_NEXT, #name); \
		return fails(path, "look") ? -1 : real(version, path, st); \
	}
STAT(__xstat)
STAT(__lxstat)

int open(const char *path, int flags, ...)
{
	int (*real)(const char *, int, ...) =
		(int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
	va_list more;
	int mode;

	va_start(more, flags);
	mode = flags & O_CREAT ? va_arg(more, int) : 0;
	va_end(more);
	return fails(path, "open") ? -1 : real(path, flags, mode);
}

ssize_t pread(int fd, void *data, size_t size, off_t at)
{
	ssize_t (*real)(int, void *, size_t, off_t) =
		(ssize_t (*)(int, void *, size_t, off_t))dlsym(RTLD_NEXT, "pread");
	char link[64], path[4096];
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, path, sizeof(path) - 1);
	path[length > 0 ? length : 0] = 0;
	return fails(path, "read") ? -1 : real(fd, data, size, at);
}

void *dlopen(const char *path, int flags)
{
	void *(*real)(const char *, int) = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");

	return path && fails(path, "load") ? NULL : real(path, flags);
}
