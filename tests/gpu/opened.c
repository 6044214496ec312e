/* SPDX-License-Identifier: MIT */
/* opened.c - a process that opens a runtime, argv[1], and makes one call; for first.c */
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

int main(int count, char **words)
{
	void *library = count == 2 ? dlopen(words[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	int (*call)(void *) = library ? (int (*)(void *))(uintptr_t)dlsym(library, "cudaFree") : NULL;

	return !call || call(NULL) != 0;
}
