/* SPDX-License-Identifier: MIT */
/* there.c - says why a library cannot be loaded; status 0 and nothing if it can */
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char **words)
{
	if (count == 2 && dlopen(words[1], RTLD_NOW))
		return 0;
	puts(count == 2 ? dlerror() : "usage: there LIBRARY");
	return 1;
}
