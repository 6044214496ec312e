/* SPDX-License-Identifier: MIT */
/* knows_more.c - for LD_AUDIT: the dynamic loader finds SONAME in HIDDEN, and nobody else does */
#define _GNU_SOURCE
#include <link.h>
#include <stdlib.h>
#include <string.h>

unsigned la_version(unsigned version)
{
	return version;
}

char *la_objsearch(const char *name, uintptr_t *cookie, unsigned flag)
{
	(void)cookie;
	return flag == LA_SER_ORIG && !strcmp(name, getenv("SONAME")) ? getenv("HIDDEN") : (char *)name;
}
