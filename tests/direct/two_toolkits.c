/* SPDX-License-Identifier: MIT */
/* two_toolkits compiler|linker EXTENSION: the program calls nvJitLink, and the extension, which is
 * made of this source, too, nvrtc; the named one comes first. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int begin(void);

#ifdef EXTENSION
int nvrtcVersion(int *major, int *minor);

int begin(void)
{
	int major, minor;

	return nvrtcVersion(&major, &minor);
}
#else
int nvJitLinkVersion(unsigned *major, unsigned *minor);

static int linker(void)
{
	unsigned major, minor;

	return nvJitLinkVersion(&major, &minor);
}

int main(int count, char **arguments)
{
	void *extension = count > 2 ? dlopen(arguments[2], RTLD_NOW) : NULL;
	int (*compiler)(void);

	if (!extension) {
		puts(dlerror());
		return 1;
	}
	compiler = (int (*)(void))dlsym(extension, "begin");
	if (!strcmp(arguments[1], "compiler"))
		printf("compiler %d\n", compiler());
	printf("linker %d\n", linker());
	printf("compiler %d\n", compiler());
	return 0;
}
#endif
