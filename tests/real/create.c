/* SPDX-License-Identifier: MIT */
/* create.c - what nvJitLinkCreate of the library argv[1] says to -lto */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	const char *options[] = { "-arch=sm_75", "-lto" };
	void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL, *handle;

	if (!library) {
		printf("%s\n", dlerror());
		return 1;
	}
	int (*create)(void **, unsigned, const char **) =
		(int (*)(void **, unsigned, const char **))dlsym(library, "nvJitLinkCreate");
	printf("-lto: %d\n", create(&handle, 2, options));
	return 0;
}
