/* SPDX-License-Identifier: MIT */
/* wrapper.c - a dlopen that tells and forwards, to be preloaded */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

void *dlopen(const char *file, int mode)
{
	void *(*next)(const char *, int) = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");

	fprintf(stderr, "wrapper: %s\n", file ? file : "(program)");
	return next(file, mode);
}
