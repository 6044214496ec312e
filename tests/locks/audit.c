/* SPDX-License-Identifier: MIT */
/*
 * audit.c - an audit library (rtld-audit(7)): counts what it is told of
 *
 *     -DCALLS    when a function of a real library is looked up, it makes a CUDA
 *                call in the program's own namespace, once
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

unsigned la_version(unsigned version)
{
	(void)version;
	return LAV_CURRENT;
}

unsigned la_objopen(struct link_map *map, Lmid_t space, uintptr_t *cookie)
{
	(void)space, (void)cookie;
	if (strstr(map->l_name, "/libcudart.so."))
		dprintf(1, "opened %s\n", strrchr(map->l_name, '/') + 1);
	return LA_FLG_BINDTO | LA_FLG_BINDFROM;
}

#ifdef CALLS
static void call(void)
{
	static int done;
	void *stub;

	if (done++)
		return;
	stub = dlmopen(LM_ID_BASE, "libcudart_stub.so", RTLD_NOW | RTLD_NOLOAD);
	if (stub)
		dprintf(1, "within: %d\n", ((int (*)(void))dlsym(stub, "cudaDeviceSynchronize"))());
}
#endif

uintptr_t la_symbind64(Elf64_Sym *symbol, unsigned index, uintptr_t *from, uintptr_t *to,
		       unsigned *flags, const char *name)
{
	(void)index, (void)from, (void)to;
	if (*flags & LA_SYMB_DLSYM && !strcmp(name, "cudaMalloc")) {
		dprintf(1, "looked up %s\n", name);
#ifdef CALLS
		call();
#endif
	}
	return symbol->st_value;
}
