/* SPDX-License-Identifier: MIT */
/* count.c - counts who asks what is loaded; to be preloaded, prints it at the end */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static atomic_long count;

int dl_iterate_phdr(int (*each)(struct dl_phdr_info *, size_t, void *), void *data)
{
	static int (*next)(int (*)(struct dl_phdr_info *, size_t, void *), void *);

	if (!next)
		next = (int (*)(int (*)(struct dl_phdr_info *, size_t, void *), void *))
			dlsym(RTLD_NEXT, "dl_iterate_phdr");
	count++;
	return next(each, data);
}

void _exit(int status)
{
	printf("%ld\n", (long)count);
	fflush(stdout);
	_Exit(status);
}
