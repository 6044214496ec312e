/* SPDX-License-Identifier: MIT */
/* nested.c - a library whose constructor loads another, INNER */
#include <dlfcn.h>

static __attribute__((constructor)) void start(void)
{
	dlopen(INNER, RTLD_NOW);
}
