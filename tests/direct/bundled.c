/* SPDX-License-Identifier: MIT */
/* bundled LIBRARY EXTENSION: opens a library that some wheel bundles, and then another's extension. */
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char **arguments)
{
	void *library = count > 2 ? dlopen(arguments[1], RTLD_NOW) : NULL;
	void *extension = library ? dlopen(arguments[2], RTLD_NOW) : NULL;

	if (!extension) {
		puts(dlerror());
		return 1;
	}
	return ((int (*)(void))dlsym(extension, "begin"))();
}
