/* SPDX-License-Identifier: MIT */
/* A program that lists the loaded objects once, at its start, as servers do in which exceptions
 * must not wait for ld.so. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>

#include "asks.h"

#include <stdio.h>

typedef int visitor(struct dl_phdr_info *info, size_t size, void *data);

static struct dl_phdr_info cache[256];
static int count, is_ready;

static int add(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)size;
	(void)data;
	if (count < 256)
		cache[count++] = *info;
	return 0;
}

int dl_iterate_phdr(visitor *visit, void *data)
{
	int (*next)(visitor *, void *);
	int result = 0;

	if (!is_ready) {
		next = (int (*)(visitor *, void *))dlsym(RTLD_NEXT, "dl_iterate_phdr");
		return next(visit, data);
	}
	for (int i = 0; i < count && !result; i++)
		result = visit(&cache[i], sizeof(cache[i]), data);
	return result;
}

int main(void)
{
	dl_iterate_phdr(add, NULL);
	is_ready = 1;
	return printf("%d %d\n", ask(), ask_second()) < 0;
}
