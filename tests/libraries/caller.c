/* SPDX-License-Identifier: MIT */
/*
 * caller.c - calls every function of a stub, as a caller of one major
 *
 *	caller LIBRARY STUB REAL NODE <names
 *
 * REAL is a fake (test_every_function.py), or "-": there is none.  NODE is the version node
 * that the names have for that major, or "-".  For each name a line: what it returned, the
 * number of the fake's function that was called or 0, and lazycuda's cause.  Each argument is
 * an address that may be written to.  With AT_EXIT in the environment it calls them from an exit
 * handler that was registered before the library was loaded.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../include/lazycuda.h"

typedef unsigned long function(void *, void *, void *, void *, void *, void *, void *, void *,
			       void *, void *, void *, void *, void *, void *, void *, void *,
			       void *, void *, void *, void *, void *, void *, void *, void *,
			       void *, void *, void *, void *, void *, void *, void *, void *);

static char room[1 << 20];

static void *need(void *found, const char *what)
{
	if (!found) {
		fprintf(stderr, "%s: %s\n", what, dlerror());
		exit(2);
	}
	return found;
}

static char **words;
static void *stub;
static int *called;

static void call_all(void)
{
	const struct lazycuda_error *(*error)(const char *) = (const struct lazycuda_error *(*)(const char *))
		need(dlsym(stub, "lazycuda_get_error"), "lazycuda_get_error");
	char name[512];

	while (scanf("%511s", name) == 1) {
		void *address = strcmp(words[4], "-") ? dlvsym(stub, name, words[4]) : dlsym(stub, name);
		function *call = (function *)need(address, name);
		void *p = room + sizeof(room) / 2;
		unsigned long result;

		if (called)
			*called = 0;
		result = call(p, p, p, p, p, p, p, p, p, p, p, p, p, p, p, p,
			      p, p, p, p, p, p, p, p, p, p, p, p, p, p, p, p);
		printf("%s %lu %d %d\n", name, result, called ? *called : 0,
		       (int)error(words[1])->cause);
	}
	fflush(stdout);
}

int main(int argc, char **argv)
{
	int (*load)(const char *);

	(void)argc;
	words = argv;
	stub = need(dlopen(argv[2], RTLD_NOW), argv[2]);
	load = (int (*)(const char *))need(dlsym(stub, "lazycuda_load"), "load");
	if (getenv("AT_EXIT"))
		atexit(call_all);
	load(NULL);
	if (strcmp(argv[3], "-"))
		called = need(dlsym(need(dlopen(argv[3], RTLD_NOW | RTLD_NOLOAD), argv[3]),
				    "fake_called"), "fake_called");
	if (!getenv("AT_EXIT"))
		call_all();
	return 0;
}
