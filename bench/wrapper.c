/* SPDX-License-Identifier: MIT */
/*
 * wrapper.c - a hand-written wrapper that loads a library on the first call
 *
 * Compiled with NAME and PARAMETERS as calls.c is, but the parameters have names;
 * and with -DPASSED='(a, b)' and -DLIBRARY='"libnvrtc.so.12"'.
 */
#include <dlfcn.h>
#include <stdlib.h>

#define TEXT_(name) #name
#define TEXT(name) TEXT_(name)

static int (*function) PARAMETERS;

static void load(void)
{
	void *library = dlopen(LIBRARY, RTLD_NOW);

	*(void **)&function = library ? dlsym(library, TEXT(NAME)) : NULL;
	if (!function)
		abort();
}

extern int NAME PARAMETERS;
int NAME PARAMETERS
{
	if (!function)
		load();
	return function PASSED;
}
