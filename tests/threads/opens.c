/* SPDX-License-Identifier: MIT */
/* opens.c - dlopen what the arguments name; `-` closes the last */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	void *handle = NULL;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "-")) {
			dlclose(handle);
			continue;
		}
		handle = dlopen(argv[i], RTLD_NOW);
		if (!handle) {
			printf("%s\n", dlerror());
			return 1;
		}
	}
	return 0;
}
