/* SPDX-License-Identifier: MIT */
/*
 * dlopen.c - a dlopen to be preloaded that does something else, for the first
 * real cudart: DLOPEN says what, with the file DLOPEN_FILE
 *
 *     fails      nothing is loaded, and dlerror() knows of nothing
 *     other      that file is loaded instead
 *     replaced   that file is there when the library is loaded
 *     written    it is written to before it is loaded
 *     overtaken  that file, nvrtc's stub, makes its first call before it is loaded
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void *(*next)(const char *, int);

static void move(const char *from, const char *to)
{
	if (rename(from, to))
		abort();
}

static void *replaced(const char *path, int flags, const char *file)
{
	char aside[4096];

	snprintf(aside, sizeof aside, "%s.aside", path);
	move(path, aside);
	move(file, path);
	return next(path, flags);
}

static void *overtaken(const char *path, int flags, const char *stub)
{
	int (*call)(void **);

	*(void **)&call = dlsym(next(stub, RTLD_NOW), "nvrtcDestroyProgram");
	call(NULL);
	return next(path, flags);
}

void *dlopen(const char *path, int flags)
{
	const char *what = getenv("DLOPEN"), *file = getenv("DLOPEN_FILE");
	const struct timespec later[] = { { .tv_sec = 1000000000 }, { .tv_sec = 1000000000 } };
	static char first[4096];

	next = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
	if (!what || !path || !strstr(path, "/libcudart.so."))
		return next(path, flags);
	if (!strcmp(what, "fails") && (!first[0] || !strcmp(first, path))) {
		snprintf(first, sizeof first, "%s", path);
		return NULL;
	}
	if (first[0]++)
		return next(path, flags);
	if (!strcmp(what, "other"))
		return next(file, flags);
	if (!strcmp(what, "overtaken"))
		return overtaken(path, flags, file);
	if (!strcmp(what, "written")) {
		if (utimensat(AT_FDCWD, path, later, 0))
			abort();
		return next(path, flags);
	}
	return replaced(path, flags, file);
}
