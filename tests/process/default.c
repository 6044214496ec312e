/* SPDX-License-Identifier: MIT */
/* default.c - open libraries globally, then look a function up as cuda-python does */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (!dlopen(argv[i], RTLD_NOW | RTLD_GLOBAL)) {
			printf("%s\n", dlerror());
			return 1;
		}
	int (*reset)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "cudaDeviceReset");
	printf("%d\n", reset ? reset() : -1);
	return 0;
}
