/* SPDX-License-Identifier: MIT */
/* archs.c - the architectures that the nvrtc argv[1] says it supports */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	int (*get_count)(int *), (*get)(int *), count = 0, archs[256];

	if (!library) {
		printf("%s\n", dlerror());
		return 1;
	}
	get_count = (int (*)(int *))dlsym(library, "nvrtcGetNumSupportedArchs");
	get = (int (*)(int *))dlsym(library, "nvrtcGetSupportedArchs");
	if (!get_count || !get || get_count(&count) || count > 256 || get(archs))
		return 1;
	for (int i = 0; i < count; i++)
		printf("%d\n", archs[i]);
	return 0;
}
