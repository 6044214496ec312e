/* SPDX-License-Identifier: MIT */
/* To be preloaded: a dlsym() that looks every name up globally, as limiters of shared GPUs do. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

void *dlsym(void *handle, const char *name)
{
	static const char *const nodes[] = { "GLIBC_2.34", "GLIBC_2.17", "GLIBC_2.2.5" };
	static void *(*next)(void *, const char *);

	for (size_t i = 0; i < sizeof(nodes) / sizeof(*nodes) && !next; i++)
		next = (void *(*)(void *, const char *))dlvsym(RTLD_NEXT, "dlsym", nodes[i]);
	return next(handle == RTLD_NEXT ? handle : RTLD_DEFAULT, name);
}
