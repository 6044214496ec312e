/* SPDX-License-Identifier: MIT */
/* An auditor of ld.so that wraps one function: whoever binds to it calls wrap(), which calls what the
 * last of them would have called. */
#define _GNU_SOURCE
#include <link.h>
#include <string.h>

static int (*wrapped)(int *version);

static int wrap(int *version)
{
	int result = wrapped(version);

	*version = -*version;
	return result;
}

unsigned la_version(unsigned version)
{
	return version;
}

unsigned la_objopen(struct link_map *map, Lmid_t space, uintptr_t *cookie)
{
	(void)map;
	(void)space;
	(void)cookie;
	return LA_FLG_BINDTO | LA_FLG_BINDFROM;
}

uintptr_t la_symbind64(Elf64_Sym *symbol, unsigned index, uintptr_t *from, uintptr_t *to,
		       unsigned *flags, const char *name)
{
	(void)index;
	(void)from;
	(void)to;
	(void)flags;
	if (strcmp(name, "cudaRuntimeGetVersion"))
		return symbol->st_value;
	wrapped = (int (*)(int *))symbol->st_value;
	return (uintptr_t)wrap;
}
